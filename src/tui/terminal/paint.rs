//! Canvas cells as bytes for the terminal.
//!
//! The last filter: whatever a cell holds, no control character leaves here.

use iocraft::{Canvas, CanvasCell, CanvasTextStyle, Color, Weight};
use std::io::Write;
use unicode_width::UnicodeWidthStr;

/// Shorter runs of unchanged cells are cheaper to write again than to jump over.
const JUMP: usize = 6;

/// Columns that a cell takes.
fn cell_width(cell: &CanvasCell) -> usize {
    cell.text().map_or(1, |t| t.width().max(1))
}

/// Columns of a row up to its last visible cell, at the most `columns`.
pub fn used(canvas: &Canvas, y: usize, columns: usize) -> usize {
    let width = canvas.width().min(columns);
    let last = (0..width).rev().find_map(|x| canvas.cell(x, y).filter(|c| !c.is_empty()).map(|c| x + cell_width(c)));
    last.unwrap_or(0).min(width)
}

/// Columns below `width` where characters of two columns begin.
pub fn wide(canvas: &Canvas, y: usize, width: usize) -> Vec<usize> {
    (0..width).filter(|x| canvas.cell(*x, y).is_some_and(|c| cell_width(c) > 1)).collect()
}

/// Writes the part of a row that differs from what is on the screen; nothing if nothing does.
pub fn update_row(buf: &mut Vec<u8>, (old, old_y): (&Canvas, usize), (new, y): (&Canvas, usize), columns: usize) {
    let blank = |c: Option<&CanvasCell>| c.is_none_or(CanvasCell::is_empty);
    let same = |x: usize| {
        let (a, b) = (new.cell(x, y), old.cell(x, old_y));
        a == b || (blank(a) && blank(b))
    };
    let width = new.width().max(old.width()).min(columns);
    if (0..width).all(same) {
        return;
    }
    let (end, old_end) = (used(new, y, columns), used(old, old_y, columns));
    if end < old_end {
        // Erased only from its new end, it would still be as long as before for a terminal that breaks it.
        buf.extend_from_slice(b"\x1b[2K");
        put_cells(buf, new, y, 0, end);
        return;
    }
    // Where a cell holds more than one character, terminals disagree about columns: such rows are written whole.
    let jump = plain(new, y) && plain(old, old_y);
    let mut x = 0;
    while x < end {
        let Some(from) = (x..end).find(|x| !same(*x)) else { break };
        let from = if jump { start_of_cell(new, y, start_of_cell(old, old_y, from)) } else { 0 };
        let mut to = from + 1;
        let mut unchanged = 0;
        for i in from + 1..end {
            if same(i) {
                unchanged += 1;
                if jump && unchanged > JUMP {
                    break;
                }
            } else {
                unchanged = 0;
                to = i + 1;
            }
        }
        let mut to = if jump { to } else { end };
        // A wide character is written whole or not at all.
        while to < end && start_of_cell(new, y, to) != to {
            to += 1;
        }
        if from > 0 {
            let _ = write!(buf, "\x1b[{}G", from + 1);
        }
        put_cells(buf, new, y, from, to);
        x = to;
    }
}

/// Writes a whole row from the first column on, and says how many columns it took.
pub fn write_cells(buf: &mut Vec<u8>, canvas: &Canvas, y: usize, columns: usize) -> usize {
    let end = used(canvas, y, columns);
    put_cells(buf, canvas, y, 0, end);
    end
}

/// The same, and erases what was to the right of it.
pub fn write_row(buf: &mut Vec<u8>, canvas: &Canvas, y: usize, columns: usize) {
    if write_cells(buf, canvas, y, columns) < columns {
        buf.extend_from_slice(b"\x1b[K");
    }
}

fn plain(canvas: &Canvas, y: usize) -> bool {
    (0..canvas.width()).all(|x| canvas.cell(x, y).and_then(CanvasCell::text).is_none_or(|t| t.chars().nth(1).is_none()))
}

/// The column where the character that covers `x` begins.
fn start_of_cell(canvas: &Canvas, y: usize, x: usize) -> usize {
    let covered = x > 0 && canvas.cell(x - 1, y).is_some_and(|c| cell_width(c) > 1);
    if covered { x - 1 } else { x }
}

