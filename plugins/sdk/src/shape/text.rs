//! Texts whose writing is judged: non-empty text, URLs, phone numbers, locale tags, versions.

use super::desc::{Kind, TextFormat, ValueDesc};
use super::leaf::text_within_bounds;
use super::read::{At, Described, Shape, wrong_type};
use crate::card::{CardJson, Piece};
use crate::code;
use crate::json::Parser;
use crate::violations::{Quoted, Violations};
use std::borrow::Cow;
use std::ops::Deref;

/// Least and most digits of a phone number (E.164 allows 15).
const PHONE_DIGITS: std::ops::RangeInclusive<usize> = 2..=15;

/// Most characters of one subtag of a locale tag (BCP 47).
const MAX_SUBTAG_CHARS: usize = 8;

macro_rules! text_shapes {
    ($($(#[$doc:meta])* $name:ident, $format:ident, $sound:path;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name<'a>(Cow<'a, str>);

        impl Deref for $name<'_> {
            type Target = str;
            #[inline]
            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl CardJson for $name<'_> {
            #[inline]
            fn push_json(&self, json: &mut String) {
                self.0.push_json(json);
            }
        }

        impl Piece for $name<'_> {
            #[inline]
            fn push_to(&self, text: &mut String) {
                text.push_str(&self.0);
            }
        }

        impl Described for $name<'_> {
            const DESC: ValueDesc = ValueDesc::of(Kind::Text(TextFormat::$format));
        }

        impl<'a> Shape<'a> for $name<'a> {
            #[inline]
            fn read(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Self> {
                if from.peek() != b'"' {
                    return wrong_type(from, at, out);
                }
                let text = text_within_bounds(from, at, out)?;
                if $sound(&text) {
                    return Some(Self(text));
                }
                report_bad_format(TextFormat::$format, &text, at, out);
                None
            }
        }
    )*};
}

text_shapes! {
    /// A text that says something: identifiers, names. Blanks alone say nothing.
    Text, NonBlank, says_something;
    /// A URL with the scheme `https` and a host.
    HttpsUrl, HttpsUrl, is_https_url;
    /// A URL with the scheme `http` or `https` and a host.
    WebUrl, WebUrl, is_web_url;
    /// A phone number by E.164: `+` and 2 to 15 digits, the first not 0.
    Phone, Phone, is_phone;
    /// A language tag by BCP 47, for example `en-IN`.
    LocaleTag, Locale, is_locale_tag;
    /// A version by semver, for example `1.0.0`.
    SemverText, Semver, is_semver;
}

#[cold]
#[inline(never)]
fn report_bad_format(format: TextFormat, text: &str, at: &At<'_>, out: &mut Violations) {
    if text.trim().is_empty() {
        out.push(at, code::EMPTY, format_args!("Found an empty text; expected: {}.", format.label()));
    } else {
        out.push(at, code::BAD_FORMAT, format_args!("Found {}; expected: {}.", Quoted(text), format.label()));
    }
}

#[inline]
fn says_something(text: &str) -> bool {
    // Nearly every text starts with something that is not blank.
    text.as_bytes().first().is_some_and(u8::is_ascii_graphic) || !text.trim().is_empty()
}

fn is_https_url(text: &str) -> bool {
    text.strip_prefix("https://").is_some_and(is_after_scheme)
}

fn is_web_url(text: &str) -> bool {
    is_https_url(text) || text.strip_prefix("http://").is_some_and(is_after_scheme)
}

/// Whether a URL goes on soundly after `://`: a host, perhaps a port, and no character that no URL has.
fn is_after_scheme(rest: &str) -> bool {
    !has_blank(rest) && (starts_with_plain_host(rest) || is_authority(authority(rest)))
}

/// What stands in front of a path, a query or a fragment.
fn authority(rest: &str) -> &str {
    let is_end = |byte: &u8| matches!(byte, b'/' | b'?' | b'#');
    let end = rest.as_bytes().iter().position(is_end).unwrap_or(rest.len());
    &rest[..end]
}

/// Whether a text holds a blank, a control character or a backslash; no URL does. Eight bytes at a time.
fn has_blank(text: &str) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    /// Any letter: what a text of less than a word is filled up with.
    const FILLED_UP: [u8; 8] = [b'a'; 8];
    let bytes = text.as_bytes();
    let (mut found, mut all) = (0, 0);
    let mut look = |chunk: &[u8; 8]| {
        // The highest bit of a byte comes out set if the byte, or one below it, is odd.
        let word = u64::from_le_bytes(*chunk);
        let (delete, backslash) = (word ^ (ONES * 0x7f), word ^ (ONES * b'\\' as u64));
        let low = word.wrapping_sub(ONES * 0x21) & !word;
        found |= low | (delete.wrapping_sub(ONES) & !delete) | (backslash.wrapping_sub(ONES) & !backslash);
        all |= word;
    };
    bytes.chunks_exact(8).filter_map(|chunk| chunk.first_chunk()).for_each(&mut look);
    // The last word may have been looked at in part.
    if let Some(last) = bytes.last_chunk() {
        look(last);
    } else {
        let mut filled = FILLED_UP;
        filled[..bytes.len()].copy_from_slice(bytes);
        look(&filled);
    }
    found & HIGHS != 0 || (all & HIGHS != 0 && text.chars().any(|letter| letter.is_whitespace() || letter.is_control()))
}

