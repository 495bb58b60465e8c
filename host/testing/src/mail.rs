//! A letterbox in place of mail.

use std::sync::{Mutex, MutexGuard};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use intent_gateway_domain::mail::{Mail, MailError};
use intent_gateway_domain::ports::Mailer;

/// Keeps what was sent, or refuses it.
#[derive(Default)]
pub struct Letterbox {
    mails: Mutex<Vec<Mail>>,
    refuses: Mutex<Option<MailError>>,
}

impl Letterbox {
    /// From here on, no mail is taken.
    pub fn refuse(&self, error: MailError) {
        *self.refuses.lock().expect("no test panics in it") = Some(error);
    }

    /// From here on, every mail is taken.
    pub fn accept(&self) {
        *self.refuses.lock().expect("no test panics in it") = None;
    }

    /// Every mail that was taken, in its order.
    pub fn mails(&self) -> Vec<Mail> {
        self.held().clone()
    }

    /// Every mail since they were last taken out.
    pub fn take_mails(&self) -> Vec<Mail> {
        std::mem::take(&mut *self.held())
    }

    /// The code in the last mail to an address.
    pub fn code_to(&self, address: &str) -> Option<String> {
        self.mails().iter().rfind(|mail| mail.to == address).and_then(code_in)
    }

    fn held(&self) -> MutexGuard<'_, Vec<Mail>> {
        self.mails.lock().expect("no test panics in it")
    }
}

/// The six digits in a mail.
pub fn code_in(mail: &Mail) -> Option<String> {
    let is_code = |word: &&str| word.len() == 6 && word.bytes().all(|byte| byte.is_ascii_digit());
    mail.text.split_whitespace().find(is_code).map(str::to_owned)
}

impl Mailer for Letterbox {
    fn send<'a>(&'a self, mail: &'a Mail) -> BoxFuture<'a, Result<(), MailError>> {
        let refused = self.refuses.lock().expect("no test panics in it").clone();
        if let Some(error) = refused {
            return ready(Err(error)).boxed();
        }
        self.held().push(mail.clone());
        ready(Ok(())).boxed()
    }
}
