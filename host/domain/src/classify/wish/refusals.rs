//! What the user does not want, and says so. Each rule finds the words that decline and the bare thing that they
//! decline; where the thing is limited in any way, only its part or its quality is declined, and nothing is found.

use std::ops::Range;

use super::said::Said;
use super::vocabulary::Roles;

/// Words of the longest thing that is declined whole: more say something about it.
const THING_MAX_WORDS: usize = 8;
/// Words of one after "not a", where more are a sentence.
const NOT_A_THING_MAX_WORDS: usize = 3;
/// Words of one before a Hindi "nahi" alone, where more may be a complaint ("ac chal nahi").
const BEFORE_NAHI_MAX_WORDS: usize = 1;
/// Words of one before "nahi karna" and the like.
const BEFORE_DEED_MAX_WORDS: usize = 2;
/// Words of one before other words that decline it.
const BEFORE_MAX_WORDS: usize = 5;

/// What is declined, as ranges of words that do not overlap.
pub(super) fn find_refusals(said: &Said<'_>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < said.len() {
        let refusal = if said.has(at, Roles::DECLINING) { find_refusal_at(said, at) } else { None };
        at = match refusal {
            Some(words) if found.last().is_none_or(|last| last.end <= words.start) => {
                let next = words.end.max(at + 1);
                found.push(words);
                next
            }
            _ => at + 1,
        };
    }
    found
}

/// What is declined by the word here.
fn find_refusal_at(said: &Said<'_>, at: usize) -> Option<Range<usize>> {
    let is_alone = at + 1 == said.len() || said.is_part_start(at + 1);
    match said.word(at) {
        // "No, need to buy one" is not a refusal.
        "no" | "not" | "t" | "dont" | "doesnt" | "didnt" | "never" if is_alone => None,
        "no" => find_no(said, at),
        "not" | "t" | "dont" | "doesnt" | "didnt" | "never" => {
            find_unwanted(said, at).or_else(|| find_not_a(said, at)).or_else(|| find_not_needed(said, at))
        }
        "nevermind" | "forget" | "skip" | "ignore" | "scrap" | "leave" | "drop" | "stop" => find_dismissal(said, at),
        _ => find_hindi_refusal(said, at, if is_alone { "" } else { said.word(at + 1) }),
    }
}

/// "I don't need ...", "we do not want to book ...", "not looking for ...", "please don't book ...".
fn find_unwanted(said: &Said<'_>, at: usize) -> Option<Range<usize>> {
    let start = find_refusal_start(said, at);
    if said.reads(at, &["never", "mind"]) {
        return Some(start..find_end_of_thing(said, at + 2, THING_MAX_WORDS)?);
    }
    let next = at + 1 + usize::from(matches!(said.word(at + 1), "really" | "even" | "currently" | "actually"));
    let thing = match said.word(next) {
        "want" | "need" | "require" | "wish" | "fancy" => match said.word(next + 1) {
            "to" if said.has(next + 2, Roles::OBTAINING) => next + 3,
            "to" => return None,
            _ => next + 1,
        },
        "looking" | "asking" | "shopping" | "here" if matches!(said.word(next + 1), "for" | "about") => next + 2,
        "interested" if matches!(said.word(next + 1), "in") => next + 2,
        // To whoever listens, and not of somebody: "please don't book", but not "they don't offer" or "I can't book".
        "book" | "buy" | "order" | "arrange" | "schedule" | "offer" | "suggest" | "sell" | "recommend" | "show"
        | "send"
            if said.is_led_into(start) && matches!(said.word(start), "don" | "do" | "dont" | "never") =>
        {
            next + 1
        }
        _ => return None,
    };
    let thing = thing + usize::from(said.word(thing) == "to");
    Some(start..find_end_of_thing(said, thing, THING_MAX_WORDS)?)
}

