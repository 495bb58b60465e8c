//! Questions for information: what they begin or end with, and how far they reach.

use std::ops::Range;

use super::said::Said;
use super::vocabulary::Roles;

/// Signs that a part of a sentence wishes for something.
const WISHING: Roles = Roles::REQUEST.with(Roles::WANT).with(Roles::OWN).with(Roles::OFFER);

/// Where the part of a sentence that names what is asked about may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// Into the parts after it: "what is the difference between A, B and C".
    After,
    /// Into the parts before it: "A aur B mein kya farak hai".
    Before,
}

/// What makes a part of a sentence a question for information.
#[derive(Clone, Copy, Debug)]
struct Sign {
    /// Nothing but information can be meant, also about the user's own things.
    is_plain: bool,
    reach: Reach,
}

const PLAIN: Sign = Sign { is_plain: true, reach: Reach::After };
const LIKELY: Sign = Sign { is_plain: false, reach: Reach::After };
const PLAIN_AT_END: Sign = Sign { is_plain: true, reach: Reach::Before };
const LIKELY_AT_END: Sign = Sign { is_plain: false, reach: Reach::Before };

/// Whom or what "is", "does" or "can" asks about where it asks about no thing in general.
const OF_NO_THING: [&str; 15] = [
    "", "i", "you", "u", "we", "there", "this", "that", "the", "it", "they", "someone", "somebody", "anyone", "anybody",
];
/// What "how is it" asks about a thing in general.
const MADE_SO: [&str; 9] =
    ["calculated", "decided", "determined", "measured", "computed", "made", "different", "formed", "invented"];

/// The questions for information, as ranges of words; none where a wish beside them refers back to them.
pub(super) fn find_questions(said: &Said<'_>, declined: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < said.len() {
        let end = said.sentence_end(start);
        if said.holds(start..end, Roles::ASKING) {
            find_in_sentence(said, start..end, declined, &mut found);
        }
        start = end;
    }
    if !found.is_empty() && is_referred_to(said, &found) { Vec::new() } else { found }
}

fn find_in_sentence(said: &Said<'_>, sentence: Range<usize>, declined: &[Range<usize>], found: &mut Vec<Range<usize>>) {
    let is_declined =
        |part: &Range<usize>| declined.iter().any(|other| other.start < part.end && part.start < other.end);
    let parts = said.parts(sentence);
    let mut at = 0;
    while at < parts.len() {
        let Some((question, reach)) = find_question_in(said, &parts[at]).filter(|_| !is_declined(&parts[at])) else {
            at += 1;
            continue;
        };
        let goes_on = |part: &Range<usize>| !said.holds(part.clone(), WISHING | Roles::NEGATION) && !is_declined(part);
        let (mut start, mut end) = (question.start, question.end);
        if reach == Reach::After {
            let more = parts[at + 1..].iter().take_while(|part| goes_on(part));
            end = more.last().map_or(end, |last| last.end);
        } else {
            let before = parts[..at].iter().rev().take_while(|part| goes_on(part));
            start = before.last().map_or(start, |first| first.start);
        }
        start = start.max(found.last().map_or(0, |last: &Range<usize>| last.end));
        found.push(start..end);
        at = parts.partition_point(|part| part.end <= end);
    }
}

/// The question in a part of a sentence.
fn find_question_in(said: &Said<'_>, part: &Range<usize>) -> Option<(Range<usize>, Reach)> {
    let asking = part.clone().filter(|at| said.has(*at, Roles::ASKING));
    let signs = asking.filter_map(|at| read_sign(said, at, part).map(|sign| (at, sign)));
    // In the middle of a sentence such words tell more often than they ask: "the AC is what is broken".
    let signs = signs.filter(|(at, sign)| sign.is_plain || sign.reach == Reach::Before || said.is_led_into(*at));
    let (at, sign) = signs.reduce(|first, other| if !first.1.is_plain && other.1.is_plain { other } else { first })?;
    let wishing = if sign.is_plain { Roles::REQUEST } else { WISHING };
    if said.holds(part.clone(), wishing) {
        return None;
    }
    // What is said before the question without a sign between them may be a wish of its own.
    let stands_alone = sign.reach == Reach::After && said.holds(part.start..at, WISHING | Roles::NEGATION);
    Some((if stands_alone { at } else { part.start }..part.end, sign.reach))
}

/// Whether what is asked about is wished for in another part: "book me one".
fn is_referred_to(said: &Said<'_>, questions: &[Range<usize>]) -> bool {
    let mut rest = (0..said.len()).filter(|at| !questions.iter().any(|words| words.contains(at)));
    let (mut refers, mut wishes) = (false, false);
    rest.any(|at| {
        let is_own = matches!(said.word(at), "mine") || (said.has(at, Roles::OWN) && said.word(at + 1) == "wala");
        refers |= said.has(at, Roles::PRONOUN) || is_own;
        wishes |= said.has(at, Roles::REQUEST | Roles::WANT) || is_own;
        refers && wishes
    })
}

