//! Sign-up and sign-in by a code sent to a corporate e-mail address (spec 1, Authentication 5), and the profile that
//! the compliance review looks at.
//!
//! What a stranger can ask for (a code for an address) is answered alike whether the address has an account or not.

use std::sync::Arc;

use serde_json::json;

use super::OnboardingError;
use super::keeper::{NOBODY, RecordKeeper};
use super::records::{Account, CodePurpose, EmailCode};
use crate::compliance::{CorporateEmail, Profile, mailbox};
use crate::manifest::BUSINESS_NAME_MAX_CHARS;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Refusal, Violation};
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::ports::PartnerProbe;
use intent_gateway_domain::steps::{Proposal, commit_unless_changed};
use intent_gateway_domain::store::{Change, List, Versioned, all, load, lookup, page};
use intent_gateway_domain::vault::{Mark, random};

/// Life of a code, milliseconds.
pub(crate) const CODE_TTL_MS: u64 = 10 * 60 * 1_000;
/// Tries to enter one code from one network: whoever guesses takes nobody else's tries.
pub(crate) const CODE_TRIES_MAX: u8 = 5;
/// Tries to enter one code from all networks together from which nobody has entered the account before.
pub(crate) const CODE_TRIES_ALL_MAX: u8 = 10;
/// Networks that are known by their having entered the account: the last ones.
pub(crate) const ENTERED_FROM_MAX: usize = 3;
/// Codes sent to one address within [`CODES_WINDOW_MS`] as soon as they are asked for, each in the place of the one before.
/// From then on each lives out its time, so that asking again and again neither outruns the mail of whoever enters nor
/// gives more codes to guess.
pub(crate) const CODES_PER_WINDOW_MAX: usize = 5;
/// Codes sent into one mailbox within [`CODES_WINDOW_MS`], up to which new addresses with a tag (`ops+1@`) get one. They share the
/// bound with the address without a tag, for which one of [`CODES_PER_WINDOW_MAX`] is left, and which alone gets those that come one
/// at a time: so all of them together get no more than one address does, and keep nobody out of it.
pub(crate) const TAGGED_CODES_PER_WINDOW_MAX: usize = CODES_PER_WINDOW_MAX - 1;
/// Time over which codes are counted, milliseconds.
pub(crate) const CODES_WINDOW_MS: u64 = 60 * 60 * 1_000;
/// Where a profile has its privacy policy.
pub const POLICY_URL: &str = "/privacy_policy_url";
/// The number of six-digit codes.
const CODES: u32 = 1_000_000;

/// A code is on its way, if anybody waits for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeSent {
    /// The address as it was understood.
    pub email: String,
    /// When the code is over.
    pub expires_at: Timestamp,
}

/// A code was right.
#[derive(Clone, Debug)]
pub struct SignedIn {
    /// Whose it was.
    pub account: Account,
    /// Whether the account is new.
    pub created: bool,
}

/// The accounts of businesses.
pub struct Accounts {
    pub(crate) keeper: RecordKeeper,
    /// Says which addresses may be called.
    pub(crate) probe: Arc<dyn PartnerProbe>,
}

impl Accounts {
    /// Sends a code with which an account can be opened, or entered if the address has one.
    ///
    /// # Errors
    /// [`OnboardingError::Refused`] for an address that is malformed or of a free-mail provider, or a bad name;
    /// [`OnboardingError::TooMany`] where the code before was used or tried too often, and it is the turn of the next only when
    /// its time is over: at most [`CODE_TTL_MS`], and after more than [`CODES_PER_WINDOW_MAX`] codes within an hour alone.
    pub async fn sign_up(&self, email: &str, business_name: &str, network: &str) -> Result<CodeSent, OnboardingError> {
        let email = corporate(email)?;
        let business_name = business_name.trim();
        if business_name.is_empty() || business_name.chars().count() > BUSINESS_NAME_MAX_CHARS {
            let message = format!("business_name is 1 to {BUSINESS_NAME_MAX_CHARS} characters");
            return Err(OnboardingError::invalid("/business_name", "INVALID_NAME", message));
        }
        let known = lookup::<Account>(&*self.keeper.store, &email).await?.is_some();
        let purpose = match known {
            true => CodePurpose::SignIn,
            false => CodePurpose::SignUp { business_name: business_name.to_owned() },
        };
        self.send_code(email, purpose, network).await
    }