#[derive(Default, Clone, Copy, PartialEq)]
struct Pen {
    background: Option<Color>,
    style: CanvasTextStyle,
}

fn put_cells(buf: &mut Vec<u8>, canvas: &Canvas, y: usize, from: usize, to: usize) {
    let mut pen = Pen::default();
    let mut link: Option<&str> = None;
    let mut x = from;
    while x < to {
        let Some(cell) = canvas.cell(x, y) else { break };
        let style = cell.text_style().copied().unwrap_or_default();
        let want = Pen { background: cell.background_color, style };
        if want != pen {
            set_pen(buf, pen, want);
            pen = want;
        }
        let target = cell.hyperlink.as_deref();
        if target != link {
            set_link(buf, target);
            link = target;
        }
        match cell.text() {
            None => buf.push(b' '),
            Some(text) => put_text(buf, text),
        }
        x += cell_width(cell);
    }
    if link.is_some() {
        set_link(buf, None);
    }
    if pen != Pen::default() {
        buf.extend_from_slice(b"\x1b[0m");
    }
}

fn put_text(buf: &mut Vec<u8>, text: &str) {
    for c in text.chars() {
        let c = if c.is_control() { '\u{fffd}' } else { c };
        buf.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

fn set_pen(buf: &mut Vec<u8>, now: Pen, want: Pen) {
    let (old, new) = (now.style, want.style);
    let off = |was: bool, is: bool| was && !is;
    let lose = old.weight != new.weight && old.weight != Weight::Normal
        || off(old.underline, new.underline)
        || off(old.italic, new.italic)
        || off(old.invert, new.invert);
    let now = if lose {
        buf.extend_from_slice(b"\x1b[0m");
        Pen::default()
    } else {
        now
    };
    let mut codes: Vec<String> = vec![];
    if now.style.weight != new.weight {
        codes.extend(match new.weight {
            Weight::Bold => Some("1".into()),
            Weight::Light => Some("2".into()),
            Weight::Normal => None,
        });
    }
    for (has, wants, code) in
        [(now.style.italic, new.italic, "3"), (now.style.underline, new.underline, "4"), (now.style.invert, new.invert, "7")]
    {
        if wants && !has {
            codes.push(code.into());
        }
    }
    if now.style.color != new.color {
        codes.push(color_code(new.color, 30));
    }
    if now.background != want.background {
        codes.push(color_code(want.background, 40));
    }
    if !codes.is_empty() {
        let _ = write!(buf, "\x1b[{}m", codes.join(";"));
    }
}

fn color_code(color: Option<Color>, base: u8) -> String {
    let named = match color {
        None | Some(Color::Reset) => return (base + 9).to_string(),
        Some(Color::Rgb { r, g, b }) => return format!("{};2;{r};{g};{b}", base + 8),
        Some(Color::AnsiValue(n)) => return format!("{};5;{n}", base + 8),
        Some(Color::Black) => 0,
        Some(Color::DarkRed) => 1,
        Some(Color::DarkGreen) => 2,
        Some(Color::DarkYellow) => 3,
        Some(Color::DarkBlue) => 4,
        Some(Color::DarkMagenta) => 5,
        Some(Color::DarkCyan) => 6,
        Some(Color::Grey) => 7,
        Some(Color::DarkGrey) => 60,
        Some(Color::Red) => 61,
        Some(Color::Green) => 62,
        Some(Color::Yellow) => 63,
        Some(Color::Blue) => 64,
        Some(Color::Magenta) => 65,
        Some(Color::Cyan) => 66,
        Some(Color::White) => 67,
    };
    (base + named).to_string()
}

/// Only targets that a terminal opens as documents; anything else is text without a link.
fn set_link(buf: &mut Vec<u8>, target: Option<&str>) {
    let safe = |t: &&str| ["http://", "https://", "file://"].iter().any(|s| t.starts_with(s)) && !t.chars().any(char::is_control);
    let _ = write!(buf, "\x1b]8;;{}\x1b\\", target.filter(safe).unwrap_or_default());
}