/// Where a refusal begins whose "not" is here: "do not", "don't".
fn find_refusal_start(said: &Said<'_>, at: usize) -> usize {
    let is_helper = |word: &str| matches!(word, "do" | "does" | "did" | "don" | "doesn" | "didn" | "am" | "m");
    if at > 0 && is_helper(said.word(at - 1)) && !said.is_part_start(at) { at - 1 } else { at }
}

/// "No insurance please", "no insurance, just ...", "just the AC, no insurance", "no interest in ...", "no need for ...".
fn find_no(said: &Said<'_>, at: usize) -> Option<Range<usize>> {
    if let ("interest", "in") | ("need", "for" | "of" | "to") = (said.word(at + 1), said.word(at + 2)) {
        return Some(at..find_end_of_thing(said, at + 3, THING_MAX_WORDS)?);
    }
    if !said.is_led_into(at) {
        return None;
    }
    let end = find_end_of_thing(said, at + 1, THING_MAX_WORDS)?;
    // "No cold air now" and "no cold air at all" are complaints still.
    let last = end - usize::from(said.reads(end - 2, &["thank", "you"]));
    let declining =
        ["please", "pls", "thanks", "thank", "needed", "required", "wanted", "question", "questions", "stuff", "talk"];
    let is_said = at + 2 < last && said.says(last - 1..last, &declining);
    (is_said || is_contrasted(said, at, end)).then_some(at..end)
}

/// "Not the gym, ...": what follows is wanted in its place.
fn find_not_a(said: &Said<'_>, at: usize) -> Option<Range<usize>> {
    let names = matches!(said.word(at + 1), "a" | "an" | "the" | "my" | "any");
    if said.word(at) != "not" || !names || !said.is_led_into(at) {
        return None;
    }
    let end = find_end_of_thing(said, at + 2, NOT_A_THING_MAX_WORDS)?;
    (end < said.len()).then_some(at..end)
}

/// "Insurance is not needed".
fn find_not_needed(said: &Said<'_>, at: usize) -> Option<Range<usize>> {
    if said.word(at) != "not" || !matches!(said.word(at + 1), "needed" | "required" | "wanted" | "necessary") {
        return None;
    }
    let thing_end = if at > 0 && matches!(said.word(at - 1), "is" | "are") { at - 1 } else { at };
    let end = at + 2;
    let ends = end == said.len() || said.clause_end(end) == end;
    Some(find_start_of_thing(said, thing_end, BEFORE_MAX_WORDS)?..end).filter(|_| ends)
}

/// "Forget the class", "skip the service", "stop showing me policies".
fn find_dismissal(said: &Said<'_>, at: usize) -> Option<Range<usize>> {
    if !said.is_led_into(at) {
        return None;
    }
    let thing = match (said.word(at), said.word(at + 1)) {
        ("leave" | "drop", "the" | "that" | "this" | "my") => at + 2,
        ("leave" | "drop", _) => return None,
        (
            "stop",
            "offering" | "showing" | "sending" | "selling" | "suggesting" | "asking" | "pushing" | "recommending",
        ) => at + 2 + usize::from(matches!(said.word(at + 2), "me" | "us" | "about")),
        ("stop", _) => return None,
        (_, "about") => at + 2,
        _ => at + 1,
    };
    Some(at..find_end_of_thing(said, thing, THING_MAX_WORDS)?)
}