    /// Sends a code to the address of an account; for any other address, nothing is sent and nothing tells.
    ///
    /// # Errors
    /// As [`sign_up`](Self::sign_up).
    pub async fn sign_in(&self, email: &str, network: &str) -> Result<CodeSent, OnboardingError> {
        let email = corporate(email)?;
        let known = lookup::<Account>(&*self.keeper.store, &email).await?.is_some();
        self.send_code(email, if known { CodePurpose::SignIn } else { CodePurpose::Nothing }, network).await
    }

    async fn send_code(&self, email: String, purpose: CodePurpose, network: &str) -> Result<CodeSent, OnboardingError> {
        self.keeper
            .step(async || {
                let now = self.keeper.now();
                let before = load::<EmailCode>(&*self.keeper.store, &email).await?;
                if let Some(before) = &before
                    && let Some(kept) = before.value.keep_for(&purpose, now, self.is_known(&before.value, network))?
                {
                    return Ok(Proposal::nothing(kept));
                }
                let mut change = Change::default();
                let goes_out = self.count_in_mailbox(&email, &purpose, &mut change).await?;
                let code = self.six_digits()?;
                let new = EmailCode {
                    purpose: purpose.clone(),
                    mark: Some(self.keeper.vault.mark(&code_context(&email), &code)),
                    attempts_left: CODE_TRIES_ALL_MAX,
                    ..EmailCode::none(&email, now)
                };
                let (revision, before) = before.map_or((0, None), |before| (before.revision, Some(before.value)));
                let mut value = match before {
                    // What is in the mailbox stays good, for nothing comes in its place.
                    Some(before) if !goes_out && before.is_alive(now, false) => before.asked_for_again(&purpose),
                    Some(EmailCode { sent_at_ms, tagged_sent_at_ms, entered_from, .. }) => {
                        EmailCode { sent_at_ms, tagged_sent_at_ms, entered_from, ..new }
                    }
                    None => new,
                };
                value.expires_at_ms = now.plus_ms(CODE_TTL_MS);
                value.sent_at_ms.retain(|at| at.plus_ms(CODES_WINDOW_MS) > now);
                value.sent_at_ms.push(now);
                let sent = CodeSent { email: email.clone(), expires_at: value.expires_at_ms };
                change.put(&Versioned { revision, value });
                // For nobody's address a mail is written as well, which goes nowhere: the work is the same.
                let to = if goes_out { &email } else { NOBODY };
                change.mail.push(self.keeper.mail(to, "Your code", code_mail(&code, &purpose))?);
                Ok(Proposal::new(change, sent))
            })
            .await
    }

    /// Whether a code goes out: to an address that has an account or is to get one, where its mailbox has not got too many for new
    /// addresses with tags. Such a code is counted within the change. Nobody is told which of it holds.
    async fn count_in_mailbox(
        &self,
        email: &str,
        purpose: &CodePurpose,
        change: &mut Change,
    ) -> Result<bool, OnboardingError> {
        let (now, plain) = (self.keeper.now(), mailbox(email));
        if plain == email {
            return Ok(*purpose != CodePurpose::Nothing);
        }
        let kept = load::<EmailCode>(&*self.keeper.store, &plain).await?;
        let mut kept = kept.unwrap_or_else(|| Versioned::new(EmailCode::none(&plain, now)));
        let goes_out = match purpose {
            CodePurpose::SignUp { .. } => kept.value.recent(now) < TAGGED_CODES_PER_WINDOW_MAX,
            CodePurpose::SignIn => true,
            CodePurpose::Nothing => false,
        };
        kept.value.tagged_sent_at_ms.retain(|at| at.plus_ms(CODES_WINDOW_MS) > now);
        if goes_out && *purpose != CodePurpose::SignIn {
            kept.value.tagged_sent_at_ms.push(now);
        }
        // Written in any case, so that the work is the same.
        change.put(&kept);
        Ok(goes_out)
    }

