//! One call of the partner, and whose turn it is to call a track tool.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::{Either, select};

use super::prepare::PreparedCall;
use super::progress::scan;
use super::{CallError, Caller, JudgedAnswer};
use intent_gateway_domain::error::{CallFailure, NotCalled};
use intent_gateway_domain::findings::{Severity, excerpt};
use intent_gateway_domain::ports::ToolAnswer;
use intent_gateway_domain::progress::{Listener, Progress};
use intent_gateway_domain::telemetry::{self, Stage};
use intent_gateway_outbound::policy::pace::track::{ASK_AGAIN_MS, BETWEEN_CALLS_MS, TrackDecision, TrackPermit};
use intent_gateway_outbound::{OutboundCall, PreparedArguments};

impl Caller {
    /// Calls the partner, and has its answer judged. Where the store has left it too little time, nobody is called.
    pub(super) async fn make(&self, call: &PreparedCall<'_>, again: bool) -> Result<JudgedAnswer, CallError> {
        let left_ms = call.time.left_for_partner(self.clock.now())?;
        let outbound_call = OutboundCall {
            contract: call.contract.0.clone(),
            context: call.context.clone(),
            partner: call.partner.clone(),
            tool: Arc::from(call.request.tool),
            arguments: Arc::new(PreparedArguments::new(call.arguments.get(), call.tool()?)),
            user: call.request.asker.user.clone(),
            within: Duration::from_millis(left_ms),
            is_repeat: again,
            trace: call.request.trace.cloned(),
        };
        let start = Instant::now();
        let hear = call.request.listener.map(|listener| scan(self, call, listener));
        let progress = hear.as_ref().map(|hear| Progress::new(Listener::new(hear)));
        let answered = self.outbound.call(outbound_call, progress.as_ref()).await;
        let elapsed = start.elapsed();
        telemetry::partner_stage(Stage::Call, call.descriptor(), &call.partner.id, elapsed);
        let (payload, checked, by) = match answered {
            Ok(answered) => {
                let ToolAnswer { text, unmapped } = Arc::unwrap_or_clone(answered.answer);
                if let Some(item) = unmapped.into_iter().next() {
                    return Err(self.fail(call, CallFailure::Payload(item.reason), None));
                }
                let (payload, checked) = self.judge(call, text, answered.found_by.as_ref()).await?;
                (payload, checked, answered.found_by.map(|by| by.tool))
            }
            Err(failure) => return Err(self.fail(call, failure, None)),
        };
        for violation in checked.findings {
            let sent = excerpt(payload.get(), &violation.pointer);
            self.record(call, Severity::Note, violation, sent);
        }
        Ok(JudgedAnswer { payload, booking: checked.reference, advisory: checked.advisory, by, order: None, elapsed })
    }

    /// Calls a track tool at the pace that an order bears; in between, the last answer is served.
    pub(super) async fn track(&self, call: &PreparedCall<'_>) -> Result<JudgedAnswer, CallError> {
        // Two tools that follow one order answer different things.
        let order = format!("{} {}", call.request.tool, call.binding.identifier);
        loop {
            let now = self.clock.now();
            match self.tracker.ask(&call.partner.id, &order, call.request.asker, now) {
                TrackDecision::Serve(answer) => return Ok(JudgedAnswer::clone(&answer)),
                TrackDecision::Call(permit) => return self.call_in_turn(call, permit).await,
                TrackDecision::Wait(wait_ms)
                    if wait_ms > ASK_AGAIN_MS || now.plus_ms(wait_ms) > call.time.deadline() =>
                {
                    let failure = CallFailure::NotCalled { why: NotCalled::PartnerRate, wait_ms: Some(wait_ms) };
                    return Err(CallError::Partner { code: None, failure, link: None });
                }
                TrackDecision::Wait(wait_ms) => {
                    self.memory.timer.wait(Duration::from_millis(wait_ms)).await;
                    call.time.note_wait(wait_ms);
                }
            }
        }
    }

    /// Makes the call whose turn it is. One that somebody listens to may take long: it holds its turn until the next call
    /// may be made, so that whoever only asks is not kept waiting.
    async fn call_in_turn(
        &self,
        call: &PreparedCall<'_>,
        permit: TrackPermit<JudgedAnswer>,
    ) -> Result<JudgedAnswer, CallError> {
        let mut permit = Some(permit);
        let mut making = pin!(self.make(call, false));
        let answer = if call.request.listener.is_some() {
            let next = self.memory.timer.wait(Duration::from_millis(BETWEEN_CALLS_MS));
            match select(making.as_mut(), next).await {
                Either::Left((answer, _)) => answer?,
                Either::Right(_) => {
                    permit = None;
                    making.await?
                }
            }
        } else {
            making.await?
        };
        if let Some(permit) = permit {
            permit.keep_answer(Arc::new(answer.clone()), answer.payload.get().len(), self.clock.now());
        }
        Ok(answer)
    }
}
