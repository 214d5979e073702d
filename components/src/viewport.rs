//! Scroll arithmetic: which rows of a long list are on the screen.
//!
//! Invariants:
//! - the window never reaches beyond the last row unless there are fewer rows than it is high;
//! - at the bottom it follows what is appended; scrolled up it stays on the rows it shows.

use std::ops::Range;

/// A window of `height` rows over `total` rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewport {
    top: usize,
    height: usize,
    total: usize,
    follow: bool,
}

impl Default for Viewport {
    /// Empty and following the bottom.
    fn default() -> Self {
        Self { top: 0, height: 0, total: 0, follow: true }
    }
}

impl Viewport {
    /// A window that starts at the top and stays there.
    pub fn at_top() -> Self {
        Self { follow: false, ..Self::default() }
    }

    /// Takes a new window height and number of rows.
    pub fn resize(&mut self, height: usize, total: usize) {
        (self.height, self.total) = (height, total);
        self.top = if self.follow { self.last_top() } else { self.top.min(self.last_top()) };
    }

    /// Moves by rows, down if positive.
    pub fn scroll(&mut self, rows: isize) {
        self.go_to(self.top.saturating_add_signed(rows));
        // Scrolling up by nothing (a list shorter than the window) still ends following only if asked for.
        self.follow = self.at_bottom() && (rows > 0 || self.follow);
    }

    /// Moves by pages, one row short of the height so that the eye finds its place.
    pub fn page(&mut self, pages: isize) {
        let rows = self.height.saturating_sub(1).max(1);
        self.scroll(pages.saturating_mul(rows as isize));
    }

    pub fn to_top(&mut self) {
        self.go_to(0);
        self.follow = false;
    }

    /// Goes to the end and follows it.
    pub fn to_bottom(&mut self) {
        self.go_to(usize::MAX);
        self.follow = true;
    }

    /// Moves as little as needed to show the rows of `range`, their first one if not all fit.
    pub fn reveal(&mut self, range: Range<usize>) {
        let end = range.end.max(range.start + 1);
        if end > self.top + self.height {
            self.go_to(end.saturating_sub(self.height));
        }
        if range.start < self.top {
            self.go_to(range.start);
        }
        self.follow &= self.at_bottom();
    }

    /// The visible rows.
    pub fn visible(&self) -> Range<usize> {
        self.top..(self.top + self.height).min(self.total)
    }

    pub fn at_bottom(&self) -> bool {
        self.top >= self.last_top()
    }

    pub fn follows(&self) -> bool {
        self.follow
    }

    /// Rows below the window: the number for "↓ 12 new".
    pub fn below(&self) -> usize {
        self.total - self.visible().end
    }

    /// Rows above the window.
    pub fn above(&self) -> usize {
        self.visible().start
    }

    /// How far down the window is, 0 to 100.
    pub fn percent(&self) -> usize {
        (self.visible().end * 100).checked_div(self.total).unwrap_or(100)
    }

    fn last_top(&self) -> usize {
        self.total.saturating_sub(self.height)
    }

    fn go_to(&mut self, top: usize) {
        self.top = top.min(self.last_top());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn follows_at_the_bottom_and_stays_when_scrolled_up() {
        let mut v = Viewport::default();
        v.resize(10, 30);
        assert_eq!(v.visible(), 20..30);
        v.resize(10, 35);
        assert_eq!(v.visible(), 25..35);
        v.scroll(-5);
        v.resize(10, 50);
        assert_eq!((v.visible(), v.below()), (20..30, 20));
        v.page(1);
        assert_eq!(v.visible(), 29..39);
        v.page(9);
        assert!(v.follows());
        v.to_top();
        assert_eq!(v.visible(), 0..10);
    }

    #[test]
    fn reveals_with_the_least_move() {
        let mut v = Viewport::at_top();
        v.resize(5, 20);
        v.reveal(7..8);
        assert_eq!(v.visible(), 3..8);
        v.reveal(1..2);
        assert_eq!(v.visible(), 1..6);
        v.reveal(3..4);
        assert_eq!(v.visible(), 1..6);
    }

    proptest! {
        #[test]
        fn stays_within_the_rows(moves in proptest::collection::vec((0u8..6, -40isize..40, 0usize..60), 0..40)) {
            let mut v = Viewport::default();
            for (kind, by, n) in moves {
                match kind {
                    0 => v.resize(n / 3, n),
                    1 => v.scroll(by),
                    2 => v.page(by % 3),
                    3 => v.reveal(n..n + 2),
                    4 => v.to_top(),
                    _ => v.to_bottom(),
                }
                let seen = v.visible();
                prop_assert!(seen.start <= seen.end && seen.end <= v.total);
                prop_assert_eq!(seen.len(), v.height.min(v.total));
                prop_assert_eq!(v.above() + seen.len() + v.below(), v.total);
            }
        }
    }
}
