//! The words and signs of a text of hours, each with its meaning. How they hang together is the grammar's business.

use super::{DAY_MINUTES, UnreadAvailability};

/// Characters of a word that is told back when it is not understood.
const QUOTED_MAX_CHARS: usize = 24;
/// Days as bits, Monday the lowest.
pub(super) const ALL_DAYS: u8 = 0b111_1111;
const WEEKDAYS: u8 = 0b001_1111;
const WEEKEND: u8 = 0b110_0000;

/// One word or sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A day, 0 is Monday.
    Day(u8),
    /// Several days, as bits.
    Days(u8),
    /// A time of day in minutes; 24:00 is [`DAY_MINUTES`], and midnight in words or as 12am is 0.
    Time(u16),
    WholeDay,
    /// Not open.
    Closed,
    /// From one to the other.
    Dash,
    /// One and the other.
    Comma,
    /// Here something new begins.
    Separator,
}

/// Phrases that say in several words what one word says. Longer ones stand before those that they contain.
const PHRASES: [(&str, &str); 23] = [
    ("indian standard time", " "),
    ("asia/kolkata", " "),
    ("asia/calcutta", " "),
    ("utc+05:30", " "),
    ("utc+5:30", " "),
    ("gmt+05:30", " "),
    ("gmt+5:30", " "),
    ("+05:30", " "),
    ("round the clock", " 24x7 "),
    ("always", " 24x7 "),
    ("anytime", " 24x7 "),
    ("seven days a week", " daily "),
    ("7 days a week", " daily "),
    ("all 7 days", " daily "),
    ("7 days", " daily "),
    ("every day", " daily "),
    ("all days", " daily "),
    ("all day", " 24x7 "),
    ("a.m.", "am "),
    ("p.m.", "pm "),
    ("a.m", "am "),
    ("p.m", "pm "),
    ("working days", " weekdays "),
];

pub(super) fn split(text: &str) -> Result<Vec<Token>, UnreadAvailability> {
    let folded = fold(text);
    let mut rest = Rest { text: &folded };
    let mut tokens = Vec::new();
    while let Some(first) = rest.text.chars().next() {
        if first.is_ascii_digit() {
            let after_dash = tokens.last() == Some(&Token::Dash);
            tokens.push(rest.number(after_dash)?);
        } else if first.is_alphabetic() {
            tokens.extend(word(rest.take(char::is_alphabetic))?);
        } else {
            tokens.extend(sign(first)?);
            rest.skip(first.len_utf8());
        }
    }
    Ok(tokens)
}

/// One spelling of what is written in many: lower case, one dash, one space, one word for a phrase.
fn fold(text: &str) -> String {
    let one = |c: char| match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '~' => '-',
        '×' => 'x',
        '\n' | '\r' | '|' => ';',
        _ if c.is_whitespace() => ' ',
        _ => c,
    };
    let lower: String = text.chars().map(one).flat_map(char::to_lowercase).collect();
    let spaced = lower.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    PHRASES.iter().fold(spaced, |text, (phrase, word)| text.replace(phrase, word))
}

fn sign(sign: char) -> Result<Option<Token>, UnreadAvailability> {
    match sign {
        '-' => Ok(Some(Token::Dash)),
        ',' | '&' | '/' | '+' => Ok(Some(Token::Comma)),
        ';' => Ok(Some(Token::Separator)),
        ' ' | ':' | '.' | '(' | ')' | '[' | ']' => Ok(None),
        _ => Err(UnreadAvailability::Unknown(sign.to_string())),
    }
}

fn word(word: &str) -> Result<Option<Token>, UnreadAvailability> {
    Ok(Some(match word {
        "mo" | "mon" | "monday" | "mondays" => Token::Day(0),
        "tu" | "tue" | "tues" | "tuesday" | "tuesdays" => Token::Day(1),
        "we" | "wed" | "weds" | "wednesday" | "wednesdays" => Token::Day(2),
        "th" | "thu" | "thur" | "thurs" | "thursday" | "thursdays" => Token::Day(3),
        "fr" | "fri" | "friday" | "fridays" => Token::Day(4),
        "sa" | "sat" | "saturday" | "saturdays" => Token::Day(5),
        "su" | "sun" | "sunday" | "sundays" => Token::Day(6),
        "daily" | "everyday" => Token::Days(ALL_DAYS),
        "weekday" | "weekdays" => Token::Days(WEEKDAYS),
        "weekend" | "weekends" => Token::Days(WEEKEND),
        "noon" => Token::Time(DAY_MINUTES / 2),
        "midnight" => Token::Time(0),
        "closed" | "off" => Token::Closed,
        "to" | "till" | "til" | "until" | "through" | "thru" => Token::Dash,
        "and" => Token::Comma,
        "ist" | "hr" | "hrs" | "hours" | "open" | "available" | "from" | "on" => return Ok(None),
        _ => return Err(UnreadAvailability::Unknown(quote(word))),
    }))
}