    /// Takes a code: opens the account that it was sent for, or enters it. A code is good once; `network` is where it is entered.
    ///
    /// # Errors
    /// [`OnboardingError::NotAccepted`] for a wrong code, which costs one of its tries, and for one that is too old,
    /// used, tried too often or was never sent: all alike.
    pub async fn verify(&self, email: &str, code: &str, network: &str) -> Result<SignedIn, OnboardingError> {
        let email = corporate(email).map_err(|_| OnboardingError::NotAccepted)?;
        let taken = self
            .keeper
            .step(async || {
                let kept = load::<EmailCode>(&*self.keeper.store, &email).await?;
                let Some(mut kept) = kept else { return Ok(Proposal::nothing(None)) };
                let code_is = |mark| self.keeper.vault.recognises(&code_context(&email), mark, code);
                let tried_here = |mark: &&Mark| self.recognises_network(&kept.value, mark, network);
                let tries_left = kept.value.tried_from.iter().filter(tried_here).count() < usize::from(CODE_TRIES_MAX);
                let known = self.is_known(&kept.value, network);
                let alive = kept.value.is_alive(self.keeper.now(), known) && tries_left;
                let right = kept.value.mark.as_ref().is_some_and(code_is);
                let mut change = Change::default();
                if alive && right && kept.value.purpose != CodePurpose::Nothing {
                    return self.enter(kept, network).await;
                }
                if !alive {
                    return Ok(Proposal::nothing(None));
                }
                kept.value.tried_from.push(self.keeper.vault.mark(&network_context(&email), network));
                if !known {
                    kept.value.attempts_left -= 1;
                }
                change.put(&kept);
                Ok(Proposal::new(change, None))
            })
            .await?;
        taken.ok_or(OnboardingError::NotAccepted)
    }

    /// The code was right: it is used up, and its account is there afterwards.
    async fn enter(
        &self,
        mut kept: Versioned<EmailCode>,
        network: &str,
    ) -> Result<Proposal<Option<SignedIn>>, OnboardingError> {
        kept.value.mark = None;
        // Whoever reads the mailbox has asked for these codes, or does not mind them: the count begins anew.
        kept.value.sent_at_ms.clear();
        kept.value.tagged_sent_at_ms.clear();
        self.remember(&mut kept.value, network);
        let email = &kept.value.email;
        let mut change = Change::default();
        change.put(&kept);
        let plain = mailbox(email);
        if plain != *email
            && let Some(mut counted) = load::<EmailCode>(&*self.keeper.store, &plain).await?
        {
            counted.value.tagged_sent_at_ms.clear();
            change.put(&counted);
        }
        let existing = lookup::<Account>(&*self.keeper.store, email).await?.map(|account| account.value);
        let created = existing.is_none();
        let account = match (existing, &kept.value.purpose) {
            (Some(account), _) => account,
            (None, CodePurpose::SignUp { business_name }) => {
                let id = PartnerId::parse(&self.keeper.new_id("ptr_")?).expect("letters, digits and an underscore");
                Account::new(id, email.clone(), business_name.clone(), self.keeper.now())
            }
            (None, CodePurpose::SignIn | CodePurpose::Nothing) => return Ok(Proposal::nothing(None)),
        };
        let actor = Actor { from: Some(network.to_owned()).filter(|from| !from.is_empty()), ..partner(&account.id) };
        if created {
            change.put(&Versioned::new(account.clone()));
            change.audit.push(self.keeper.audit_entry(&actor, "account.opened", &account.id, json!({})));
        } else {
            change.audit.push(self.keeper.audit_entry(&actor, "account.entered", &account.id, json!({"by": "code"})));
        }
        Ok(Proposal::new(change, Some(SignedIn { account, created })))
    }

