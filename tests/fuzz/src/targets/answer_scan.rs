//! The scan of partners' answers (RFC 7493; spec 1, What the service does, 7).
//!
//! It finds what a plain walk through the strictly read value finds, by option; what it finds nothing in, a strict reader
//! takes; and a forbidden member that is hidden in the text does not stay hidden.
//!
//! Input: where and how the forbidden member is hidden; the answer.

use std::collections::BTreeSet;

use intent_gateway_domain::forbidden::{ForbiddenFields, Kind, PLATFORM_FIELDS};
use intent_gateway_domain::limits::{
    ANSWER_NAME_MAX_CHARS, ANSWER_NUMBER_MAX_CHARS, ANSWER_TEXT_MAX_CHARS, PAYLOAD_MAX_DEPTH,
};
use intent_gateway_domain::unseen::is_unseen;
use intent_gateway_routing::scan::{Scanned, scan};
use serde::de::IgnoredAny;

use crate::json::{Outline, Tree};

/// Where the options are.
pub(super) const OPTIONS_KEY: &str = "slots";

/// Scans one answer.
///
/// # Panics
/// Where the plain walk finds something else.
pub(crate) fn run(data: &[u8]) {
    let [place, field, disguise, text @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let fields = ForbiddenFields::new(&[]);
    let scanned = scan(text, Some(OPTIONS_KEY), &fields);
    if serde_json::from_str::<IgnoredAny>(text).is_err() {
        // The scan is asked about valid JSON alone; of other text it has only to come to an end.
        return;
    }
    let outline = Outline::of(text);
    let Ok(scanned) = scanned else {
        assert!(outline.depth > PAYLOAD_MAX_DEPTH, "refused as too deep at {} levels", outline.depth);
        return;
    };
    assert!(outline.depth <= PAYLOAD_MAX_DEPTH, "not refused at {} levels", outline.depth);
    match Tree::read(text) {
        None => assert!(has_malformed(&scanned), "no strict reader takes what the scan let pass"),
        Some(tree) => {
            let too_long = outline.longest_number > ANSWER_NUMBER_MAX_CHARS;
            assert_eq!(has_malformed(&scanned), too_long || !is_sound(&tree), "{tree:?}");
            compare(&scanned, &tree, &fields);
        }
    }
    hide(text, &outline, [*place, *field, *disguise], &fields);
}

/// Whether anything was found that a strict reader could not take.
fn has_malformed(scanned: &Scanned) -> bool {
    std::iter::once(&scanned.outside).chain(scanned.options.values()).any(|flaws| !flaws.malformed.is_empty())
}

/// Whether it is what RFC 7493 and the platform's bounds allow, but for the length of numbers.
pub(super) fn is_sound(tree: &Tree) -> bool {
    let is_text = |text: &str, max| text.chars().count() <= max && text.chars().all(may_be_held);
    tree.has_no_repeats()
        && tree.all(&mut |value| match value {
            Tree::Text(text) => is_text(text, ANSWER_TEXT_MAX_CHARS),
            Tree::Number(number) => number.is_finite(),
            _ => value.members().iter().all(|(name, _)| is_text(name, ANSWER_NAME_MAX_CHARS)),
        })
}

/// RFC 7493, 2.1, and no control character but tabs and ends of lines.
fn may_be_held(c: char) -> bool {
    let code = u32::from(c);
    let is_control = code < 0x20 || (0x7f..0xa0).contains(&code);
    let is_noncharacter = (0xfdd0..=0xfdef).contains(&code) || code % 0x1_0000 >= 0xfffe;
    matches!(c, '\t' | '\n' | '\r') || !is_control && !is_noncharacter
}

/// Compares which options have forbidden fields, and whether there are any outside of them.
fn compare(scanned: &Scanned, tree: &Tree, fields: &ForbiddenFields<'_>) {
    let found: BTreeSet<usize> = scanned
        .options
        .iter()
        .filter(|(_, flaws)| !flaws.forbidden.is_empty())
        .map(|(position, _)| *position)
        .collect();
    let has = |value: &Tree| has_forbidden(value, fields);
    let (mut expected, mut outside) = (BTreeSet::new(), Some(false));
    let mut add = |options: &[Tree]| {
        for (position, option) in options.iter().enumerate() {
            match has(option) {
                Some(true) => drop(expected.insert(position)),
                Some(false) => {}
                None => return false,
            }
        }
        true
    };
    let mut is_known = true;
    if let Tree::Array(options) = tree {
        is_known = add(options);
    }
    for (name, value) in tree.members() {
        let is_broken = fields.broken_by(name, kind_of(value)).is_some();
        let within = match value {
            Tree::Array(options) if name == OPTIONS_KEY => {
                is_known &= add(options);
                Some(false)
            }
            value => has(value),
        };
        let named = is_forbidden_text(name, fields).map(|named| named || is_broken);
        outside = outside.zip(any([within, named].into_iter())).map(|(before, found)| before || found);
    }
    if let Tree::Text(_) = tree {
        outside = has(tree);
    }
    if is_known {
        assert_eq!(found, expected, "options with forbidden fields");
    }
    if let Some(outside) = outside {
        assert_eq!(!scanned.outside.forbidden.is_empty(), outside, "forbidden fields outside the options");
    }
}

/// Whether a value holds a forbidden member, in texts that are JSON and in names that are, too. None where a text only begins like
/// JSON: what is found there is the scan's own rule.
fn has_forbidden(value: &Tree, fields: &ForbiddenFields<'_>) -> Option<bool> {
    match value {
        Tree::Text(text) => is_forbidden_text(text, fields),
        Tree::Array(items) => any(items.iter().map(|item| has_forbidden(item, fields))),
        Tree::Object(members) => any(members.iter().map(|(name, value)| {
            if fields.broken_by(name, kind_of(value)).is_some() {
                Some(true)
            } else {
                any([is_forbidden_text(name, fields), has_forbidden(value, fields)].into_iter())
            }
        })),
        _ => Some(false),
    }
}

fn is_forbidden_text(text: &str, fields: &ForbiddenFields<'_>) -> Option<bool> {
    let json = text.trim_start_matches(|c: char| c.is_whitespace() || is_unseen(c));
    if !json.starts_with(['{', '[', '"']) {
        return Some(false);
    }
    has_forbidden(&Tree::read(json)?, fields)
}

fn any(mut each: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    each.try_fold(false, |found, one| one.map(|one| found || one))
}

fn kind_of(value: &Tree) -> Kind {
    match value {
        Tree::Bool(false) => Kind::False,
        Tree::Null => Kind::Null,
        Tree::Text(text) if text.is_empty() => Kind::EmptyString,
        _ => Kind::Other,
    }
}

/// Writes a forbidden member into one of the objects, disguised, and looks whether it is found.
fn hide(text: &str, outline: &Outline, [place, field, disguise]: [u8; 3], fields: &ForbiddenFields<'_>) {
    let Some(at) = outline.objects.get(usize::from(place) % outline.objects.len().max(1)) else { return };
    let (name, _, _) = PLATFORM_FIELDS[usize::from(field) % PLATFORM_FIELDS.len()];
    let rest = &text[*at..];
    let comma = if rest.trim_start_matches([' ', '\t', '\n', '\r']).starts_with('}') { "" } else { "," };
    let hidden = format!("{}\"{}\": 1{comma}{rest}", &text[..*at], disguise_name(name, disguise));
    let found = scan(&hidden, Some(OPTIONS_KEY), fields).expect("no deeper than before");
    let mut each = std::iter::once(&found.outside).chain(found.options.values());
    assert!(each.any(|flaws| !flaws.forbidden.is_empty()), "{name} stays hidden in {hidden}");
}

/// The name, written otherwise: still the same name to who reads it.
fn disguise_name(name: &str, disguise: u8) -> String {
    let at = usize::from(disguise >> 3) % name.len();
    let letter = name[at..].chars().next().expect("within the name");
    let written = match disguise & 7 {
        0 => letter.to_string(),
        1 => letter.to_ascii_uppercase().to_string(),
        2 => format!("\\u{:04x}", u32::from(letter)),
        3 => format!("\\u{:04X}\\u200b", u32::from(letter)),
        4 => format!("{letter}\u{200d}"),
        5 => format!("{letter}-"),
        6 => match letter {
            'a' => "\u{430}".to_owned(),
            'e' => "\u{435}".to_owned(),
            'o' => "0".to_owned(),
            'i' => "\u{456}".to_owned(),
            letter => char::from_u32(u32::from(letter) + 0xfee0).expect("a wide letter").to_string(),
        },
        _ => format!("{letter}\\u0000"),
    };
    format!("{}{written}{}", &name[..at], &name[at + letter.len_utf8()..])
}
