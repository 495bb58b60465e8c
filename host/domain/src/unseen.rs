//! Characters that are not seen: what hides in a text, or parts a name, without anybody noticing.

/// Whether a character is not seen by itself (`Default_Ignorable_Code_Point` of Unicode 16, without what is unassigned and stands
/// alone). Some of them change how the next to them is drawn: see [`is_joiner`].
#[must_use]
pub fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether it is one that honest texts hold: it joins letters or emoji or keeps them apart, or says that an emoji is to be drawn in
/// colour or as text.
#[must_use]
pub fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

/// Whether a joiner has an effect behind this character: on letters of scripts that join and on emoji, among them the digits and
/// signs that keys are drawn of.
#[must_use]
pub fn joins_behind(joiner: char, before: char) -> bool {
    let is_variant = |c| matches!(c, '\u{fe0e}' | '\u{fe0f}');
    match before {
        '0'..='9' | '#' | '*' => is_variant(joiner),
        // An emoji in colour may be joined with another one.
        '\u{fe0f}' => joiner == '\u{200d}',
        _ => !before.is_ascii() && !is_unseen(before),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joiners_are_unseen_and_join_what_can_be_joined() {
        assert!(['\u{200c}', '\u{200d}', '\u{fe0e}', '\u{fe0f}'].iter().all(|c| is_joiner(*c) && is_unseen(*c)));
        assert!(!is_joiner('\u{200b}') && !is_unseen('a') && !is_unseen('\u{94d}'));
        assert!(
            joins_behind('\u{200d}', '👩') && joins_behind('\u{200d}', '\u{fe0f}') && joins_behind('\u{200c}', 'و')
        );
        assert!(joins_behind('\u{fe0f}', '1') && joins_behind('\u{fe0f}', '❤'));
        for (joiner, before) in [
            ('\u{200d}', 'a'),
            ('\u{200d}', '1'),
            ('\u{200c}', '\u{200d}'),
            ('\u{fe0f}', 'x'),
            ('\u{fe0e}', '\u{fe0f}'),
        ] {
            assert!(!joins_behind(joiner, before), "{joiner:?} behind {before:?}");
        }
    }
}
