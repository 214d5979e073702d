//! Pure terminal widgets: text, chat log, diff viewer, editor, lists.
//!
//! Invariants of every part:
//! - it knows iocraft and text, never agents, async runtimes, files or clocks;
//! - state structs are plain data and their methods are pure: same state and arguments, same result;
//! - what is drawn is prepared as [`Line`]s first; the leaf [`lines::Rows`] only puts them on the canvas;
//! - text from outside goes through [`text::sanitize`] before it becomes a [`Span`];
//! - colours are named by [`Role`] and only `theme.rs` knows what they look like.

pub mod ansi;
pub mod chat_log;
pub mod checkpoint_browser;
pub mod code;
pub mod completer;
pub mod dialog;
pub mod diff_view;
pub mod diff_viewer;
pub mod editor;
pub mod key;
pub mod key_hints;
pub mod lines;
pub mod list;
pub mod markdown;
pub mod picker;
pub mod spinner;
pub mod status_line;
pub mod text;
pub mod theme;
pub mod viewport;

pub use ansi::to_ansi;
pub use diff_view::DiffModel;
pub use editor::{Edit, Editor};
pub use key::{Chord, Key};
pub use lines::{Rows, RowsProps};
pub use markdown::MarkdownStream;
pub use text::span::{Ink, Line, Span, Style};
pub use theme::{ColorDepth, Role, Theme};
pub use viewport::Viewport;
