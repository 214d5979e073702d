//! The leaf that puts prepared rows on iocraft's canvas: the only thing drawn on the hot path.
//!
//! Invariants:
//! - a fixed size, told by the rows given: nothing is measured or wrapped here;
//! - text beyond the right edge is cut, never wrapped;
//! - each frame costs what is shown, not what exists: give it the visible window only.

use crate::ansi::safe_link;
use crate::text::span::{Line, Style};
use crate::text::width::width;
use crate::theme::{ColorDepth, Theme};
use iocraft::prelude::*;
use iocraft::taffy;
use std::sync::Arc;

/// What [`Rows`] draws.
#[derive(Default, Props)]
pub struct RowsProps {
    /// The visible rows, already wrapped.
    pub rows: Vec<Line>,
    pub theme: Arc<Theme>,
    pub depth: ColorDepth,
    /// Height in rows; the number of rows given if `None`.
    pub height: Option<u16>,
}

/// Draws prepared rows over the full width of its parent.
#[derive(Default)]
pub struct Rows {
    rows: Vec<Line>,
    theme: Arc<Theme>,
    depth: ColorDepth,
    height: Option<u16>,
}

impl Component for Rows {
    type Props<'a> = RowsProps;

    fn new(_: &Self::Props<'_>) -> Self {
        Self::default()
    }

    fn update(&mut self, props: &mut Self::Props<'_>, _: Hooks, updater: &mut ComponentUpdater) {
        self.rows = std::mem::take(&mut props.rows);
        self.theme = props.theme.clone();
        self.depth = props.depth;
        let height = props.height.unwrap_or(u16::try_from(self.rows.len()).unwrap_or(u16::MAX));
        if self.height != Some(height) {
            self.height = Some(height);
            updater.set_layout_style(taffy::Style {
                size: taffy::Size { width: taffy::Dimension::Percent(1.0), height: taffy::Dimension::Length(f32::from(height)) },
                flex_shrink: 0.0,
                ..Default::default()
            });
        }
    }

    fn draw(&mut self, drawer: &mut ComponentDrawer<'_>) {
        let size = drawer.size();
        let mut canvas = drawer.canvas();
        for (y, line) in self.rows.iter().take(usize::from(size.height)).enumerate() {
            draw_line(&mut canvas, y as isize, usize::from(size.width), line, &self.theme, self.depth);
        }
    }
}

fn draw_line(canvas: &mut CanvasSubviewMut<'_>, y: isize, columns: usize, line: &Line, theme: &Theme, depth: ColorDepth) {
    if let Some(fill) = line.fill.and_then(|role| theme.resolve(role, depth)) {
        canvas.set_background_color(0, y, columns, 1, fill);
    }
    let mut x = 0;
    for span in &line.spans {
        if x >= columns {
            return;
        }
        let cells = width(&span.text);
        let style = theme.visible(span.style, depth);
        canvas.set_text(x as isize, y, &span.text, canvas_style(style, theme, depth));
        if let Some(colour) = style.bg.and_then(|role| theme.resolve(role, depth)) {
            canvas.set_background_color(x as isize, y, cells, 1, colour);
        }
        if let Some(link) = span.link.as_deref().and_then(safe_link) {
            canvas.set_hyperlink(x as isize, y, cells, 1, Some(Arc::from(link.as_ref())));
        }
        x += cells;
    }
}

/// The canvas knows no strike-through; such text is drawn faint there.
fn canvas_style(style: Style, theme: &Theme, depth: ColorDepth) -> CanvasTextStyle {
    let mut out = CanvasTextStyle::default();
    out.color = style.fg.and_then(|role| theme.resolve(role, depth));
    out.weight = match (style.bold, style.dim || style.strike) {
        (true, _) => Weight::Bold,
        (false, true) => Weight::Light,
        (false, false) => Weight::Normal,
    };
    out.italic = style.italic;
    out.underline = style.underline;
    out.invert = style.invert;
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Role;

    fn canvas(rows: Vec<Line>, columns: usize) -> Canvas {
        let mut root = element! {
            View(flex_direction: FlexDirection::Column, width: columns as u32) {
                Rows(rows: rows, theme: Theme::for_background(true), depth: ColorDepth::TrueColor)
                Text(content: "below")
            }
        };
        root.render(Some(columns))
    }

    #[test]
    fn draws_text_styles_and_fills() {
        let rows = vec![
            Line::plain("日本").and("x", Style::from(Role::Error).bold().bg(Role::Selection)),
            Line::plain("y").filled(Role::DiffAddedBand),
        ];
        let canvas = canvas(rows, 10);
        assert_eq!(canvas.get_text(0, 0, 10, 3), "日本x\ny\nbelow".replace("日本", "日 本 "));
        let cell = canvas.cell(4, 0).unwrap();
        let theme = Theme::for_background(true);
        assert_eq!(cell.text_style().unwrap().color, theme.resolve(Role::Error, ColorDepth::TrueColor));
        assert_eq!(cell.text_style().unwrap().weight, Weight::Bold);
        assert_eq!(cell.background_color, theme.resolve(Role::Selection, ColorDepth::TrueColor));
        assert_eq!(canvas.cell(9, 1).unwrap().background_color, theme.resolve(Role::DiffAddedBand, ColorDepth::TrueColor));
    }

    #[test]
    fn cuts_at_the_right_edge() {
        let canvas = canvas(vec![Line::plain("abcdefgh").and("日", Role::Error)], 5);
        assert_eq!(canvas.get_text(0, 0, 9, 3), "abcde\nbelow\n");
    }
}