/// What the word here says of its part.
fn read_sign(said: &Said<'_>, at: usize, part: &Range<usize>) -> Option<Sign> {
    let word = |at| said.word_in(part, at);
    match word(at) {
        "what" | "whats" | "wat" | "wats" => read_what(said, at, part),
        "how" | "hows" => read_how(said, at, part),
        "why" => read_why(said, at, part),
        "who" => {
            let made = matches!(
                word(at + 1),
                "invented" | "discovered" | "founded" | "started" | "created" | "introduced" | "developed" | "coined"
            );
            let is_maker = matches!(word(at + 1), "is" | "was")
                && said.says(at + 2..part.end, &["founder", "inventor", "father", "creator"]);
            (made || is_maker).then_some(LIKELY)
        }
        "which" => {
            let is = at + 1 + usize::from(matches!(word(at + 1), "one" | "of"));
            let compares = word(is) == "is" && matches!(word(is + 1), "better" | "healthier" | "safer");
            compares.then_some(LIKELY_AT_END)
        }
        "when" => {
            let is_past = matches!(word(at + 1), "was" | "were" | "did");
            (is_past && !matches!(word(at + 2), "i" | "the" | "it")).then_some(LIKELY)
        }
        "is" | "are" | "does" | "do" | "did" | "can" | "could" | "will" | "should" => read_yes_or_no(said, at, part),
        "difference" | "differences" | "diffrence" | "diffrences" | "diference" if word(at + 1) == "between" => {
            Some(PLAIN)
        }
        "vs" | "versus" => Some(LIKELY_AT_END),
        "explain" | "define" | "meaning" | "definition" | "full" | "history" | "origin" | "origins" | "benefit"
        | "benefits" | "advantage" | "advantages" | "disadvantages" | "pros" | "types" => read_noun(said, at, part),
        _ => read_hindi(said, at, part),
    }
}

/// "Explain ...", "the meaning of ...", "benefits of ...", at the beginning of a part.
fn read_noun(said: &Said<'_>, at: usize, part: &Range<usize>) -> Option<Sign> {
    let word = |at| said.word_in(part, at);
    if word(at) == "explain" && matches!(word(at + 1), "karo" | "kijiye" | "kar") {
        return Some(LIKELY_AT_END);
    }
    if !said.is_led_into(at) {
        return read_hindi_noun(said, at, part);
    }
    match (word(at), word(at + 1)) {
        ("explain" | "define", _) => Some(LIKELY),
        ("full", "form") | ("meaning" | "definition" | "history" | "origin" | "origins", "of") => Some(PLAIN),
        // The "and" after it begins another part.
        ("pros", _) if said.word(at + 1) == "and" => Some(LIKELY),
        (_, "of") => Some(LIKELY),
        _ => None,
    }
}

/// "What is a ...", "what does ... mean", "what happens if ...", "(tell me) what ... is".
fn read_what(said: &Said<'_>, at: usize, part: &Range<usize>) -> Option<Sign> {
    let word = |at| said.word_in(part, at);
    let after = at + 1;
    let rest = after..part.end;
    match word(after) {
        "does" | "do" | "did" if said.says(rest.clone(), &["mean", "means", "stand"]) => Some(PLAIN),
        "does" | "do" | "did" => {
            let is_of_a_thing = !matches!(word(after + 1), "i" | "we" | "you" | "they" | "it" | "do");
            let does = (after + 2..part.end).any(|at| matches!(word(at), "do" | "cover" | "covers" | "include"));
            (is_of_a_thing && does).then_some(LIKELY)
        }
        "happens" | "happened" if matches!(word(after + 1), "if" | "when" | "to" | "in") => Some(PLAIN),
        "causes" | "makes" => Some(LIKELY),
        "kind" | "kinds" | "type" | "types" | "sort" => Some(LIKELY),
        "should" => matches!(word(after + 1), "one" | "people" | "we" | "you" | "beginners").then_some(LIKELY),
        "is" | "s" | "are" | "was" | "were" => read_what_is(said, after + 1, part),
        _ if matches!(word(at), "whats" | "wats") => read_what_is(said, after, part),
        _ if is_told_of(said, at, part) => Some(LIKELY),
        _ => None,
    }
}

