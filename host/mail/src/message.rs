//! From a mail of the domain to a message of RFC 5322, or the refusal of one that must not travel.

use std::time::{Duration, UNIX_EPOCH};

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::mail::{Mail, MailError};
use lettre::Address;
use lettre::message::header::{ContentType, Header, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message};
use uuid::Uuid;

/// Longest address, bytes (RFC 5321, 4.5.3.1.3, without the angle brackets).
const ADDRESS_MAX_BYTES: usize = 254;
/// Longest subject, characters.
const SUBJECT_MAX_CHARS: usize = 200;
/// Largest body, bytes.
const TEXT_MAX_BYTES: usize = 64 * 1024;

/// Tells other programs that no person wrote this, so that no holiday notice comes back (RFC 3834, 5).
#[derive(Clone, Debug)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

/// The recipient of a mail that is fit to travel. Nothing in it can become a header, a command or another recipient.
pub(crate) fn check(mail: &Mail) -> Result<Address, MailError> {
    let refuse = |what: &str| Err(MailError::Permanent(what.to_owned()));
    if mail.to.len() > ADDRESS_MAX_BYTES {
        return refuse("the recipient's address is too long");
    }
    let to: Address = match mail.to.parse() {
        Ok(address) if !mail.to.contains(char::is_control) => address,
        _ => return refuse("the recipient is no e-mail address"),
    };
    if mail.subject.is_empty() || mail.subject.chars().count() > SUBJECT_MAX_CHARS {
        return refuse("the subject is empty or too long");
    }
    if mail.subject.contains(char::is_control) {
        return refuse("the subject is not one line of text");
    }
    if mail.text.len() > TEXT_MAX_BYTES {
        return refuse("the body is too large");
    }
    if mail.text.contains(|c: char| c.is_control() && c != '\n' && c != '\t') {
        return refuse("the body is not plain text");
    }
    Ok(to)
}

/// The message of a mail, sent `now`.
pub(crate) fn message(mail: &Mail, sender: &Mailbox, now: Timestamp) -> Result<Message, MailError> {
    let to = check(mail)?;
    // The identifier must be the sender's own: a mail without one, or with `localhost`, looks like spam.
    let id = format!("<{}@{}>", Uuid::now_v7().simple(), sender.email.domain());
    Message::builder()
        .from(sender.clone())
        .to(Mailbox::new(None, to))
        .subject(mail.subject.clone())
        .date(UNIX_EPOCH + Duration::from_millis(now.as_ms()))
        .message_id(Some(id))
        .header(AutoSubmitted)
        .header(ContentType::TEXT_PLAIN)
        .body(mail.text.clone())
        .map_err(|error| MailError::Permanent(format!("the message cannot be made: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail(to: &str, subject: &str, text: &str) -> Mail {
        Mail { to: to.to_owned(), subject: subject.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn nothing_that_could_become_a_header_or_a_command_travels() {
        let good = mail("asha.rao+gw@coolcar.example", "Your code", "It is 493817.\n\n\tBye\n");
        assert_eq!(check(&good).map(|to| to.to_string()), Ok(good.to.clone()));
        for to in [
            "",
            "asha",
            "asha@",
            "@coolcar.example",
            "asha@coolcar.example\r\nBcc: all@coolcar.example",
            "asha@coolcar.example>\r\nRCPT TO:<all@coolcar.example",
            "\"a\r\nb\"@coolcar.example",
            "asha@coolcar.example, all@coolcar.example",
            "Asha <asha@coolcar.example>",
            " asha@coolcar.example",
            "asha@coolcar.example\0",
            &format!("asha@{}.example", "x".repeat(250)),
        ] {
            assert!(matches!(check(&mail(to, "Hello", "x")), Err(MailError::Permanent(_))), "{to:?}");
        }
        for subject in ["", "a\r\nBcc: x@y.example", "a\nb", "a\rb", "a\0b", "a\u{85}b", &"x".repeat(201)] {
            assert!(matches!(check(&mail("a@b.example", subject, "x")), Err(MailError::Permanent(_))), "{subject:?}");
        }
        for text in ["a\0b", "a\rb", "a\u{1b}[31mb", &"x".repeat(TEXT_MAX_BYTES + 1)] {
            assert!(matches!(check(&mail("a@b.example", "Hello", text)), Err(MailError::Permanent(_))), "{text:?}");
        }
    }

    #[test]
    fn a_message_has_the_headers_that_it_needs() {
        let sender: Mailbox = "Intent Gateway <no-reply@gw.example>".parse().unwrap();
        let message = message(
            &mail("asha@coolcar.example", "Code: ₹1", "नमस्ते\n"),
            &sender,
            Timestamp::from_ms(1_700_000_000_000),
        )
        .unwrap();
        let raw = String::from_utf8(message.formatted()).unwrap();
        for line in [
            "From: \"Intent Gateway\" <no-reply@gw.example>\r\n",
            "To: asha@coolcar.example\r\n",
            "Date: Tue, 14 Nov 2023 22:13:20 +0000\r\n",
            "Auto-Submitted: auto-generated\r\n",
            "Content-Type: text/plain; charset=utf-8\r\n",
            "@gw.example>\r\n",
        ] {
            assert!(raw.contains(line), "{line}\n{raw}");
        }
        assert!(raw.is_ascii(), "a server without 8BITMIME takes it too");
    }

    #[test]
    fn a_mail_that_is_not_fit_makes_no_message() {
        let sender: Mailbox = "no-reply@gw.example".parse().unwrap();
        assert!(message(&mail("a@b.example", "a\nb", "x"), &sender, Timestamp::EPOCH).is_err());
    }
}