/// "Insurance nahi chahiye", "yoga nahi karna", "class mat book karo", "policy rehne do", "gym nahi, class chahiye".
fn find_hindi_refusal(said: &Said<'_>, at: usize, next: &str) -> Option<Range<usize>> {
    let (thing_end, end, most) = match said.word(at) {
        "nahi" | "nahin" | "nhi" => match next {
            "chahiye" | "chaiye" | "chahie" => (at, at + 2, BEFORE_MAX_WORDS),
            "karna" | "karni" | "karwana" | "karwani" | "karana" | "lena" | "leni" | "lagwana" => {
                let is_deed = at > 0 && matches!(said.word(at - 1), "renew" | "change" | "switch" | "shift" | "cancel");
                (at, at + 2, if is_deed { 0 } else { BEFORE_DEED_MAX_WORDS })
            }
            _ if at > 1 && matches!(said.word(at - 1), "zaroorat" | "zarurat" | "jarurat" | "jaroorat") => {
                let of = usize::from(matches!(said.word(at - 2), "ki" | "ka"));
                (at - 1 - of, at + 1, BEFORE_MAX_WORDS)
            }
            _ if said.clause_end(at + 1) == at + 1 && is_wanted_next(said, at + 1) => {
                (at, at + 1, BEFORE_NAHI_MAX_WORDS)
            }
            _ => return None,
        },
        "mat" => match (next, said.word(at + 2)) {
            ("book" | "order", "karo" | "karna" | "kijiye" | "karwao") => (at, at + 3, BEFORE_MAX_WORDS),
            ("karo" | "karna" | "kijiye" | "karwao" | "karwana" | "bhejo", _) => (at, at + 2, BEFORE_MAX_WORDS),
            _ => return None,
        },
        "rehne" | "chhod" | "chod" if next == "do" => (at, at + 2, BEFORE_MAX_WORDS),
        "bhool" if next == "jao" => (at, at + 2, BEFORE_MAX_WORDS),
        "rehnedo" | "chhodo" | "chodo" | "hatao" => (at, at + 1, BEFORE_MAX_WORDS),
        _ => return None,
    };
    let end = end + usize::from(matches!(said.word(end), "hai" | "h"));
    Some(find_start_of_thing(said, thing_end, most)?..end)
}

/// The end of a bare thing that begins here, with the words of courtesy after it.
fn find_end_of_thing(said: &Said<'_>, from: usize, most: usize) -> Option<usize> {
    let end = said.clause_end(from);
    let courtesy = (from..end).rev().take_while(|at| said.has(*at, Roles::COURTESY)).count();
    let emphasis = if said.reads(end.saturating_sub(2), &["at", "all"]) { 2 } else { courtesy };
    let last = end.saturating_sub(emphasis).max(from);
    let is_bare = last > from && last - from <= most && !said.holds(from..last, Roles::LIMITING | Roles::OFFER);
    is_bare.then_some(end)
}

/// The beginning of a bare thing that ends before this place, in the same part of the sentence.
fn find_start_of_thing(said: &Said<'_>, end: usize, most: usize) -> Option<usize> {
    let part = said.part_start(end.checked_sub(1)?);
    let from = (part..end).find(|at| !said.has(*at, Roles::LEAD_IN | Roles::JOINING | Roles::RESTART))?;
    let is_bare = end - from <= most
        && !said.holds(from..end, Roles::LIMITING | Roles::OFFER | Roles::REQUEST)
        && !said.says(from..end, &["me"]);
    is_bare.then_some(from)
}

/// Whether what stands here is a refusal by what is said beside it: "just fix ...", "only the ...", "instead", "thanks".
fn is_contrasted(said: &Said<'_>, start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).map(|last| said.part_start(last));
    let is_last = end == said.len();
    is_limited_wish(said, end)
        || matches!(said.word(end), "thanks" | "thank")
        || (is_last && before.is_some_and(|before| is_limited_wish(said, before)))
        || (end < said.len() && said.says(end..said.sentence_end(end), &["instead"]))
}

/// Whether the part that begins here wants one thing only.
fn is_limited_wish(said: &Said<'_>, at: usize) -> bool {
    let at = at + usize::from(said.has(at, Roles::JOINING));
    match said.word(at) {
        "just" | "only" | "simply" => said.has(at + 1, Roles::TAKING),
        "sirf" | "bas" => is_wanted_next(said, at + 1),
        _ => false,
    }
}

/// Whether the words from here to the end of their part ask for something.
fn is_wanted_next(said: &Said<'_>, at: usize) -> bool {
    at < said.len() && {
        let end = (at + 1..said.len()).find(|next| said.is_part_start(*next)).unwrap_or(said.len());
        said.holds(at..end, Roles::REQUEST | Roles::WANT) || said.says(at..end, &["sirf", "bas"])
    }
}
