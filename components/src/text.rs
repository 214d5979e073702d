//! Styled text: spans and lines, display width, wrapping and making foreign text safe.
//!
//! Invariant: one width rule for everything (`width.rs`), the one by which iocraft's canvas places cells.

pub mod highlight;
pub mod row;
pub mod sanitize;
pub mod span;
pub mod width;
pub mod wrap;
