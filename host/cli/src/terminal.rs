//! How results look to a person: aligned columns, and colour on a terminal only.

use std::io::IsTerminal as _;

use intent_gateway_domain::plain_text;
use unicode_width::UnicodeWidthStr as _;

/// Blanks between two columns.
const GAP: usize = 2;

/// What a word is to tell by its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Doubtful,
    Bad,
}

impl Tone {
    /// The number of the colour in the escape sequence (ECMA-48, SGR).
    fn code(self) -> u8 {
        match self {
            Self::Good => 32,
            Self::Doubtful => 33,
            Self::Bad => 31,
        }
    }
}

/// Whether standard output is in colour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Palette {
    coloured: bool,
}

impl Palette {
    /// Without colour.
    #[cfg(test)]
    pub(crate) const PLAIN: Self = Self { coloured: false };

    /// In colour on a terminal, unless the user wants none (<https://no-color.org>).
    pub(crate) fn of_stdout() -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { coloured: std::io::stdout().is_terminal() && !unwanted }
    }

    /// A text that the eye is to find first.
    pub(crate) fn strong(self, text: &str) -> String {
        if self.coloured { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// A text that is there to be copied, and not to be read.
    pub(crate) fn faint(self, text: &str) -> String {
        if self.coloured { format!("\u{1b}[2m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// A text in its tone.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        if self.coloured { format!("\u{1b}[{}m{text}\u{1b}[0m", tone.code()) } else { text.to_owned() }
    }
}

/// A text that others wrote, fit for a line of a terminal: what would move the cursor, or turn the direction of what is
/// read, is spelt out.
pub(crate) fn harmless(text: &str) -> String {
    plain_text::escape(text).into_owned()
}

/// Columns of the terminal that a text takes: a letter of Devanagari may join the one before it, and one of Chinese takes two.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// A text with blanks after it, as wide as asked.
pub(crate) fn fill(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(width(text))))
}

/// Rows in aligned columns, the first of which is the head. Each cell is made harmless.
pub(crate) fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    let head = head.map(str::to_owned);
    let rows: Vec<[String; N]> =
        std::iter::once(&head).chain(rows).map(|row| row.each_ref().map(|cell| harmless(cell))).collect();
    let mut widths = [0; N];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(self::width(cell));
        }
    }
    let lines = rows.iter().map(|row| {
        let cells = row.iter().zip(widths).map(|(cell, width)| fill(cell, width + GAP));
        cells.collect::<String>().trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Names and values, one pair a line.
pub(crate) fn pairs(pairs: &[(&str, String)]) -> String {
    let to = pairs.iter().map(|(name, _)| width(name)).max().unwrap_or(0) + GAP;
    let lines =
        pairs.iter().map(|(name, value)| format!("{}{}", fill(name, to), harmless(value)).trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

/// A count with its noun, which takes an `s` for all but one.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A number with commas, the Indian way: 12,34,567.
pub(crate) fn group(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let (head, tail) = digits.split_at(digits.len().saturating_sub(3));
    let mut groups: Vec<&str> = head.as_bytes().rchunks(2).rev().filter_map(|pair| str::from_utf8(pair).ok()).collect();
    groups.push(tail);
    format!("{}{}", if number < 0 { "-" } else { "" }, groups.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_grouped_the_indian_way() {
        let shown = [0, 7, 999, 1_000, 99_999, 100_000, 12_345_678, -4_500].map(group);
        assert_eq!(shown, ["0", "7", "999", "1,000", "99,999", "1,00,000", "1,23,45,678", "-4,500"]);
    }

    #[test]
    fn columns_line_up_and_hold_nothing_but_text() {
        let rows = [["ptr_1".to_owned(), "Café\u{1b}[2J".to_owned()], ["ptr_22".to_owned(), String::new()]];
        assert_eq!(table(["account", "name"], &rows), "account  name\nptr_1    Café\\u{1b}[2J\nptr_22");
        assert_eq!(pairs(&[("state", "live".to_owned()), ("since", "a\nb".to_owned())]), "state  live\nsince  a\\nb");
        assert_eq!(harmless("निमा\u{202e}evil"), "निमा\\u{202e}evil");
    }

    #[test]
    fn columns_are_as_wide_as_they_are_shown() {
        let row = |name: &str| [name.to_owned(), "x".to_owned()];
        // Four letters in two columns, two letters in four, and five in five.
        let text = table(["a", "b"], &[row("कि"), row("空調"), row("Honda")]);
        let columns: Vec<usize> = text.lines().map(|line| width(&line[..line.len() - 1])).collect();
        assert_eq!(columns, [7, 7, 7, 7], "{text}");
    }

    #[test]
    fn colour_is_put_around_the_word_and_nowhere_else() {
        assert_eq!(Palette::PLAIN.paint(Tone::Bad, "refused"), "refused");
        assert_eq!(Palette { coloured: true }.paint(Tone::Good, "ok"), "\u{1b}[32mok\u{1b}[0m");
    }

    #[test]
    fn counts_agree_with_their_nouns() {
        assert_eq!(
            [count(0, "warning"), count(1, "warning"), count(2, "warning")],
            ["0 warnings", "1 warning", "2 warnings"]
        );
    }
}
