//! The one animation: a spinner of fixed width, by tick.
//!
//! Invariant: a frame is always one cell wide, also the one that stands still.

/// Ticks are meant to come about every 100 ms.
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The frame for a tick; with `still` (reduced motion, `TERM=dumb`) always the same.
pub fn frame(tick: u64, still: bool) -> &'static str {
    if still { "•" } else { FRAMES[(tick % FRAMES.len() as u64) as usize] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::width::width;

    #[test]
    fn frames_are_one_cell_and_stand_still_if_asked() {
        assert!((0..20).all(|tick| width(frame(tick, false)) == 1 && width(frame(tick, true)) == 1));
        assert_ne!(frame(0, false), frame(1, false));
        assert_eq!(frame(0, true), frame(1, true));
    }
}