    /// Whether a right code was entered from this network before.
    fn is_known(&self, code: &EmailCode, network: &str) -> bool {
        code.entered_from.iter().any(|mark| self.recognises_network(code, mark, network))
    }

    fn recognises_network(&self, code: &EmailCode, mark: &Mark, network: &str) -> bool {
        self.keeper.vault.recognises(&network_context(&code.email), mark, network)
    }

    /// Notes that a right code was entered from this network.
    fn remember(&self, code: &mut EmailCode, network: &str) {
        if network.is_empty() {
            return;
        }
        let mut entered_from = std::mem::take(&mut code.entered_from);
        entered_from.retain(|mark| !self.recognises_network(code, mark, network));
        entered_from.push(self.keeper.vault.mark(&network_context(&code.email), network));
        let too_many = entered_from.len().saturating_sub(ENTERED_FROM_MAX);
        entered_from.drain(..too_many);
        code.entered_from = entered_from;
    }

    /// The account that an address has, for the records of who tried to enter it.
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn account_of(&self, email: &str) -> Result<Option<PartnerId>, OnboardingError> {
        let Ok(email) = corporate(email) else { return Ok(None) };
        Ok(lookup::<Account>(&*self.keeper.store, &email).await?.map(|kept| kept.value.id))
    }

    /// Forgets codes that are over and whose mails need not be counted any more. What a right code was entered for stays: it knows the
    /// networks.
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn forget_codes(&self) -> Result<(), OnboardingError> {
        for kept in all::<EmailCode>(&*self.keeper.store, None).await? {
            let now = self.keeper.clock.settled();
            if kept.value.recent(now) > 0 || now < kept.value.expires_at_ms || !kept.value.entered_from.is_empty() {
                continue;
            }
            let mut change = Change::default();
            change.delete(&kept);
            // Somebody asks for another one at this very moment: then it is not to be forgotten.
            commit_unless_changed(&*self.keeper.store, change).await?;
        }
        Ok(())
    }

    /// An account.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`] when there is none.
    pub async fn get(&self, account: &PartnerId) -> Result<Account, OnboardingError> {
        Ok(self.keeper.require::<Account>(account.as_str(), "account").await?.value)
    }

    /// Accounts in order of their identifiers.
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn list(&self, list: List<'_>) -> Result<Vec<Account>, OnboardingError> {
        Ok(page::<Account>(&*self.keeper.store, list).await?.into_iter().map(|kept| kept.value).collect())
    }

    /// Keeps what the compliance review looks at.
    ///
    /// # Errors
    /// [`OnboardingError::Refused`] with every violation.
    pub async fn set_profile(
        &self,
        account: &PartnerId,
        profile: Profile,
        actor: &Actor,
    ) -> Result<Account, OnboardingError> {
        let mut violations = profile.check();
        if violations.iter().all(|violation| violation.pointer != POLICY_URL) {
            violations.extend(self.check_policy_url(&profile.privacy_policy_url));
        }
        if !violations.is_empty() {
            return Err(OnboardingError::Refused(Refusal::invalid_request(violations)));
        }
        self.keeper
            .step(async || {
                let mut kept = self.keeper.require::<Account>(account.as_str(), "account").await?;
                kept.value.profile = Some(profile.clone());
                let mut change = Change::default();
                change.put(&kept);
                change.audit.push(self.keeper.audit_entry(actor, "profile.set", account, json!({})));
                Ok(Proposal::new(change, kept.value))
            })
            .await
    }

    /// Why the privacy policy may not be fetched where it is said to be, if it may not: which addresses are called is not
    /// seen by their form.
    #[must_use]
    pub fn check_policy_url(&self, url: &str) -> Option<Violation> {
        let refused = self.probe.admits(&Endpoint::mcp(url)).err()?;
        let (pointer, code) = (POLICY_URL.to_owned(), "INVALID_URL".to_owned());
        Some(Violation { pointer, code, message: format!("privacy_policy_url: {refused}") })
    }

