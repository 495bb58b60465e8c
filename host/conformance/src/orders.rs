//! The tools after a search, along the way of an order: one is made, looked at, changed and cancelled, in the turns that the contract
//! declares. What must be refused is tried beside each step, so that it finds the server in the state in which it matters.

use std::collections::BTreeSet;
use std::time::Duration;

use intent_gateway_domain::contract::{About, CheckedResponse, Opening, OrderStep, OrderWay, Tool, ToolRole};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::ContractError;
use intent_gateway_domain::findings::{EXCERPT_MAX_CHARS, cut};
use intent_gateway_domain::order::progress::AnsweredStep;
use intent_gateway_domain::order::{Opened, Order, OrderId, OrderedFrom, Owner, turn};
use intent_gateway_domain::platform_code::PlatformCode;
use intent_gateway_domain::vault::Mark;

use crate::arguments::{Arguments, find_identifier};
use crate::report::{Check, Code, Report};
use crate::search::check_refusal;
use crate::talk::{Failed, Talk, Unfit};
use crate::{ConformanceError, Subject};

/// After so long the call that opens an order is cut off: enough for it to reach the server, and seldom enough for an answer.
pub(crate) const CUT_OFF_AFTER: Duration = Duration::from_millis(5);
/// The HTTP status of a conflict.
const CONFLICT: u16 = 409;
/// The order's identifier, which nobody but the contract's rules sees.
const ORDER: &str = "ord_0000000000000000000000000000";

/// Tries every tool but the search.
pub(crate) async fn examine(
    subject: &Subject,
    talk: &Talk,
    options: &[String],
    report: &mut Report<'_>,
) -> Result<(), ConformanceError> {
    let tools = || talk.descriptor().tools.iter().filter(|tool| tool.role != ToolRole::Search);
    let Some(option) = options.first() else {
        for tool in tools() {
            report.add(Check::skipped(Code::AnswerValid, Some(&tool.name), "no option was found to call it for"));
        }
        return Ok(());
    };
    let mut walk = Walk { subject, talk, option, other: options.get(1).map(String::as_str), order: None };
    let mut tried = BTreeSet::new();
    // What the contract does not take yet, it may take after another tool.
    let mut deferred: Vec<(&str, Check)> = Vec::new();
    while let Some(tool) = walk.next_tool(&tried) {
        tried.insert(tool.name.as_str());
        match walk.try_tool(tool, report).await? {
            Tried::Done => {}
            Tried::GoneOn => deferred.drain(..).for_each(|(name, _)| {
                tried.remove(name);
            }),
            Tried::NotYet(check) => deferred.push((&tool.name, *check)),
        }
    }
    deferred.into_iter().for_each(|(_, check)| report.add(check));
    for tool in tools().filter(|tool| !tried.contains(tool.name.as_str())) {
        report.add(Check::skipped(Code::AnswerValid, Some(&tool.name), walk.explain_skip(tool)));
    }
    walk.note_end(report);
    Ok(())
}

/// An option, and the order that is made of it.
struct Walk<'a> {
    subject: &'a Subject,
    talk: &'a Talk,
    option: &'a str,
    /// Another one, for what must be refused.
    other: Option<&'a str>,
    order: Option<Order>,
}

/// What trying a tool has come to.
enum Tried {
    /// The order stands as before.
    Done,
    /// The order has gone on.
    GoneOn,
    /// The contract takes no such arguments, as things stand.
    NotYet(Box<Check>),
}