/// What stands after "what is": a thing, or what is asked about the thing.
fn read_what_is(said: &Said<'_>, thing: usize, part: &Range<usize>) -> Option<Sign> {
    let word = |at| said.word_in(part, at);
    match word(thing) {
        "the" => match word(thing + 1) {
            "difference" | "differences" | "diffrence" | "diference" | "meaning" | "definition" | "history"
            | "origin" | "full" => Some(PLAIN),
            "purpose" | "function" | "role" | "use" | "point" | "benefit" | "benefits" | "advantage" | "advantages"
            | "disadvantages" | "concept" | "idea" | "science" | "reason" | "types" | "kinds" | "pros" | "rule"
            | "rules" | "law" => Some(LIKELY),
            _ => None,
        },
        "difference" | "differences" | "meant" => Some(PLAIN),
        "wrong" | "included" | "on" | "happening" | "required" | "needed" | "it" | "this" | "that" | "there" | "up"
        | "going" | "best" | "good" | "i" | "we" | "you" | "they" => None,
        // Who asks for a good one looks for one.
        "a" | "an" if matches!(word(thing + 1), "good" | "nice" | "decent" | "great" | "fair" | "reasonable") => None,
        _ if thing < part.end => Some(LIKELY),
        _ => None,
    }
}

/// "... what a condenser is", "... what yoga is all about".
fn is_told_of(said: &Said<'_>, at: usize, part: &Range<usize>) -> bool {
    let word = |at| said.word_in(part, at);
    let end = part.end;
    let about = if end >= 2 && said.reads(end - 2, &["all", "about"]) {
        end - 2
    } else {
        end - usize::from(word(end - 1) == "about")
    };
    about > at + 2 && matches!(word(about - 1), "is" | "are" | "means" | "does")
}

/// "How does ... work", "how is ... calculated", "how often ...", "(explain) how ... works".
fn read_how(said: &Said<'_>, at: usize, part: &Range<usize>) -> Option<Sign> {
    let word = |at| said.word_in(part, at);
    let rest = at + 1..part.end;
    // Whether something works at a time, or for somebody, is another question.
    let works = said.says(rest.clone(), &["work", "works", "function", "differ"])
        && !said.says(rest.clone(), &["for"])
        && !said.holds(rest.clone(), Roles::OFFER);
    match (word(at + 1), word(at + 2)) {
        ("do" | "does" | "did" | "can" | "should" | "could", "i" | "we" | "you" | "it") => None,
        ("do" | "does" | "did", _) => Some(if works { PLAIN } else { LIKELY }),
        ("is" | "are" | "was" | "were", _) => said.says(rest, &MADE_SO).then_some(PLAIN),
        ("often", _) => Some(LIKELY),
        ("long", "do" | "does" | "is" | "can" | "should") => (!said.says(rest, &["take", "takes"])).then_some(LIKELY),
        (
            "many",
            "types" | "kinds" | "styles" | "forms" | "sorts" | "calories" | "minutes" | "poses" | "years" | "times"
            | "people",
        ) => Some(LIKELY),
        ("to", _) => said.says(rest, &["myself", "yourself", "khud"]).then_some(LIKELY),
        ("soon" | "fast" | "quickly" | "early" | "well" | "much" | "many" | "long", _) => None,
        _ => (works && matches!(word(part.end - 1), "works" | "work")).then_some(PLAIN),
    }
}

/// "Why do ...", "why is ... so ...": of things in general, and not of one that fails at the moment.
fn read_why(said: &Said<'_>, at: usize, part: &Range<usize>) -> Option<Sign> {
    let word = |at| said.word_in(part, at);
    let is_asked = matches!(
        word(at + 1),
        "do" | "does" | "did" | "should" | "would" | "is" | "are" | "has" | "have" | "must" | "people"
    );
    let is_of_one = matches!(word(at + 2), "the" | "this" | "that" | "it" | "there" | "i" | "you" | "we");
    let fails = said.holds(at..part.end, Roles::NEGATION) || said.says(at..part.end, &["keep", "keeps"]);
    let goes_on = (at + 3..part.end).any(|at| {
        word(at).ends_with("ing")
            && !matches!(word(at + 1), "so" | "too" | "very" | "important" | "good" | "bad" | "necessary")
    });
    let is_now = matches!(word(at + 1), "is" | "are") && goes_on;
    (is_asked && !is_of_one && !fails && !is_now).then_some(LIKELY)
}

/// "Is it true that ...", "is ... compulsory", "does ... cover ...", at the beginning of a part.
fn read_yes_or_no(said: &Said<'_>, at: usize, part: &Range<usize>) -> Option<Sign> {
    let word = |at| said.word_in(part, at);
    // After "what" or "how" it belongs to their question.
    let asks_more =
        matches!(word(at.wrapping_sub(1)), "what" | "wat" | "how" | "why" | "which" | "who" | "when" | "where");
    if asks_more {
        return None;
    }
    let of_whom = word(at + 1);
    if of_whom == "it" && word(at) == "is" {
        return match word(at + 2) {
            "true" | "right" if word(at + 3) == "that" => Some(PLAIN),
            _ if said.has(at + 2, Roles::PREDICATE) => Some(LIKELY),
            _ => None,
        };
    }
    let is_of_a_thing = !OF_NO_THING.contains(&of_whom);
    let says = at + 2 < part.end && said.holds(at + 2..part.end, Roles::PREDICATE);
    (is_of_a_thing && says).then_some(LIKELY)
}

