//! Which tables of a page are data: many are only there to put things side by side.

use html5gum::Token;

#[derive(Default)]
pub struct Finder {
    tables: Vec<Table>,
    /// The open ones, by their place in the order in which they begin.
    open: Vec<usize>,
}

#[derive(Default)]
struct Table {
    heads: bool,
    rows: usize,
    cells: usize,
    /// There is something in it that a row can't hold.
    holds: bool,
}

impl Finder {
    pub fn see(&mut self, token: &Token) {
        match token {
            Token::StartTag(tag) => {
                let top = self.open.last().and_then(|at| self.tables.get_mut(*at));
                match (&**tag.name, top) {
                    (b"table", top) => {
                        if let Some(around) = top {
                            around.holds = true;
                        }
                        self.open.push(self.tables.len());
                        self.tables.push(Table::default());
                    }
                    (b"th", Some(table)) => table.heads = true,
                    (b"td", Some(table)) => table.cells += 1,
                    (b"tr", Some(table)) => table.rows += 1,
                    (b"pre" | b"h1" | b"h2" | b"h3" | b"h4", Some(table)) => table.holds = true,
                    _ => {}
                }
            }
            Token::EndTag(tag) if &**tag.name == b"table" => drop(self.open.pop()),
            _ => {}
        }
    }

    pub fn found(self) -> Vec<bool> {
        let data = |table: Table| !table.holds && (table.heads || table.rows > 1 && table.cells >= 2 * table.rows);
        self.tables.into_iter().map(data).collect()
    }
}
