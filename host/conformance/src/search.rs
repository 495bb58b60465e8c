//! Searches: as the go-live test makes them, and then what only a developer can try.

use futures_util::future::join_all;
use intent_gateway_domain::contract::{About, Axes, Candidate, Evaluation, Payload};
use intent_gateway_domain::error::{CallFailure, ContractError};
use intent_gateway_domain::findings::Severity;
use intent_gateway_domain::forbidden::{FORBIDDEN_FIELD, ForbiddenFields};
use intent_gateway_domain::golive::{
    GoLiveCheck as _, GoLiveReport, LATENCY_SAMPLES_MIN, PLATFORM_CODES, SampleFinding,
};
use intent_gateway_domain::secret::Secret;
use intent_gateway_routing::golive::{GoLiveRunner, SAMPLE_TIMEOUT};
use intent_gateway_routing::payload;

use crate::arguments::{UNKNOWN_MEMBER, with_unknown_member};
use crate::report::{Check, Code, Report};
use crate::talk::{Failed, Talk};
use crate::{ConformanceError, Subject};

/// Searches at once: few, because a developer's machine has to bear them.
const AT_ONCE: usize = 8;
/// A token that nobody has issued.
const WRONG_TOKEN: &str = "not-a-token-of-anybody";

/// Tries the search tool. The options that can be ordered, the best first.
pub(crate) async fn examine(
    subject: &Subject,
    talk: &Talk,
    report: &mut Report<'_>,
) -> Result<Vec<String>, ConformanceError> {
    let tool = talk.descriptor().search.tool.clone();
    let runner = GoLiveRunner { calls: subject.calls.clone(), clock: subject.clock.clone(), timeout: SAMPLE_TIMEOUT };
    let samples = &subject.material.requests;
    let tested = runner.run(talk.partner.clone(), talk.contract.clone(), samples, &[]).await?;
    note_test(&tool, &tested, report);
    report.going_live = tested.items.into_iter().filter(|item| !PLATFORM_CODES.contains(&item.code.as_str())).collect();
    // Nothing else can be tried of a server that gives no answer.
    if report.has_failed(Code::SearchAnswered) {
        return Ok(Vec::new());
    }
    let Some(request) = samples.first() else { return Ok(Vec::new()) };
    let arguments = prepare(talk, request).await?;
    let mut latest = None;
    for _ in 0..LATENCY_SAMPLES_MIN {
        latest = talk.call_timed(&tool, &arguments).await.ok().or(latest);
    }
    let options = match latest {
        Some(answer) => rank(talk, &arguments, &answer).await?,
        None => Vec::new(),
    };
    if subject.token.is_some() {
        try_wrong_token(talk, &tool, &arguments, report).await;
    }
    try_unknown_member(talk, &tool, &arguments, report).await;
    let refused = talk.read_refusal(talk.call(&tool, "{}").await);
    report.add(check_refusal(Code::BadArgumentsRefused, &tool, refused));
    try_at_once(talk, &tool, request, report).await?;
    Ok(options)
}

/// The arguments that the platform sends for a request.
async fn prepare(talk: &Talk, request: &str) -> Result<String, ConformanceError> {
    let tool = &talk.descriptor().search.tool;
    let context = talk.context(&talk.next_key());
    match talk.contract.check_request(&context, tool, request, About::default()).await {
        Ok(prepared) => Ok(prepared.arguments.get().to_owned()),
        // The go-live test has taken it already.
        Err(ContractError::Refused(_)) => Ok(request.to_owned()),
        Err(ContractError::Fault(fault)) => Err(fault.into()),
    }
}

/// The options of an answer that passed, as they were sent, the best first.
async fn rank(talk: &Talk, arguments: &str, answer: &str) -> Result<Vec<String>, ConformanceError> {
    let descriptor = talk.descriptor();
    let fields = ForbiddenFields::new(&descriptor.forbidden_fields);
    let Ok(payload) = payload::read(answer, &descriptor.search.options_key, &fields) else { return Ok(Vec::new()) };
    let numbered = (0..).zip(&payload.options);
    let candidates = numbered.map(|(number, option)| Candidate { number, json: option.get() }).collect();
    let payloads = [Payload { declared: Axes::UNDECLARED, candidates }];
    let ranked = match talk.contract.evaluate(&talk.context("rank"), arguments, &payloads, &[]).await {
        Ok(Evaluation { ranked, .. }) => ranked,
        Err(ContractError::Refused(_)) => Vec::new(),
        Err(ContractError::Fault(fault)) => return Err(fault.into()),
    };
    let option = |number: u32| payload.options.get(usize::try_from(number).ok()?).map(|option| option.get().to_owned());
    Ok(ranked.iter().filter_map(|ranked| option(ranked.number)).collect())
}

