//! Which known name somebody meant who has misspelt it.

/// Longest name that is compared, characters.
const NAME_MAX_CHARS: usize = 64;
/// One edit is forgiven for so many characters of the name that was written.
const CHARS_PER_EDIT: usize = 4;

/// The known name that a written one is nearest to, if it is near enough to be meant; of several the first.
#[must_use]
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written: Vec<char> = written.chars().collect();
    if written.len() > NAME_MAX_CHARS {
        return None;
    }
    let forgiven = (written.len() / CHARS_PER_EDIT).max(1);
    let measured = known.into_iter().filter_map(|name| {
        let chars: Vec<char> = name.chars().take(NAME_MAX_CHARS + 1).collect();
        let edits = (chars.len().abs_diff(written.len()) <= forgiven).then(|| edits(&written, &chars))?;
        (edits <= forgiven).then_some((edits, name))
    });
    measured.min_by_key(|(edits, _)| *edits).map(|(_, name)| name)
}

/// Characters to insert, drop or change to make one name of the other.
fn edits(from: &[char], to: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, letter) in from.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (column, other) in to.iter().enumerate() {
            let change = diagonal + usize::from(letter != other);
            diagonal = row[column + 1];
            row[column + 1] = change.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_understood_and_another_name_is_not() {
        let tools = ["search_slots", "create_booking", "cancel_booking"];
        for (written, meant) in [
            ("serch_slots", Some("search_slots")),
            ("search_slot", Some("search_slots")),
            ("cancel_bookings", Some("cancel_booking")),
            ("creat_boking", Some("create_booking")),
            ("find_offers", None),
            ("", None),
        ] {
            assert_eq!(nearest(written, tools), meant, "{written}");
        }
        assert_eq!(nearest("city", ["cite", "city"]), Some("city"), "the nearest of two");
        assert_eq!(nearest(&"x".repeat(200), ["x"]), None);
    }

    #[test]
    fn edits_are_counted() {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        for (from, to, expected) in
            [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("é", "e", 1)]
        {
            assert_eq!(edits(&chars(from), &chars(to)), expected, "{from} {to}");
        }
    }
}
