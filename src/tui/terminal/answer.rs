//! What a terminal tells by itself or when asked, as against keys: its colours, and whether its window is looked at. Pure.

use crate::tui::outside::News;

/// A whole sequence that is no key.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    News(News),
    /// To the question what it is: every terminal answers that, in the order of the questions.
    Attributes,
    /// The screen's row and column in which the cursor is, from 0.
    Place(u16, u16),
    /// Rows and columns that the terminal has, in either order: tmux 3.3 and older tell the columns first.
    Size(u16, u16),
}

pub fn answer(sequence: &[u8]) -> Option<Answer> {
    match sequence {
        b"\x1b[I" => return Some(Answer::News(News::Focus(true))),
        b"\x1b[O" => return Some(Answer::News(News::Focus(false))),
        [0x1b, b'[', b'?', .., b'c'] => return Some(Answer::Attributes),
        [0x1b, b'[', b'8', b';', .., b't'] => return size(sequence),
        _ => {}
    }
    let body = sequence.strip_prefix(b"\x1b]11;")?;
    let body = body.strip_suffix(b"\x07").or_else(|| body.strip_suffix(b"\x1b\\"))?;
    let (r, g, b) = colour(std::str::from_utf8(body).ok()?)?;
    Some(Answer::News(News::Background(r, g, b)))
}

/// `CSI 8 ; rows ; columns t`
fn size(sequence: &[u8]) -> Option<Answer> {
    let body = std::str::from_utf8(sequence.strip_prefix(b"\x1b[8;")?.strip_suffix(b"t")?).ok()?;
    let (one, other) = body.split_once(';')?;
    Some(Answer::Size(one.parse().ok()?, other.parse().ok()?))
}

/// `CSI row ; column R`: both from 0.
pub fn place(sequence: &[u8]) -> Option<Answer> {
    let body = std::str::from_utf8(sequence.strip_prefix(b"\x1b[")?.strip_suffix(b"R")?).ok()?;
    let (row, column) = body.split_once(';')?;
    let number = |text: &str| text.parse::<u16>().ok()?.checked_sub(1);
    Some(Answer::Place(number(row)?, number(column)?))
}

/// `rgb:ff/80/00`, with one to four digits a channel, `rgba:` with one channel more, or `#ff8000`.
fn colour(text: &str) -> Option<(u8, u8, u8)> {
    if let Some(hex) = text.strip_prefix('#').filter(|hex| hex.is_ascii() && [6, 12].contains(&hex.len())) {
        let digits = hex.len() / 3;
        return Some((channel(&hex[..digits])?, channel(&hex[digits..2 * digits])?, channel(&hex[2 * digits..])?));
    }
    let channels = text.strip_prefix("rgb:").or_else(|| text.strip_prefix("rgba:"))?;
    let mut channels = channels.split('/').map(channel);
    Some((channels.next()??, channels.next()??, channels.next()??))
}

fn channel(hex: &str) -> Option<u8> {
    if hex.is_empty() || hex.len() > 4 {
        return None;
    }
    let value = u32::from_str_radix(hex, 16).ok()?;
    let most = (1u32 << (4 * hex.len())) - 1;
    u8::try_from((value * 255 + most / 2) / most).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_background_in_all_its_spellings() {
        let told = |text: &str| match answer(text.as_bytes()) {
            Some(Answer::News(News::Background(r, g, b))) => Some((r, g, b)),
            _ => None,
        };
        for (text, colour) in [
            ("\x1b]11;rgb:ffff/8080/0000\x1b\\", Some((255, 128, 0))),
            ("\x1b]11;rgb:ff/80/00\x07", Some((255, 128, 0))),
            ("\x1b]11;rgb:f/0/8\x07", Some((255, 0, 136))),
            ("\x1b]11;rgba:0000/0000/0000/ffff\x07", Some((0, 0, 0))),
            ("\x1b]11;#1e1e2e\x07", Some((0x1e, 0x1e, 0x2e))),
            ("\x1b]11;rgb:ff/80\x07", None),
            ("\x1b]11;rgb:ff/80/zz\x07", None),
            ("\x1b]11;?\x07", None),
            ("\x1b]10;rgb:ff/80/00\x07", None),
            ("\x1b]11;#é23\x07", None),
        ] {
            assert_eq!(told(text), colour, "{text:?}");
        }
    }

    #[test]
    fn focus_attributes_and_size() {
        assert_eq!(answer(b"\x1b[8;24;80t"), Some(Answer::Size(24, 80)));
        assert_eq!(answer(b"\x1b[8;24t"), None);
        assert_eq!(answer(b"\x1b[8;24;80;1t"), None);
        assert_eq!(answer(b"\x1b[I"), Some(Answer::News(News::Focus(true))));
        assert_eq!(answer(b"\x1b[O"), Some(Answer::News(News::Focus(false))));
        assert_eq!(answer(b"\x1b[?62;22c"), Some(Answer::Attributes));
        assert_eq!(answer(b"\x1b[A"), None);
    }
}