/// What the go-live test has seen: whether there were answers, and what broke a rule in them.
fn note_test(tool: &str, tested: &GoLiveReport, report: &mut Report<'_>) {
    let tool = Some(tool);
    let count = tested.samples.len();
    for (number, sample) in (1..).zip(&tested.samples) {
        let asked = if count == 1 { String::new() } else { format!("request {number}: ") };
        report.add(match &sample.error {
            Some(error) => {
                let detail = format!("{asked}{} [{}]", error.message, error.code);
                Check::failed(Code::SearchAnswered, tool, detail).with_sent(error.sent.clone())
            }
            None if sample.options == 0 && sample.dropped == 0 => {
                Check::noted(Code::SearchAnswered, tool, format!("{asked}no options; search with another request"))
            }
            None => {
                let detail = format!("{asked}{} options in {} ms", sample.options, sample.elapsed_ms);
                Check::passed(Code::SearchAnswered, tool, detail)
            }
        });
    }
    let found = || tested.samples.iter().flat_map(|sample| &sample.found);
    let is_forbidden = |code: &str| code == FORBIDDEN_FIELD;
    let forbidden: Vec<_> = found().filter(|one| is_forbidden(&one.violation.code)).collect();
    let others: Vec<_> = found().filter(|one| !is_forbidden(&one.violation.code)).collect();
    let excerpt = |found: &[&SampleFinding]| found.first().and_then(|one| one.excerpt.clone());
    report.add(match forbidden.len() {
        0 => Check::passed(Code::NoForbiddenFields, tool, "none was found"),
        found => Check::failed(Code::NoForbiddenFields, tool, format!("{found} found"))
            .with_sent(excerpt(&forbidden))
            .with_violations(forbidden.iter().map(|one| one.violation.clone())),
    });
    let dropped: usize = tested.samples.iter().map(|sample| sample.dropped).sum();
    let is_grave = others.iter().any(|one| one.severity != Severity::Note);
    let check = match (others.is_empty(), is_grave) {
        (true, _) => Check::passed(Code::OptionsValid, tool, "nothing was dropped"),
        (false, false) => Check::noted(Code::OptionsValid, tool, "nothing was dropped; something was noted"),
        (false, true) => Check::failed(Code::OptionsValid, tool, format!("{dropped} options would be dropped")),
    };
    report.add(check.with_sent(excerpt(&others)).with_violations(others.iter().map(|one| one.violation.clone())));
}

async fn try_wrong_token(talk: &Talk, tool: &str, arguments: &str, report: &mut Report<'_>) {
    let wrong = Secret::new(WRONG_TOKEN);
    let outcome = talk.call_within(tool, arguments, SAMPLE_TIMEOUT, Some(&wrong)).await;
    let result = match outcome.map_err(|failed| failed.failure) {
        Ok(_) => Err("a call with it was answered".to_owned()),
        Err(CallFailure::SignInRequired { .. }) => Ok("401, with where to sign in".to_owned()),
        Err(CallFailure::Unauthorized) => Ok("401; without a challenge no user can link an account".to_owned()),
        Err(other) => Err(other.to_string()),
    };
    report.add(Check::of(Code::WrongTokenRefused, Some(tool), result));
}

async fn try_unknown_member(talk: &Talk, tool: &str, arguments: &str, report: &mut Report<'_>) {
    let code = Code::UnknownMembersTaken;
    report.add(match talk.call(tool, &with_unknown_member(arguments)).await {
        Ok(_) => Check::passed(code, Some(tool), "a search with one was answered"),
        Err(Failed { failure, sent }) => {
            let detail = format!("a search with `{UNKNOWN_MEMBER}`: {failure}");
            Check::failed(code, Some(tool), detail).with_sent(sent)
        }
    });
}

async fn try_at_once(talk: &Talk, tool: &str, request: &str, report: &mut Report<'_>) -> Result<(), ConformanceError> {
    let mut all = Vec::new();
    for _ in 0..AT_ONCE {
        all.push(prepare(talk, request).await?);
    }
    let answers = join_all(all.iter().map(|arguments| talk.call_timed(tool, arguments))).await;
    let failed: Vec<_> = answers.into_iter().filter_map(Result::err).collect();
    report.add(match failed.into_iter().next() {
        None => Check::passed(Code::SearchesAtOnce, Some(tool), format!("{AT_ONCE} at once")),
        Some(Failed { failure, sent }) => {
            Check::failed(Code::SearchesAtOnce, Some(tool), format!("of {AT_ONCE} at once, one: {failure}"))
                .with_sent(sent)
        }
    });
    Ok(())
}

/// What a call that must be refused has come to.
pub(crate) fn check_refusal(code: Code, tool: &str, refused: Result<String, (String, Option<String>)>) -> Check {
    match refused {
        Ok(named) => Check::passed(code, Some(tool), format!("with {named}")),
        Err((detail, sent)) => Check::failed(code, Some(tool), detail).with_sent(sent),
    }
}
