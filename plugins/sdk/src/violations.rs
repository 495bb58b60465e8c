//! Collecting violations: all of them, not the first.

use crate::bindings::Violation;
use crate::shape::At;
use std::fmt::{self, Display};

/// Violations kept per document. A hostile document could hold thousands; nobody reads more than this.
pub const MAX_VIOLATIONS: usize = 100;

/// Unicode characters of a found value that a message repeats.
pub const MAX_QUOTED_CHARS: usize = 60;

/// The violations found in one document so far, in document order.
#[derive(Debug, Default)]
pub struct Violations {
    list: Vec<Violation>,
    /// Found beyond [`MAX_VIOLATIONS`] and not kept.
    more: usize,
    /// How many of the list are no violations as long as they are alone: absent members, each of which a rule is to judge.
    left_to_rules: usize,
}

impl Violations {
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether nothing was found but what rules are to judge.
    pub fn is_empty(&self) -> bool {
        self.list.len() == self.left_to_rules
    }

    /// Records a violation at the place that a reader stands at.
    #[cold]
    pub fn push(&mut self, at: &At<'_>, code: &'static str, message: impl Display) {
        self.add(at, code, message);
    }

    /// [`Violations::add`], if a rule is broken. The message is formatted only then.
    #[inline]
    pub(crate) fn add_if(&mut self, broken: bool, pointer: impl Display, code: &'static str, message: impl Display) {
        if broken {
            self.add(pointer, code, message);
        }
    }

    /// Records a violation at any pointer.
    #[cold]
    pub fn add(&mut self, pointer: impl Display, code: &'static str, message: impl Display) {
        if self.list.len() == MAX_VIOLATIONS {
            self.more += 1;
            return;
        }
        self.list.push(Violation { pointer: pointer.to_string(), code: code.to_owned(), message: message.to_string() });
    }

    /// Records that a member is absent whose absence a rule judges. It is told only where the document is broken
    /// elsewhere, for then no rule gets to see it.
    #[cold]
    pub(crate) fn leave_to_rules(&mut self, at: &At<'_>) {
        let before = self.list.len();
        self.add(at, crate::code::REQUIRED, "Missing; a value or null is expected.");
        self.left_to_rules += self.list.len() - before;
    }

    /// The list as it goes to the host. What was not kept is counted in the last message.
    pub fn into_list(mut self) -> Vec<Violation> {
        if self.more > 0
            && let Some(last) = self.list.last_mut()
        {
            last.message.push_str(&format!(" ({} more violations are not listed.)", self.more));
        }
        self.list
    }
}

/// Shows a found text in a message: quoted, with its control characters escaped, and cut.
pub struct Quoted<'t>(pub &'t str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(MAX_QUOTED_CHARS) {
            Some((cut, _)) => write!(f, "{:?}...", &self.0[..cut]),
            None => write!(f, "{:?}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_a_bounded_number_and_counts_the_rest() {
        let mut found = Violations::new();
        for index in 0..MAX_VIOLATIONS + 3 {
            found.add(format_args!("/{index}"), crate::code::REQUIRED, "Missing.");
        }
        let list = found.into_list();
        assert_eq!(list.len(), MAX_VIOLATIONS);
        assert_eq!(list[MAX_VIOLATIONS - 1].message, "Missing. (3 more violations are not listed.)");
    }

    #[test]
    fn quotes_are_cut_at_a_character_and_escaped() {
        assert_eq!(Quoted("a\nb").to_string(), r#""a\nb""#);
        let long = "é".repeat(MAX_QUOTED_CHARS + 1);
        assert_eq!(Quoted(&long).to_string(), format!("\"{}\"...", "é".repeat(MAX_QUOTED_CHARS)));
    }
}
