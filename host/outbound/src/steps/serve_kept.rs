//! An answer that is kept is served again, and one call serves all who ask the same.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::{Next, Outcome, Outgoing, Step};
use crate::policy::cache::{AnswerCache, Fetched, Question};
use crate::{KeptAnswer, PartnerAnswer};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::ports::ToolAnswer;

/// Serves kept answers, and joins calls under way.
pub(crate) struct ServeKept {
    pub(crate) cache: AnswerCache<ToolAnswer>,
    pub(crate) next: Next,
}

impl Step for ServeKept {
    fn call<'a>(&'a self, outgoing: Outgoing<'a>) -> BoxFuture<'a, Outcome> {
        async move {
            let Some(question) = question(&outgoing)? else { return self.next.call(outgoing).await };
            let next = self.next.clone();
            // Others may drive the call on after this caller has left, so nobody's progress goes with it.
            let outgoing = outgoing.unheard();
            let call = move || {
                async move {
                    let answer = next.call(outgoing).await?;
                    let answer = Arc::unwrap_or_clone(answer.answer);
                    let reasons: usize = answer.unmapped.iter().map(|item| item.reason.len()).sum();
                    Ok(Fetched { bytes: answer.text.len() + reasons, answer })
                }
                .boxed()
            };
            let (answer, source) = self.cache.get(question, call).await?;
            let kept = Some(KeptAnswer { cache: self.cache.clone(), question });
            Ok(PartnerAnswer { answer, source, found_by: None, kept })
        }
        .boxed()
    }
}

/// The question that a call asks; none where its answer may not be served again. A call that others may join carries either
/// nobody's token or that of the one user who is part of the question, so nobody is answered with what another user's token
/// showed.
fn question(Outgoing { call, token, .. }: &Outgoing<'_>) -> Result<Option<Question>, CallFailure> {
    let Some(arguments) = call.arguments.digest() else { return Ok(None) };
    let signed_in = token.as_ref().and(call.user.as_ref());
    Ok(Question::of(&call.partner.id, call.descriptor().intent.as_str(), call.tool()?, arguments, signed_in))
}
