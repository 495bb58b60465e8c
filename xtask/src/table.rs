//! Tables on a terminal: each column as wide as its widest cell, nothing cut.

/// How a column's cells stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// A table that is filled row by row.
pub(crate) struct Table<const N: usize> {
    sides: [Side; N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    /// A table with these heads.
    pub(crate) fn new(columns: [(&str, Side); N]) -> Self {
        Self { sides: columns.map(|(_, side)| side), rows: vec![columns.map(|(head, _)| head.to_owned())] }
    }

    pub(crate) fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells);
    }

    /// Whether there is nothing but the heads.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.len() == 1
    }

    /// Prints it, three blanks in.
    pub(crate) fn print(&self) {
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; N] = std::array::from_fn(width);
        for row in &self.rows {
            let cells = row.iter().zip(self.sides).zip(widths).map(|((cell, side), width)| match side {
                Side::Left => format!("{cell:<width$}"),
                Side::Right => format!("{cell:>width$}"),
            });
            println!("   {}", cells.collect::<Vec<_>>().join("  ").trim_end());
        }
    }
}
