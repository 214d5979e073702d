//! Tables sized to their content: a heavy rule under the header, no side borders.
//!
//! Invariants: no row is wider than asked; every cell's text is shown, wrapped where it must be; where
//! columns cannot fit at all, the rows are shown as lists of `header: value`.

use super::blocks::Align;
use super::inline::inline;
use crate::text::span::{Line, Style, spaces};
use crate::text::wrap::{wrap, wrap_hanging};
use crate::theme::Role;

/// Cells between columns.
const GAP: usize = 2;
/// Narrowest column worth wrapping text into.
const MIN_COLUMN: usize = 4;

#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub header: Vec<String>,
    pub align: Vec<Align>,
    pub body: Vec<Vec<String>>,
}

impl Table {
    pub fn rows(&self, width: usize) -> Vec<Line> {
        let columns = self.header.len();
        let bold = Style::from(Role::Heading).bold();
        let header: Vec<Line> = self.header.iter().map(|text| cell(text, bold)).collect();
        let body: Vec<Vec<Line>> = self
            .body
            .iter()
            .map(|row| (0..columns).map(|at| cell(row.get(at).map_or("", String::as_str), Style::new())).collect())
            .collect();
        let natural: Vec<usize> =
            (0..columns).map(|at| body.iter().map(|row| row[at].width()).chain([header[at].width(), 1]).max().unwrap_or(1)).collect();
        let Some(widths) = fit(&natural, width.saturating_sub(GAP * columns.saturating_sub(1))) else {
            return records(&header, &body, width);
        };
        let mut out = self.row(&header, &widths);
        let mut rule = Line::new();
        for (at, column) in widths.iter().enumerate() {
            if at > 0 {
                rule.push(spaces(GAP));
            }
            rule.push(crate::text::span::Span::new("━".repeat(*column), Role::Border));
        }
        out.push(rule);
        let tall = body.iter().any(|row| row.iter().zip(&widths).any(|(cell, room)| cell.width() > *room));
        for (at, row) in body.iter().enumerate() {
            if tall && at > 0 {
                out.push(Line::new());
            }
            out.extend(self.row(row, &widths));
        }
        out
    }

    /// One row of the table, as high as its highest cell.
    fn row(&self, cells: &[Line], widths: &[usize]) -> Vec<Line> {
        let wrapped: Vec<Vec<Line>> = cells.iter().zip(widths).map(|(cell, room)| wrap(cell, *room)).collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(1);
        let mut rows = Vec::with_capacity(height);
        for y in 0..height {
            let mut row = Line::new();
            let mut column = 0;
            for (at, room) in widths.iter().enumerate() {
                if let Some(part) = wrapped[at].get(y).filter(|part| !part.is_empty()) {
                    let spare = room.saturating_sub(part.width());
                    let shift = match self.align.get(at).copied().unwrap_or_default() {
                        Align::Left => 0,
                        Align::Centre => spare / 2,
                        Align::Right => spare,
                    };
                    row = row.pad_to(column + shift);
                    row.extend(part.spans.iter().cloned());
                }
                column += room + GAP;
            }
            rows.push(row);
        }
        rows
    }
}

fn cell(text: &str, base: Style) -> Line {
    let text = text.replace("<br>", " ").replace("<br/>", " ").replace("<br />", " ");
    let mut out = Line::new();
    for (at, line) in inline(&text, base).into_iter().enumerate() {
        if at > 0 {
            out.push(" ");
        }
        out.extend(line.spans);
    }
    out
}

/// Column widths that sum to at most `room`: the widest give first. `None` if it is too narrow for a table.
fn fit(natural: &[usize], room: usize) -> Option<Vec<usize>> {
    let total: usize = natural.iter().sum();
    if total <= room {
        return Some(natural.to_vec());
    }
    let floor: usize = natural.iter().map(|w| (*w).min(MIN_COLUMN)).sum();
    if floor > room {
        return None;
    }
    // The largest cap such that all columns cut to it fit; what is left over goes to the cut ones.
    let capped = |cap: usize| natural.iter().map(|w| (*w).min(cap)).sum::<usize>();
    let (mut low, mut high) = (MIN_COLUMN, room);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if capped(middle) <= room { low = middle } else { high = middle - 1 }
    }
    let mut spare = room.saturating_sub(capped(low));
    Some(
        natural
            .iter()
            .map(|w| {
                let width = (*w).min(low);
                let more = usize::from(*w > low && spare > 0);
                spare -= more;
                width + more
            })
            .collect(),
    )
}

fn records(header: &[Line], body: &[Vec<Line>], width: usize) -> Vec<Line> {
    let mut out = Vec::new();
    for (at, row) in body.iter().enumerate() {
        if at > 0 {
            out.push(Line::new());
        }
        for (name, value) in header.iter().zip(row) {
            let mut line = name.clone().with(": ");
            line.extend(value.spans.iter().cloned());
            out.extend(wrap_hanging(&line, width, &Line::new(), &Line::from(spaces(2))));
        }
    }
    if body.is_empty() {
        out.extend(header.iter().flat_map(|name| wrap(name, width)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_columns() {
        assert_eq!(fit(&[3, 4], 20), Some(vec![3, 4]));
        assert_eq!(fit(&[3, 40, 40], 23), Some(vec![3, 10, 10]));
        assert_eq!(fit(&[3, 40, 40], 24), Some(vec![3, 11, 10]));
        assert_eq!(fit(&[9, 9, 9], 10), None);
    }
}
