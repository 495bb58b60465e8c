//! What one person of the platform team has asked for, and a second one has to approve before it is done.
//!
//! It is kept while it waits. Once it is decided the record goes, and the audit log tells what became of it.
//!
//! Not here: which operations wait for a second person and how they are carried out, which the HTTP surface knows.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::audit::{Actor, AuditDraft};
use crate::clock::Timestamp;
use crate::reseal::SealedRecord;
use crate::steps::commit_unless_changed;
use crate::store::{Change, Kind, Record, Store, StoreError, all};
use crate::vault::Sealed;

/// How long a request waits, milliseconds: a day.
pub const APPROVAL_LIFE_MS: u64 = 24 * 60 * 60 * 1_000;
/// Requests that wait at once.
pub const APPROVALS_MAX: usize = 100;
/// Of these, requests of one person, so that a stolen token leaves room for what others ask.
pub const APPROVALS_OF_ONE_MAX: usize = 25;

/// A person of the platform team, as a token names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// The outside issuer that vouches for the subject; none for the gateway itself.
    pub issuer: Option<String>,
    /// The token's subject.
    pub subject: String,
}

impl Person {
    /// Whether both may be the same person, who then cannot be the second one.
    ///
    /// Two outside issuers may know different people under one subject. The gateway's own tokens name whom they are made for as
    /// whoever made them wrote it, so one of them is the same person as anybody of that subject.
    #[must_use]
    pub fn may_be(&self, other: &Self) -> bool {
        let issuers_differ = self.issuer.is_some() && other.issuer.is_some() && self.issuer != other.issuer;
        self.subject == other.subject && !issuers_differ
    }
}

/// A request that waits for a second person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    pub id: String,
    pub asked_at_ms: Timestamp,
    /// Who asked, for people to read.
    pub by: Actor,
    /// Who asked, to be compared.
    pub person: Person,
    /// What approving does, in words.
    pub what: String,
    /// The scope that whoever decides needs, as tokens name it.
    pub scope: String,
    pub method: String,
    /// Without its query.
    pub path: String,
    /// The request itself, sealed for [`context`](Self::context): its body may name users.
    pub sealed: Sealed,
}

impl Approval {
    /// When it stops waiting.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.asked_at_ms.plus_ms(APPROVAL_LIFE_MS)
    }

    /// Whether it waits no more.
    #[must_use]
    pub fn is_over(&self, now: Timestamp) -> bool {
        now >= self.expires_at()
    }

    /// What the request is sealed for: all that is told of it, so that nobody changes in the store who asked, what for, or until
    /// when.
    #[must_use]
    pub fn context(&self) -> String {
        let Self { id, asked_at_ms, by, person, what, scope, method, path, sealed: _ } = self;
        json!(["approval", id, asked_at_ms, by, person, what, scope, method, path]).to_string()
    }

    /// An entry of the audit log about it.
    #[must_use]
    pub fn draft(&self, action: &str, actor: Actor, at_ms: Timestamp) -> AuditDraft {
        let Self { id, by, what, method, path, .. } = self;
        let detail = json!({ "what": what, "method": method, "path": path, "asked_by": by.subject });
        AuditDraft { at_ms, actor, action: action.to_owned(), subject: id.clone(), detail }
    }
}

impl Record for Approval {
    const KIND: Kind = Kind::Approvals;

    fn key(&self) -> String {
        self.id.clone()
    }
}

impl SealedRecord for Approval {
    fn sealed(&mut self) -> Vec<(String, &mut Sealed)> {
        vec![(self.context(), &mut self.sealed)]
    }
}

/// Removes what waits no more, and says so in the audit log.
///
/// # Errors
/// [`StoreError`]; what was removed until then stays so.
pub async fn forget_expired(store: &dyn Store, now: Timestamp) -> Result<(), StoreError> {
    for approval in all::<Approval>(store, None).await? {
        if approval.value.is_over(now) {
            let mut change = Change::default();
            change.delete(&approval);
            change.audit.push(approval.value.draft("approval.expired", Actor::gateway(), now));
            // Whoever was faster has told it.
            commit_unless_changed(store, change).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::Secret;
    use crate::vault::tests::vault;

    fn person(issuer: Option<&str>, subject: &str) -> Person {
        Person { issuer: issuer.map(str::to_owned), subject: subject.to_owned() }
    }

    fn approval() -> Approval {
        let mut approval = Approval {
            id: "apr_1".to_owned(),
            asked_at_ms: Timestamp::from_ms(1_000),
            by: Actor::new("admin", "asha"),
            person: person(None, "asha"),
            what: "takes an intent out of service".to_owned(),
            scope: "ship".to_owned(),
            method: "DELETE".to_owned(),
            path: "/api/v1/admin/intents/auto.fix".to_owned(),
            sealed: Sealed::from_text(String::new()),
        };
        approval.sealed = vault("first", &[]).seal(&approval.context(), &Secret::new("{}")).expect("sealed");
        approval
    }

    #[test]
    fn it_waits_a_day() {
        let approval = approval();
        assert!(!approval.is_over(approval.asked_at_ms.plus_ms(APPROVAL_LIFE_MS - 1)));
        assert!(approval.is_over(approval.asked_at_ms.plus_ms(APPROVAL_LIFE_MS)));
    }

    #[test]
    fn two_outside_issuers_alone_know_two_people_under_one_subject() {
        let (one, other) = (Some("https://id.example"), Some("https://sso.example"));
        for (issuer, asker, expected) in
            [(None, None, true), (one, one, true), (one, None, true), (None, one, true), (one, other, false)]
        {
            assert_eq!(person(issuer, "asha").may_be(&person(asker, "asha")), expected, "{issuer:?} {asker:?}");
            assert!(!person(issuer, "ravi").may_be(&person(asker, "asha")), "{issuer:?} {asker:?}");
        }
    }

    #[test]
    fn nothing_that_is_told_of_it_can_be_changed() {
        let opens = |approval: &Approval| vault("first", &[]).open(&approval.context(), &approval.sealed).is_ok();
        assert!(opens(&approval()));
        type Forgery = fn(&mut Approval);
        let forgeries: [Forgery; 8] = [
            |approval| approval.id.push('x'),
            |approval| approval.asked_at_ms = approval.asked_at_ms.plus_ms(1),
            |approval| approval.by.subject.push('x'),
            |approval| approval.person.subject.push('x'),
            |approval| approval.what.push('x'),
            |approval| approval.scope.push('x'),
            |approval| approval.method.push('x'),
            |approval| approval.path.push('x'),
        ];
        for (number, forge) in forgeries.into_iter().enumerate() {
            let mut forged = approval();
            forge(&mut forged);
            assert!(!opens(&forged), "{number}");
        }
    }
}