    /// Every code equally likely.
    fn six_digits(&self) -> Result<String, OnboardingError> {
        // Numbers past the last whole multiple of the count are drawn again, or low codes would come more often.
        let bound = u32::MAX - u32::MAX % CODES;
        loop {
            let number = u32::from_be_bytes(random(self.keeper.vault.entropy())?);
            if number < bound {
                return Ok(format!("{:06}", number % CODES));
            }
        }
    }
}

/// The partner itself as an actor.
pub(super) fn partner(account: &PartnerId) -> Actor {
    Actor::new("partner", account.to_string())
}

fn corporate(email: &str) -> Result<String, OnboardingError> {
    let parsed = CorporateEmail::parse(email);
    parsed
        .map(|email| email.as_str().to_owned())
        .map_err(|error| OnboardingError::invalid("/email", error.code(), chain(&error)))
}

impl EmailCode {
    /// No code: the record then only counts mails.
    fn none(email: &str, now: Timestamp) -> Self {
        Self {
            email: email.to_owned(),
            purpose: CodePurpose::Nothing,
            mark: None,
            expires_at_ms: now,
            attempts_left: 0,
            tried_from: Vec::new(),
            sent_at_ms: Vec::new(),
            tagged_sent_at_ms: Vec::new(),
            entered_from: Vec::new(),
        }
    }

    /// The same code, which somebody asks for once more.
    fn asked_for_again(self, purpose: &CodePurpose) -> Self {
        let purpose = if *purpose == CodePurpose::Nothing { self.purpose } else { purpose.clone() };
        Self { purpose, ..self }
    }

    /// Codes sent within the last hour to this address, and to new ones with a tag that come into the same mailbox.
    fn recent(&self, now: Timestamp) -> usize {
        let sent = self.sent_at_ms.iter().chain(&self.tagged_sent_at_ms);
        sent.filter(|at| at.plus_ms(CODES_WINDOW_MS) > now).count()
    }

    /// Whether it can still be entered, from a network that is known or from others.
    fn is_alive(&self, now: Timestamp, known: bool) -> bool {
        now < self.expires_at_ms && (self.attempts_left > 0 || known) && self.mark.is_some()
    }

    /// What somebody is told who asks once more, where no other code is to take the place of this one: it stays as it is
    /// while it can be entered, once so many were sent that they come one at a time.
    fn keep_for(
        &self,
        purpose: &CodePurpose,
        now: Timestamp,
        known: bool,
    ) -> Result<Option<CodeSent>, OnboardingError> {
        let recent = self.recent(now);
        // A code that was sent to nobody keeps nobody from getting one.
        let sent = self.purpose != CodePurpose::Nothing || *purpose == CodePurpose::Nothing;
        let next_at = self.sent_at_ms.last().filter(|_| sent && recent >= CODES_PER_WINDOW_MAX);
        match next_at.map(|last| last.plus_ms(CODE_TTL_MS)).filter(|next_at| now < *next_at) {
            None => Ok(None),
            Some(_) if self.is_alive(now, known) => {
                Ok(Some(CodeSent { email: self.email.clone(), expires_at: self.expires_at_ms }))
            }
            Some(next_at) => Err(OnboardingError::TooMany(next_at.ms_since(now))),
        }
    }
}

fn network_context(email: &str) -> String {
    format!("code-network/{email}")
}

fn code_context(email: &str) -> String {
    format!("email-code/{email}")
}

fn code_mail(code: &str, purpose: &CodePurpose) -> String {
    let minutes = CODE_TTL_MS / 60_000;
    let why = match purpose {
        CodePurpose::SignUp { .. } => "Enter it to open your partner account.",
        CodePurpose::SignIn | CodePurpose::Nothing => {
            "This address has a partner account already; enter the code to sign in."
        }
    };
    format!(
        "Your code is {code}\n\n{why} It is good once and for {minutes} minutes.\n\nIf you did not ask for it, ignore this \
         mail: without the code nothing happens.\n"
    )
}
