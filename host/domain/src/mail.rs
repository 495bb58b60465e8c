//! A mail that the platform sends, and why one was not taken. How it travels is for the `Mailer` port's
//! implementations; what it says is for those who send it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A plain-text mail to one recipient. The sender is the platform's own address, from the configuration.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mail {
    /// The recipient's address, without a display name.
    pub to: String,
    /// One line. It never holds a secret: mail servers log subjects.
    pub subject: String,
    /// The body, lines ended by `\n`. It may hold a sign-up code.
    pub text: String,
}

impl fmt::Debug for Mail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mail")
            .field("to", &self.to)
            .field("subject", &self.subject)
            .field("text", &format_args!("(redacted, {} bytes)", self.text.len()))
            .finish()
    }
}

/// A mail was not taken. The reason is for the log: it may name the recipient and never repeats the body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MailError {
    /// The same mail may be taken later: the server is down, busy, or asked to come back.
    #[error("the mail cannot be sent now: {0}")]
    Temporary(String),
    /// The same mail will never be taken: no such recipient, or it is not well-formed.
    #[error("the mail cannot be sent: {0}")]
    Permanent(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_is_not_shown() {
        let mail = Mail { to: "a@b.example".into(), subject: "Your code".into(), text: "It is 493817.".into() };
        let shown = format!("{mail:?}");
        assert!(shown.contains("a@b.example") && shown.contains("redacted, 13 bytes"), "{shown}");
        assert!(!shown.contains("493817"), "{shown}");
    }
}
