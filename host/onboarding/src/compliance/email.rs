//! Corporate e-mail addresses (spec 1, Authentication 5): well-formed, and not of a provider where anybody gets one.

use std::collections::HashSet;
use std::sync::LazyLock;

use email_address::{EmailAddress, Options};

/// Bytes of an address (RFC 5321, section 4.5.3.1.3: a path of 256 with its brackets).
const ADDRESS_MAX_BYTES: usize = 254;
/// Bytes of the part before the `@` (RFC 5321, section 4.5.3.1.1).
const LOCAL_PART_MAX_BYTES: usize = 64;

/// Providers where anybody gets an address.
static FREE_MAIL: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let lines = include_str!("free_mail_domains.txt").lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
});

/// An address of a business: lower case, without blanks around it. What follows a `+` stays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CorporateEmail(String);

/// The text is no address of a business.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidEmail {
    /// Longer than mail permits.
    #[error("the e-mail address is too long")]
    TooLong,
    /// Not an address.
    #[error("this is no e-mail address")]
    Malformed,
    /// Anybody gets an address there.
    #[error("use your business's own e-mail domain: addresses of free mail providers are not accepted")]
    FreeMail,
}

impl InvalidEmail {
    /// Stable code.
    #[must_use]
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::TooLong => "TOO_LONG",
            Self::Malformed => "BAD_FORMAT",
            Self::FreeMail => "FREE_MAIL_DOMAIN",
        }
    }
}

impl CorporateEmail {
    /// Checks an address and brings it into the form by which it is compared.
    ///
    /// # Errors
    /// [`InvalidEmail`], the first rule broken.
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidEmail> {
        let text = text.trim();
        let local = text.rsplit_once('@').map_or(text, |(local, _)| local);
        if text.len() > ADDRESS_MAX_BYTES || local.len() > LOCAL_PART_MAX_BYTES {
            return Err(InvalidEmail::TooLong);
        }
        if !is_email_address(text) {
            return Err(InvalidEmail::Malformed);
        }
        let address = Self(text.to_ascii_lowercase());
        if is_free_mail(address.domain()) { Err(InvalidEmail::FreeMail) } else { Ok(address) }
    }

    /// The address.
    #[must_use]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    fn domain(&self) -> &str {
        self.0.rsplit_once('@').map_or("", |(_, domain)| domain)
    }
}

/// Whether a text is an address that any mail server takes. Narrower than the grammar: no quoted local part, no
/// comment, no address literal, ASCII only, a domain with a dot and letters behind the last one.
#[must_use]
pub fn is_email_address(text: &str) -> bool {
    let options = Options::default().with_required_tld().without_domain_literal().without_display_text();
    if text.len() > ADDRESS_MAX_BYTES || EmailAddress::parse_with_options(text, options).is_err() {
        return false;
    }
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let top = domain.rsplit('.').next().unwrap_or_default();
    local.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"(),:;<>@[\\]".contains(&byte))
        && domain.contains('.')
        && domain.split('.').all(label)
        && top.len() >= 2
        && top.starts_with(|first: char| first.is_ascii_alphabetic())
}

/// The address of the mailbox that mail to an address reaches where the mail system knows tags: what follows a `+` is left out. For
/// counting mails alone: elsewhere the two are different people's. Dots stay, for they count at a business's own domain.
pub(crate) fn mailbox(address: &str) -> String {
    let plain = address.rsplit_once('@').and_then(|(local, domain)| {
        let (plain, _tag) = local.split_once('+').filter(|(plain, _)| !plain.is_empty())?;
        Some(format!("{plain}@{domain}").to_ascii_lowercase())
    });
    plain.unwrap_or_else(|| address.to_ascii_lowercase())
}

