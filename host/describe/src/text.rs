//! Plain text for a terminal: headings, pairs and tables in columns. No colour, so that it reads the same in a file.

use std::fmt::Write as _;

/// Blanks between two columns.
const GAP: usize = 2;

/// A text that grows line by line.
#[derive(Debug, Default)]
pub struct Page {
    text: String,
}

impl Page {
    /// Starts a section.
    pub fn heading(&mut self, heading: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.line(heading);
    }

    /// One line.
    pub fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// Rows in aligned columns, indented. A column of numbers reads better on the right: `right` says which are.
    pub fn rows<const N: usize>(&mut self, right: [bool; N], rows: &[[String; N]]) {
        let mut widths = [0; N];
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for row in rows {
            let mut line = " ".repeat(GAP);
            for ((cell, width), right) in row.iter().zip(widths).zip(right) {
                // Writing to a string does not fail.
                let _ = if right { write!(line, "{cell:>width$}") } else { write!(line, "{cell:<width$}") };
                line.push_str(&" ".repeat(GAP));
            }
            self.line(&line);
        }
    }

    /// Names and values.
    pub fn pairs(&mut self, pairs: &[(&str, String)]) {
        let rows: Vec<[String; 2]> = pairs.iter().map(|(name, value)| [(*name).to_owned(), value.clone()]).collect();
        self.rows([false, false], &rows);
    }

    /// The whole text, without the last line break.
    #[must_use]
    pub fn finish(self) -> String {
        self.text.trim_end().to_owned()
    }
}

/// A size for people.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    const KIB: u64 = 1024;
    const MIB: u64 = 1024 * KIB;
    match bytes {
        0..KIB => format!("{bytes} bytes"),
        KIB..MIB => format!("{} KiB", bytes / KIB),
        _ => format!("{:.1} MiB", bytes as f64 / MIB as f64),
    }
}

/// A share as a percentage.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut page = Page::default();
        page.heading("Things");
        page.rows([false, true], &[["äpfel".to_owned(), "1".to_owned()], ["a".to_owned(), "20".to_owned()]]);
        page.heading("More");
        page.pairs(&[("name", "value".to_owned())]);
        assert_eq!(page.finish(), "Things\n  äpfel   1\n  a      20\n\nMore\n  name  value");
    }

    #[test]
    fn sizes() {
        assert_eq!([bytes(12), bytes(2048), bytes(3 * 1024 * 1024 / 2)], ["12 bytes", "2 KiB", "1.5 MiB"]);
        assert_eq!(percent(0.25), "25 %");
    }
}
