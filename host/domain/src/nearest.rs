//! Which known name somebody meant who has misspelt it.

use strsim::levenshtein;

/// Longest name that is compared, characters.
const NAME_MAX_CHARS: usize = 64;
/// One edit is forgiven for so many characters of the name that was written.
const CHARS_PER_EDIT: usize = 4;

/// The known name that a written one is nearest to, if it is near enough to be meant; of several the first.
#[must_use]
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = written.chars().count();
    if length > NAME_MAX_CHARS {
        return None;
    }
    let forgiven = (length / CHARS_PER_EDIT).max(1);
    let measured = known.into_iter().filter_map(|name| {
        // What differs more in length alone is not compared, so a comparison is bounded.
        let edits = (name.chars().count().abs_diff(length) <= forgiven).then(|| levenshtein(written, name))?;
        (edits <= forgiven).then_some((edits, name))
    });
    measured.min_by_key(|(edits, _)| *edits).map(|(_, name)| name)
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
}