/// Whether a domain, in lower case, or one that it is a part of is on the list.
fn is_free_mail(domain: &str) -> bool {
    let mut rest = Some(domain);
    while let Some(domain) = rest {
        if FREE_MAIL.contains(domain) {
            return true;
        }
        rest = domain.split_once('.').map(|(_, parent)| parent);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corporate_addresses_are_normalised() {
        for (written, kept) in [
            ("ops@coolcar.in", "ops@coolcar.in"),
            ("  Ops.Team+gw@CoolCar.CO.IN \n", "ops.team+gw@coolcar.co.in"),
            ("o'brien_1@a-b.example", "o'brien_1@a-b.example"),
            ("x@xn--h1alffa9f.xn--p1ai", "x@xn--h1alffa9f.xn--p1ai"),
            ("ops@gmail.com.coolcar.in", "ops@gmail.com.coolcar.in"),
            ("ops@notgmail.com", "ops@notgmail.com"),
        ] {
            assert_eq!(CorporateEmail::parse(written).as_ref().map(CorporateEmail::as_str), Ok(kept), "{written}");
        }
    }

    #[test]
    fn addresses_with_tags_are_one_mailbox() {
        for (address, expected) in [
            ("ops@coolcar.in", "ops@coolcar.in"),
            ("ops+1@coolcar.in", "ops@coolcar.in"),
            ("OPS+a+b@CoolCar.in", "ops@coolcar.in"),
            ("ops+@coolcar.in", "ops@coolcar.in"),
            ("+ops@coolcar.in", "+ops@coolcar.in"),
            ("o.ps+1@coolcar.in", "o.ps@coolcar.in"),
        ] {
            assert_eq!(mailbox(address), expected, "{address}");
        }
    }

    #[test]
    fn malformed_addresses_are_refused() {
        for written in [
            "",
            "@",
            "ops",
            "ops@",
            "@coolcar.in",
            "ops@coolcar",
            "ops@@coolcar.in",
            "o ps@coolcar.in",
            "ops@cool car.in",
            ".ops@coolcar.in",
            "ops.@coolcar.in",
            "o..ps@coolcar.in",
            "ops@.coolcar.in",
            "ops@coolcar.in.",
            "ops@cool..car.in",
            "ops@-coolcar.in",
            "ops@coolcar-.in",
            "ops@cool_car.in",
            "ops@127.0.0.1",
            "ops@[127.0.0.1]",
            "\"o ps\"@coolcar.in",
            "ops(x)@coolcar.in",
            "Ops <ops@coolcar.in>",
            "ops@coolcar.in,a@b.in",
            "ops@coolcar.in\r\nBcc: a@b.in",
            "öps@coolcar.in",
            "ops@cöolcar.in",
            "ops@coolcar.i",
            "ops@coolcar.1n",
        ] {
            assert_eq!(CorporateEmail::parse(written), Err(InvalidEmail::Malformed), "{written:?}");
        }
    }

    #[test]
    fn lengths_are_those_of_mail() {
        let label = "d".repeat(61);
        let of = |local: usize, last: usize| format!("{}@{label}.{label}.{}.in", "l".repeat(local), "e".repeat(last));
        let longest = of(64, 61);
        assert_eq!(longest.len(), 64 + 1 + 61 * 3 + 3 + 2);
        assert!(CorporateEmail::parse(&longest).is_ok());
        assert_eq!(CorporateEmail::parse(&of(65, 10)), Err(InvalidEmail::TooLong));
        assert_eq!(CorporateEmail::parse(&of(64, 63)), Err(InvalidEmail::TooLong));
    }

    #[test]
    fn free_mail_is_refused_with_its_subdomains() {
        for domain in [
            "gmail.com",
            "GMAIL.com",
            "yahoo.co.in",
            "rediffmail.com",
            "mailinator.com",
            "proton.me",
            "eu.mailinator.com",
        ] {
            let email = format!("ops@{domain}");
            assert_eq!(CorporateEmail::parse(&email), Err(InvalidEmail::FreeMail), "{domain}");
        }
    }

    #[test]
    fn the_list_is_clean() {
        let lines = include_str!("free_mail_domains.txt").lines();
        let domains: Vec<&str> = lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        assert!(domains.len() >= 200);
        assert_eq!(FREE_MAIL.len(), domains.len(), "each domain once");
        for domain in domains {
            assert!(is_email_address(&format!("x@{domain}")), "{domain}");
            assert_eq!(domain, domain.to_ascii_lowercase());
            let parent = domain.split_once('.').is_some_and(|(_, parent)| is_free_mail(parent));
            assert!(!parent, "{domain} is covered by its parent");
        }
    }
}
