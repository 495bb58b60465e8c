//! `[quotas]`: how often callers with a token may ask, and businesses report.

use std::num::NonZeroU32;

use intent_gateway_http::{Quota, Quotas};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests of callers; without a number, as many as they like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuotasSection {
    orchestrator_per_minute: Option<NonZeroU32>,
    orchestrator_per_day: Option<NonZeroU32>,
    account_per_minute: Option<NonZeroU32>,
    account_per_day: Option<NonZeroU32>,
    token_per_minute: Option<NonZeroU32>,
    token_per_day: Option<NonZeroU32>,
    /// Completion reports of one business.
    pub reports_per_minute: Option<NonZeroU32>,
}

impl QuotasSection {
    pub(crate) fn quotas(&self) -> Quotas {
        let Self { orchestrator_per_minute, orchestrator_per_day, account_per_minute, account_per_day, .. } = *self;
        Quotas {
            orchestrator: Quota { per_minute: orchestrator_per_minute, per_day: orchestrator_per_day },
            account: Quota { per_minute: account_per_minute, per_day: account_per_day },
            token: Quota { per_minute: self.token_per_minute, per_day: self.token_per_day },
        }
    }

    /// A quota of a day that its minute's alone is larger than is never what was meant.
    pub(crate) fn check(&self, problems: &mut Vec<String>) {
        let Quotas { orchestrator, account, token } = self.quotas();
        for (name, Quota { per_minute, per_day }) in
            [("orchestrator", orchestrator), ("account", account), ("token", token)]
        {
            if let (Some(minute), Some(day)) = (per_minute, per_day)
                && minute > day
            {
                problems.push(format!(
                    "`quotas.{name}_per_day` is {day}; it must not be less than `quotas.{name}_per_minute`, which is {minute}"
                ));
            }
        }
    }
}