/// Questions in Hindi, whose words stand at the end more often than not.
fn read_hindi(said: &Said<'_>, at: usize, part: &Range<usize>) -> Option<Sign> {
    let word = |at| said.word_in(part, at);
    let (before, after) = (word(at.wrapping_sub(1)), word(at + 1));
    match word(at) {
        "kya" => match after {
            "hota" | "hoti" | "hote" => Some(LIKELY_AT_END),
            "kehte" | "kahte" => Some(PLAIN_AT_END),
            "hai" | "hain" | "h" if at + 2 == part.end && is_a_thing_to_ask(before) => Some(LIKELY_AT_END),
            _ if said.is_led_into(at) && said.holds(at + 1..part.end, Roles::PREDICATE) => Some(LIKELY),
            _ if is_asked_of_a_predicate(said, at, part) => Some(LIKELY_AT_END),
            _ => None,
        },
        "matlab" if matches!(before, "ka" | "kya") || after == "kya" => Some(PLAIN_AT_END),
        "kaise" => match (after, word(at + 2)) {
            ("kaam" | "kam", "karta" | "karti" | "karte") => Some(PLAIN_AT_END),
            ("hota" | "hoti" | "hote" | "milta" | "milti" | "milte" | "banta" | "banti" | "chalta" | "chalti", _) => {
                Some(LIKELY_AT_END)
            }
            _ => None,
        },
        "farak" | "fark" | "farq" | "antar" | "difference" | "differences" | "diffrence" => {
            let asks = matches!(after, "kya" | "hai" | "batao" | "bata" | "samjhao" | "samjha" | "bataiye" | "hota");
            let of = matches!(before, "kya" | "mein" | "me" | "beech" | "ka");
            (of && (asks || after.is_empty())).then_some(PLAIN_AT_END)
        }
        "kyu" | "kyun" | "kyon" => {
            let is_now = ["raha", "rahi", "rahe", "gaya", "gayi", "hua", "hui"];
            let fails = said.says(part.clone(), &is_now) || said.holds(part.clone(), Roles::NEGATION);
            (!fails).then_some(LIKELY_AT_END)
        }
        "fayde" | "faayde" | "fayda" | "nuksan" | "nuksaan" | "itihas" | "itihaas" | "prakar" => {
            read_hindi_noun(said, at, part)
        }
        "samjhao" | "samjhaiye" | "samjhaye" => Some(LIKELY_AT_END),
        "samjha" if matches!(after, "do" | "dijiye") => Some(LIKELY_AT_END),
        "baare" if matches!(after, "mein" | "me") => {
            matches!(word(at + 2), "batao" | "bata" | "bataiye" | "jaanna" | "janna").then_some(LIKELY_AT_END)
        }
        "kise" if matches!(after, "kehte" | "kahte") => Some(PLAIN_AT_END),
        "kisne" if matches!(after, "banaya" | "banayi" | "shuru" | "khoja" | "invent") => Some(LIKELY_AT_END),
        "sach" if after == "hai" => Some(PLAIN),
        _ => None,
    }
}

/// "... ke fayde", "... ke kitne types".
fn read_hindi_noun(said: &Said<'_>, at: usize, part: &Range<usize>) -> Option<Sign> {
    let word = |at| said.word_in(part, at);
    let before = word(at.wrapping_sub(1));
    match word(at) {
        // How many there are of it, and not how much it is.
        "types" | "prakar" if before == "kitne" => Some(PLAIN_AT_END),
        _ if matches!(before, "ke" | "ka" | "ki" | "kya" | "kaun" | "kaunse") => Some(LIKELY_AT_END),
        _ => None,
    }
}

/// Not what is wrong, or when and where something is.
fn is_a_thing_to_ask(word: &str) -> bool {
    !matches!(word, "" | "problem" | "dikkat" | "issue" | "kharabi" | "time" | "naam" | "address" | "plan" | "option")
}

/// "... compulsory hai kya", "... safe hota hai kya".
fn is_asked_of_a_predicate(said: &Said<'_>, at: usize, part: &Range<usize>) -> bool {
    let word = |at| said.word_in(part, at);
    let is_end = matches!(word(at.wrapping_sub(1)), "hai" | "hain");
    is_end && said.holds(part.start..at, Roles::PREDICATE)
}