/// Whether the authority is a host name of ASCII letters and nothing else, as nearly all are.
fn starts_with_plain_host(rest: &str) -> bool {
    let mut is_in_label = false;
    for byte in rest.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' => is_in_label = true,
            b'.' if is_in_label => is_in_label = false,
            b'/' | b'?' | b'#' => break,
            _ => return false,
        }
    }
    is_in_label
}

fn is_authority(authority: &str) -> bool {
    let host_and_port = authority.rsplit_once('@').map_or(authority, |(_, after)| after);
    if let Some(v6) = host_and_port.strip_prefix('[') {
        return v6.split_once(']').is_some_and(|(address, port)| {
            address.parse::<std::net::Ipv6Addr>().is_ok()
                && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
        });
    }
    let (host, port) = match host_and_port.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (host_and_port, None),
    };
    is_host(host) && port.is_none_or(is_port)
}

fn is_host(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    !host.is_empty()
        && host.split('.').all(|label| {
            !label.is_empty() && label.chars().all(|letter| letter.is_alphanumeric() || letter == '-' || letter == '_')
        })
}

fn is_port(port: &str) -> bool {
    port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok()
}

fn is_phone(text: &str) -> bool {
    text.strip_prefix('+').is_some_and(|digits| {
        PHONE_DIGITS.contains(&digits.len())
            && !digits.starts_with('0')
            && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn is_locale_tag(text: &str) -> bool {
    let mut subtags = text.split('-');
    let language = subtags.next().unwrap_or_default();
    (2..=MAX_SUBTAG_CHARS).contains(&language.len())
        && language.bytes().all(|byte| byte.is_ascii_alphabetic())
        && subtags.all(|subtag| {
            (1..=MAX_SUBTAG_CHARS).contains(&subtag.len()) && subtag.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

fn is_semver(text: &str) -> bool {
    let (text, build) = match text.split_once('+') {
        Some((before, build)) => (before, Some(build)),
        None => (text, None),
    };
    let (core, pre) = match text.split_once('-') {
        Some((core, pre)) => (core, Some(pre)),
        None => (text, None),
    };
    let is_number = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) && (part == "0" || !part.starts_with('0'))
    };
    let is_word =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    core.split('.').count() == 3
        && core.split('.').all(is_number)
        && build.is_none_or(|build| build.split('.').all(is_word))
        && pre.is_none_or(|pre| {
            pre.split('.')
                .all(|part| is_word(part) && (is_number(part) || !part.bytes().all(|byte| byte.is_ascii_digit())))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sound: fn(&str) -> bool, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(sound(text), "refused: {text:?}");
        }
        for text in bad {
            assert!(!sound(text), "accepted: {text:?}");
        }
    }

    #[test]
    fn https_urls() {
        check(
            is_https_url,
            &[
                "https://example.com",
                "https://example.com/terms?x=1#top",
                "https://user@example.com:8443/x",
                "https://[2001:db8::1]:443/",
                "https://bücher.example/ä",
                "https://example.com./",
                "https://localhost",
            ],
            &[
                "",
                "http://example.com",
                "HTTPS://example.com",
                "https:/example.com",
                "https://",
                "https:///path",
                "https://?x",
                "https://exa mple.com",
                "https://example.com/a b",
                "https://example.com/\n",
                "https://example.com/\u{a0}",
                "https://a..b",
                "https://example.com:port/",
                "https://example.com:99999/",
                "https://example.com:+80/",
                "https://[::1",
                "https://[zz]/",
                " https://example.com",
                "https://example.com\\@evil.com",
                "https://example.com/1234567890 234567890",
                "https://example.com/1234567890\u{7f}234567890",
                "https://example.com/1234567890\\234567890",
            ],
        );
        check(is_web_url, &["http://example.com", "https://example.com"], &["ftp://example.com", "example.com"]);
    }

    #[test]
    fn blanks_are_found_wherever_they_stand() {
        for length in 0..20 {
            let sound: Vec<u8> = (0..length).map(|place| b'!' + place).collect();
            assert!(!has_blank(std::str::from_utf8(&sound).unwrap()));
            for place in 0..usize::from(length) {
                for odd in [0, b'\n', b' ', 0x7f, b'\\'] {
                    let mut text = sound.clone();
                    text[place] = odd;
                    assert!(has_blank(std::str::from_utf8(&text).unwrap()), "{odd} at {place} of {length}");
                }
            }
        }
        assert!(has_blank("a\u{a0}") && has_blank("a\u{85}") && !has_blank("éßñ日本~}|{"));
    }

    #[test]
    fn phones_locales_versions_and_names() {
        check(
            is_phone,
            &["+919812345678", "+12", "+123456789012345"],
            &["919812345678", "+0123", "+1", "+1234567890123456", "+91 98123", "+", "", "+९१२३"],
        );
        check(
            is_locale_tag,
            &["en", "en-IN", "hi-Deva-IN", "sr-Latn-RS-1994"],
            &["", "e", "en_IN", "en-", "-IN", "en-123456789", "12"],
        );
        check(
            is_semver,
            &["0.0.0", "1.0.0", "1.2.3-rc.1+b.7", "1.0.0-x-y"],
            &["1", "1.0", "1.0.0.0", "01.0.0", "v1.0.0", "1.0.0-", "1.0.0-01", "1.0.0+", "", "1.0.a"],
        );
        check(says_something, &["a", " a", "é"], &["", " ", "\t\u{a0}"]);
    }
}
