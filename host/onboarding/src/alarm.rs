//! Mail to the platform team about what nobody may oversee.

use intent_gateway_domain::anchor::ChainName;
use intent_gateway_domain::store::Change;

use crate::OnboardingError;
use crate::keeper::RecordKeeper;

/// Problems of the store that one mail names.
const PROBLEMS_TOLD_MAX: usize = 20;

/// Tells the platform team.
pub struct TeamAlarm {
    pub(crate) keeper: RecordKeeper,
    /// Where; nowhere if absent.
    pub(crate) team_email: Option<String>,
}

impl TeamAlarm {
    /// Tells that the audit log or the ledger is not as it was written.
    ///
    /// # Errors
    /// [`OnboardingError`] when the mail cannot be kept to be sent.
    pub async fn tell_broken_chain(&self, chain: ChainName, fault: &str) -> Result<(), OnboardingError> {
        let Some(team) = &self.team_email else { return Ok(()) };
        let (name, command) = match chain {
            ChainName::Audit => ("The audit log", "intent-gateway audit verify"),
            ChainName::Ledger => ("The ledger", "intent-gateway ledger verify"),
        };
        let text = format!(
            "Hello,\n\n{name} is not as it was written:\n\n- {fault}\n\nSomebody who can write to the store has changed it, or it was \
             restored from a backup. `{command}` shows more. Keep the store as it is; docs/ledger.md says what to do.\n",
        );
        let mut change = Change::default();
        change.mail.push(self.keeper.mail(team, &format!("{name} was changed"), text)?);
        self.keeper.store.commit(change).await?;
        Ok(())
    }

    /// Tells that something in the store is not as it must be: each problem as a line, of which the first
    /// [`PROBLEMS_TOLD_MAX`] are named.
    ///
    /// # Errors
    /// [`OnboardingError`] when the mail cannot be kept to be sent.
    pub async fn tell_unsound_store(&self, problems: &[String]) -> Result<(), OnboardingError> {
        let Some(team) = &self.team_email else { return Ok(()) };
        let named: String = problems.iter().take(PROBLEMS_TOLD_MAX).map(|problem| format!("- {problem}\n")).collect();
        let more = match problems.len().saturating_sub(PROBLEMS_TOLD_MAX) {
            0 => String::new(),
            more => format!("- and {more} more\n"),
        };
        let text = format!(
            "Hello,\n\nSomething in the gateway's store is not as it must be:\n\n{named}{more}\n`intent-gateway store check` shows \
             all of it. Keep a copy of the store as it is; docs/ledger.md says what each code means and what to do.\n",
        );
        let mut change = Change::default();
        change.mail.push(self.keeper.mail(team, "The store is not sound", text)?);
        self.keeper.store.commit(change).await?;
        Ok(())
    }
}