fn quote(text: &str) -> String {
    text.chars().take(QUOTED_MAX_CHARS).collect()
}

/// What has not been read yet.
struct Rest<'a> {
    text: &'a str,
}

impl<'a> Rest<'a> {
    fn skip(&mut self, bytes: usize) {
        self.text = &self.text[bytes..];
    }

    /// Takes what fits from the front.
    fn take(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let end = self.text.find(|c| !fits(c)).unwrap_or(self.text.len());
        let (taken, rest) = self.text.split_at(end);
        self.text = rest;
        taken
    }

    /// Takes a word after spaces, if it is this one and ends there.
    fn take_word(&mut self, word: &str) -> bool {
        let Some(rest) = self.text.trim_start().strip_prefix(word) else { return false };
        let ends = !rest.starts_with(|c: char| c.is_alphanumeric());
        if ends {
            self.text = rest;
        }
        ends
    }

    /// Takes a time of day, `24x7` or `24 hours`; the text begins with a digit.
    fn number(&mut self, after_dash: bool) -> Result<Token, UnreadAvailability> {
        let whole = self.text;
        let digits = self.take(|c| c.is_ascii_digit());
        if digits == "24" && !after_dash && self.take_whole_day() {
            return Ok(Token::WholeDay);
        }
        if digits == "12" && self.take_word("noon") {
            return Ok(Token::Time(DAY_MINUTES / 2));
        }
        if digits == "12" && self.take_word("midnight") {
            return Ok(Token::Time(0));
        }
        let minutes = self.take_minutes();
        let half = if self.take_word("am") {
            Some(0)
        } else if self.take_word("pm") {
            Some(12)
        } else {
            None
        };
        let time = match (half, minutes, digits.len()) {
            (Some(half), minutes, 1..=2) => twelve_hour(digits, minutes.unwrap_or("0"), half),
            (None, Some(minutes), 1..=2) => time(digits, minutes),
            (None, None, 4) => time(&digits[..2], &digits[2..]),
            // A bare number may be of either half of the day.
            _ => None,
        };
        let read = whole.len() - self.text.len();
        time.map(Token::Time).ok_or_else(|| UnreadAvailability::NoTime(quote(whole[..read].trim_end())))
    }

    /// Takes what makes a whole day of the `24` before it.
    fn take_whole_day(&mut self) -> bool {
        if ["hours", "hour", "hrs", "hr", "h"].into_iter().any(|word| self.take_word(word)) {
            return true;
        }
        let Some(rest) = self.text.trim_start().strip_prefix(['x', '/', '*']) else { return false };
        let Some(rest) = rest.trim_start().strip_prefix('7') else { return false };
        let rest = ["x365", "/365", "*365"].iter().find_map(|year| rest.strip_prefix(year)).unwrap_or(rest);
        let ends = !rest.starts_with(|c: char| c.is_ascii_digit());
        if ends {
            self.text = rest;
        }
        ends
    }

    /// Takes `:mm` or `.mm`.
    fn take_minutes(&mut self) -> Option<&'a str> {
        let rest = self.text.strip_prefix([':', '.'])?;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (minutes, rest) = rest.split_at(end);
        if minutes.len() != 2 {
            return None;
        }
        self.text = rest;
        Some(minutes)
    }
}

fn time(hours: &str, minutes: &str) -> Option<u16> {
    let (hours, minutes): (u16, u16) = (hours.parse().ok()?, minutes.parse().ok()?);
    let time = hours.checked_mul(60)?.checked_add(minutes)?;
    (minutes < 60 && time <= DAY_MINUTES).then_some(time)
}

/// `half` is 0 before noon and 12 after it; twelve o'clock begins either half.
fn twelve_hour(hours: &str, minutes: &str, half: u16) -> Option<u16> {
    let (hours, minutes): (u16, u16) = (hours.parse().ok()?, minutes.parse().ok()?);
    ((1..=12).contains(&hours) && minutes < 60).then(|| (hours % 12 + half) * 60 + minutes)
}