impl<'a> Walk<'a> {
    fn way(&self) -> Option<&'a OrderWay> {
        self.talk.descriptor().order.as_ref()
    }

    fn step(&self, tool: &Tool) -> Option<&'a OrderStep> {
        self.way()?.step(&tool.name)
    }

    /// The next tool whose turn it is. What ends an order comes last.
    fn next_tool(&self, tried: &BTreeSet<&str>) -> Option<&'a Tool> {
        let tools = || self.talk.descriptor().tools.iter().filter(|tool| !tried.contains(tool.name.as_str()));
        let has_turn = |tool: &&Tool| tool.role != ToolRole::Search && self.has_turn(tool);
        let ends = |tool: &&Tool| self.step(tool).is_some_and(|step| ends_orders(self.way(), step));
        tools().filter(has_turn).find(|tool| !ends(tool)).or_else(|| tools().find(has_turn))
    }

    fn has_turn(&self, tool: &Tool) -> bool {
        let Some(step) = self.step(tool) else { return self.subject.places_orders || tool.role == ToolRole::GetDetail };
        self.subject.places_orders && turn::check(step, self.order.as_ref(), self.talk.now()).is_ok()
    }

    fn explain_skip(&self, tool: &Tool) -> String {
        if !self.subject.places_orders {
            return "no orders were to be placed".to_owned();
        }
        match (&self.order, self.step(tool)) {
            (None, _) => "no order was made".to_owned(),
            (Some(order), Some(step)) => {
                format!(
                    "its turn did not come: the order is `{}`, and it is called in: {}",
                    order.state,
                    step.states.join(", ")
                )
            }
            (Some(_), None) => "its turn did not come".to_owned(),
        }
    }

    async fn try_tool(&mut self, tool: &Tool, report: &mut Report<'_>) -> Result<Tried, ConformanceError> {
        let name = Some(tool.name.as_str());
        let filled = Arguments::fill(&self.subject.material, tool, self.option, self.way(), self.order.as_ref());
        let Some(filled) = filled else {
            let detail = "no example shows its arguments; give them with --arguments";
            report.add(Check::skipped(Code::AnswerValid, name, detail));
            return Ok(Tried::Done);
        };
        let key = self.talk.next_key();
        let arguments = filled.clone().under(tool, &key);
        let prepared = match self.prepare(tool, &key, &arguments).await? {
            Ok(prepared) => prepared,
            Err(check) => return Ok(Tried::NotYet(Box::new(check))),
        };
        self.try_refusals(tool, &filled, report).await;
        let opens = self.order.is_none() && self.step(tool).is_some_and(|step| step.opening != Opening::Never);
        let may_be_cut_off = opens && filled.has_own_key();
        // Whether it was carried out, nobody knows; so a caller that lost its connection stands.
        let is_cut_off =
            may_be_cut_off && self.talk.call_within(&tool.name, &prepared, CUT_OFF_AFTER, None).await.is_err();
        let answer = match self.talk.call_timed(&tool.name, &prepared).await {
            Ok(answer) => answer,
            Err(failed) => {
                let code = if is_cut_off { Code::CutOffCallRepeated } else { Code::AnswerValid };
                report.add(self.explain_failure(code, tool, failed));
                return Ok(Tried::Done);
            }
        };
        let checked = match self.judge(Code::AnswerValid, tool, &prepared, &answer).await? {
            Ok(checked) => checked,
            Err(check) => {
                report.add(check);
                return Ok(Tried::Done);
            }
        };
        report.add(note_answer(tool, &answer, &checked));
        let ms = CUT_OFF_AFTER.as_millis();
        if is_cut_off {
            let detail = format!("cut off after {ms} ms, then answered");
            report.add(Check::passed(Code::CutOffCallRepeated, name, detail));
        } else if may_be_cut_off {
            report.add(Check::skipped(Code::CutOffCallRepeated, name, format!("it was answered within {ms} ms")));
        }
        if tool.idempotency_key.is_some() {
            let check = self.repeat(tool, &prepared, &checked).await?;
            report.add(check);
        }
        if may_be_cut_off {
            self.change_body(tool, &key, report).await;
        }
        self.go_on(tool, &key, &prepared, &answer);
        Ok(Tried::GoneOn)
    }

    /// Makes the calls that must be refused, before the valid one.
    async fn try_refusals(&self, tool: &Tool, filled: &Arguments, report: &mut Report<'_>) {
        let wrong = [
            (Code::BadArgumentsRefused, filled.without_required(tool)),
            (Code::UnknownIdentifierRefused, filled.with_unknown_identifiers()),
        ];
        for (code, arguments) in wrong {
            if let Some(arguments) = arguments {
                let arguments = arguments.under(tool, &self.talk.next_key()).to_json();
                let refused = self.talk.read_refusal(self.talk.call(&tool.name, &arguments).await);
                report.add(check_refusal(code, &tool.name, refused));
            }
        }
    }

    /// The arguments that the platform sends, or why the contract takes none of these.
    async fn prepare(
        &self,
        tool: &Tool,
        key: &str,
        arguments: &Arguments,
    ) -> Result<Result<String, Check>, ConformanceError> {
        let view = self.order.as_ref().map(Order::view);
        let about = About { quoted: Some(self.option), order: view.as_ref() };
        let context = self.talk.context(key);
        match self.talk.contract.check_request(&context, &tool.name, &arguments.to_json(), about).await {
            Ok(prepared) => Ok(Ok(prepared.arguments.get().to_owned())),
            Err(ContractError::Refused(refusal)) => {
                let detail =
                    format!("the contract takes no such arguments [{}]; give others with --arguments", refusal.code);
                let check = Check::skipped(Code::AnswerValid, Some(&tool.name), detail);
                Ok(Err(check.with_violations(refusal.violations)))
            }
            Err(ContractError::Fault(fault)) => Err(fault.into()),
        }
    }

    /// What a valid call has come to that was not answered.
    fn explain_failure(&self, code: Code, tool: &Tool, Failed { failure, sent }: Failed) -> Check {
        let is_decision = self.may_refuse(tool) && self.talk.find_refusal_code(&failure).is_some();
        match is_decision {
            true => Check::noted(code, Some(&tool.name), format!("{failure}; users see that")),
            false => Check::failed(code, Some(&tool.name), failure.to_string()).with_sent(sent),
        }
    }

    /// Judges an answer; what is wrong with it is told under this code.
    async fn judge(
        &self,
        code: Code,
        tool: &Tool,
        arguments: &str,
        answer: &str,
    ) -> Result<Result<CheckedResponse, Check>, ConformanceError> {
        let view = self.order.as_ref().map(Order::view);
        let about = About { quoted: Some(self.option), order: view.as_ref() };
        let name = Some(tool.name.as_str());
        let judged = self.talk.judge(&tool.name, arguments, answer, about).await?;
        Ok(judged.map_err(|unfit| {
            let check = match unfit {
                Unfit::Forbidden(fields) => {
                    let detail = "the answer carries forbidden fields";
                    Check::failed(Code::NoForbiddenFields, name, detail).with_violations(fields)
                }
                Unfit::Refused(violations) => {
                    Check::failed(code, name, "the answer breaks rules").with_violations(violations)
                }
                Unfit::Unreadable(why) => Check::failed(code, name, why),
            };
            check.with_sent(Some(cut(answer, EXCERPT_MAX_CHARS)))
        }))
    }

    /// Whether a partner may refuse a valid call: a payment may fail, and a car that needs no inspection gets none. An order must be
    /// possible, though, and so must its end.
    fn may_refuse(&self, tool: &Tool) -> bool {
        self.order.is_some() && self.step(tool).is_some_and(|step| !ends_orders(self.way(), step))
    }

    /// Makes the same call once more.
    async fn repeat(&self, tool: &Tool, arguments: &str, first: &CheckedResponse) -> Result<Check, ConformanceError> {
        let code = Code::KeyRepeated;
        let answer = match self.talk.call_timed(&tool.name, arguments).await {
            Ok(answer) => answer,
            Err(Failed { failure, sent }) => {
                return Ok(Check::failed(code, Some(&tool.name), failure.to_string()).with_sent(sent));
            }
        };
        let second = match self.judge(code, tool, arguments, &answer).await? {
            Ok(checked) => checked,
            Err(check) => return Ok(check),
        };
        let name = |checked: &CheckedResponse| checked.reference.clone().unwrap_or_else(|| "nothing".to_owned());
        let (before, after) = (name(first), name(&second));
        Ok(match before == after {
            true => Check::passed(code, Some(&tool.name), format!("{before} both times")),
            false => Check::failed(code, Some(&tool.name), format!("first it was {before}, then {after}"))
                .with_sent(Some(cut(&answer, EXCERPT_MAX_CHARS))),
        })
    }

    /// Makes another call under the same key: for another option.
    async fn change_body(&self, tool: &Tool, key: &str, report: &mut Report<'_>) {
        let (code, name) = (Code::KeyWithOtherBody, Some(tool.name.as_str()));
        let Some(other) = self.other else {
            report.add(Check::skipped(code, name, "only one option was found"));
            return;
        };
        let filled = Arguments::fill(&self.subject.material, tool, other, self.way(), None);
        let Some(filled) = filled else { return };
        let refused = self.talk.read_refusal(self.talk.call(&tool.name, &filled.under(tool, key).to_json()).await);
        report.add(match refused {
            Ok(named) if self.talk.descriptor().find_status(&named) != CONFLICT => {
                let better = PlatformCode::IdempotencyConflict.as_str();
                Check::noted(code, name, format!("with {named}; {better} tells the caller more"))
            }
            refused => check_refusal(code, &tool.name, refused),
        });
    }

    /// Takes an answer into the order, as the gateway does.
    fn go_on(&mut self, tool: &Tool, key: &str, arguments: &str, answer: &str) {
        let (Some(way), Some(step)) = (self.way(), self.step(tool)) else { return };
        let now = self.talk.now();
        let call = AnsweredStep { option: Some(self.option), arguments, answer };
        let mut order = self.order.take().unwrap_or_else(|| self.open(key));
        order.begin(&tool.name, key, None, now);
        order.take_answer(way, step, call, now);
        self.order = Some(order);
    }

    fn open(&self, key: &str) -> Order {
        let descriptor = self.talk.descriptor();
        let nobody = || Mark::from_kept(String::new());
        let opened = Opened {
            id: OrderId::parse(ORDER).expect("it has the form"),
            partner: self.talk.partner.id.clone(),
            intent: descriptor.intent.clone(),
            contract: Digest::of(&[]),
            owner: Owner { asker: nobody(), orchestrator: nobody() },
            from: OrderedFrom {
                option_id: find_identifier(self.option, &descriptor.search.id_pointer()).unwrap_or_default(),
                receipt: None,
                number: 0,
                request_id: key.to_owned(),
            },
            request_id: key.to_owned(),
            is_sole: false,
        };
        Order::open(opened, self.talk.now())
    }

    /// Says of an order that is still open that somebody has to look after it.
    fn note_end(&self, report: &mut Report<'_>) {
        let Some(order) = &self.order else { return };
        let known_as = order.identifiers.iter().cloned().collect::<Vec<_>>().join(", ");
        report.add(match order.is_open {
            false => Check::passed(Code::OrderClosed, None, format!("{known_as} is `{}`", order.state)),
            true => Check::noted(Code::OrderClosed, None, format!("{known_as} is left `{}`", order.state)),
        });
    }
}

/// What is told of an answer that the contract takes.
fn note_answer(tool: &Tool, answer: &str, CheckedResponse { advisory, findings, .. }: &CheckedResponse) -> Check {
    let (code, name) = (Code::AnswerValid, Some(tool.name.as_str()));
    if !findings.is_empty() {
        let check = Check::noted(code, name, "answered; the platform records something of it");
        return check.with_sent(Some(cut(answer, EXCERPT_MAX_CHARS))).with_violations(findings.clone());
    }
    let advisory = advisory.as_ref().map_or_else(String::new, |code| format!(", with {code}"));
    Check::passed(code, name, format!("answered{advisory}"))
}

/// Whether every answer to a step closes the order.
fn ends_orders(way: Option<&OrderWay>, step: &OrderStep) -> bool {
    let closes = |state: &str| way.and_then(|way| way.state(state)).is_some_and(|state| state.closed);
    !step.outcomes.is_empty() && step.outcomes.iter().all(|outcome| closes(&outcome.state))
}
