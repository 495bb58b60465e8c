//! What an author writes: an [`Intent`], its [`Tool`]s, and, for a variant, a [`Contract`].

use crate::bindings::{self, Axes, Context, Example, Exchange, Need, Refusal, Violation};
use crate::card::CardJson;
use crate::code;
use crate::completion::Report;
use crate::engine::refusal;
use crate::lexicon::Lexicon;
use crate::order::{Order, OrderWay, PastOrder, Subject};
use crate::policy::{About, ErrorRow, Forbidden, Lifetime, Requirement, RuleRow, Search, ToolPolicy, WidgetTable};
use crate::ranking::{Ranking, UserBands};
use crate::rules::{AnswerRules, ItemRules, ReportRules, RequestRules};
use crate::shape::{Described, ObjectShape, Shape, ValueDesc, read_document};

/// What the host asks of the request of a search.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say where and when the user wants to be served, nor which bands they chose",
    note = "implement `contract_sdk::SearchRequest` for it, beside the shape"
)]
pub trait SearchRequest {
    /// Where and when the user wants to be served.
    fn need(&self) -> Need;

    /// The bands that the user chose.
    fn bands(&self) -> UserBands<'_>;
}

/// What the ranking asks of an option, besides its score.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what identifies it",
    note = "implement `contract_sdk::SearchItem` for it, beside the shape"
)]
pub trait SearchItem {
    fn id(&self) -> &str;

    /// Share of the information asked for that the option gives. 1 where every field is required.
    fn completeness(&self) -> f64 {
        1.0
    }
}

/// The whole of an intent: its shapes, its tables, its rules. Every function is pure.
///
/// [`contract!`](crate::contract) implements it from the names of its parts. What an author does not find here, the
/// SDK does: reading, collecting violations, duplicates, the intent's name in requests and reports, blending, bands,
/// ordering, schemas, the descriptor.
pub trait Intent: Sized + 'static {
    /// Arguments of the search tool. It declares `intent` with `equals` and an optional `request_id`.
    type Request<'a>: Shape<'a> + SearchRequest;
    /// One option of a search payload.
    type Item<'a>: Shape<'a> + SearchItem;
    /// What a completion report carries beyond the common members.
    type ReportExtra<'a>: ObjectShape<'a>;
    /// The card of an option: an object with the keys of [`Intent::WIDGET`].
    type Card<'i>: CardJson;
    /// What the score of an option needs to know of the surviving options as a whole, and of what the user took before.
    type Scale;

    const ABOUT: About;
    const SEARCH: Search;
    /// The tools that are not a search.
    const TOOLS: &'static [ToolEntry];
    const RANKING: Ranking;
    const ERRORS: &'static [ErrorRow];
    /// Forbidden beyond the platform's own list.
    const FORBIDDEN: &'static [Forbidden];
    /// Every rule beyond the shapes, for the partners' page. Cases are held against it.
    const RULES: &'static [RuleRow] = &[];
    const WIDGET: WidgetTable;
    /// What a completion report may say of the order.
    const STATUSES: &'static [&'static str] = &["completed"];
    /// The statuses on which commission is charged.
    const CHARGED: &'static [&'static str] = &["completed"];
    /// Most that any amount of a completion report may be, whole INR, at least 1: far above what an order costs, for what
    /// is beyond is refused.
    const AMOUNT_MAX_INR: u32;
    /// How orders go. None where no tool orders anything.
    const ORDER: Option<OrderWay> = None;
    const LIFETIMES: &'static [Lifetime] = &[];
    /// What must hold before a partner's traffic may go live, beyond the tools.
    const GO_LIVE: &'static [Requirement] = &[];
    const LEXICON: Lexicon;

    /// Rules between the members of a request.
    fn request_rules(_request: &Self::Request<'_>, _rules: &mut RequestRules) {}

    /// Rules between the members of an option, and between the option and the request.
    fn item_rules(request: &Self::Request<'_>, item: &Self::Item<'_>, rules: &mut ItemRules);

    /// Looks over the surviving options before any is scored; their order must not matter. `history` are the user's past
    /// orders, the one that was opened last first, with the values that [`OrderWay::history`] names. Empty, nothing is known.
    fn scale(pool: &[Self::Item<'_>], history: &[PastOrder<'_>]) -> Self::Scale;

    /// What the intent's rules say of an option, per axis in 0..=1.
    fn score(request: &Self::Request<'_>, item: &Self::Item<'_>, scale: &Self::Scale) -> Axes;

    /// Maps an option to its card.
    fn card<'i>(item: &'i Self::Item<'_>) -> Self::Card<'i>;

    /// Rules between the members of a report, and between the report and what was booked.
    fn report_rules(
        _report: &Report<'_, Self::ReportExtra<'_>>,
        _subject: &Subject<'_, Self::Item<'_>>,
        _rules: &mut ReportRules,
    ) {
    }

    /// Cases that must hold before a version goes live. At least one per function.
    fn examples() -> Vec<Example>;
}

/// What ships as one component: an intent with a version and a ranking.
///
/// Every [`Intent`] is a contract by itself. A variant names the intent it is based on, its version and
/// its ranking; the crate's documentation shows one.
pub trait Contract: 'static {
    /// The intent that is served.
    type Intent: Intent;
    const VERSION: &'static str;
    const RANKING: Ranking;

    /// The cases that must hold; those of the intent unless the variant changes what they expect.
    fn examples() -> Vec<Example> {
        <Self::Intent as Intent>::examples()
    }
}

// The generated type has no `Default` of its own.
impl Default for Need {
    /// Anywhere, at any time.
    fn default() -> Self {
        Self { city: None, postal_code: None, from_ms: None, until_ms: None }
    }
}

impl<I: Intent> Contract for I {
    type Intent = I;
    const VERSION: &'static str = I::ABOUT.version;
    const RANKING: Ranking = I::RANKING;
}

/// The option that a call or a report concerns.
pub type Item<'a, I> = <I as Intent>::Item<'a>;

/// A tool that is not a search.
pub trait Tool: 'static {
    /// The intent it belongs to.
    type Intent: Intent;
    type Arguments<'a>: Shape<'a>;
    type Answer<'a>: Shape<'a>;

    const POLICY: ToolPolicy;

    /// Rules between the arguments, and between them and what they are about.
    fn argument_rules(
        _arguments: &Self::Arguments<'_>,
        _subject: &Subject<'_, Item<'_, Self::Intent>>,
        _rules: &mut RequestRules,
    ) {
    }

    /// Rules between the answer, the arguments and what the call was about, as it was before the call.
    fn answer_rules(
        _arguments: &Self::Arguments<'_>,
        _answer: &Self::Answer<'_>,
        _subject: &Subject<'_, Item<'_, Self::Intent>>,
        _rules: &mut AnswerRules,
    ) {
    }

    /// The identifier that the answer carries: a booking, a policy.
    fn reference<'r>(answer: &'r Self::Answer<'_>) -> Option<&'r str>;
}

/// A tool without its types, for [`Intent::TOOLS`].
#[derive(Debug, Clone, Copy)]
pub struct ToolEntry {
    pub(crate) policy: ToolPolicy,
    pub(crate) arguments: ValueDesc,
    pub(crate) answer: ValueDesc,
    pub(crate) check_arguments: fn(&Context, &str, &bindings::Subject) -> Result<Vec<Violation>, Refusal>,
    pub(crate) check_answer: fn(&Context, &Exchange) -> Result<JudgedAnswer, Refusal>,
}

/// The outcome of an answer that passed.
pub(crate) struct JudgedAnswer {
    pub(crate) reference: Option<String>,
    pub(crate) advisory: Option<&'static str>,
    pub(crate) findings: Vec<Violation>,
}

impl ToolEntry {
    /// The entry of a tool.
    pub const fn of<T: Tool>() -> Self {
        Self {
            policy: T::POLICY,
            arguments: <T::Arguments<'static> as Described>::DESC,
            answer: <T::Answer<'static> as Described>::DESC,
            check_arguments: check_arguments::<T>,
            check_answer: check_answer::<T>,
        }
    }

    pub const fn policy(&self) -> &ToolPolicy {
        &self.policy
    }
}

/// The notes, or what is wrong with the arguments. Nothing is compared with a quoted option that cannot be read; the
/// caller can do nothing about it, so it is told with the answer.
fn check_arguments<T: Tool>(
    context: &Context,
    json: &str,
    about: &bindings::Subject,
) -> Result<Vec<Violation>, Refusal> {
    let arguments: T::Arguments<'_> =
        read_document(json).map_err(|violations| refusal(code::INVALID_REQUEST, violations))?;
    let mut rules = RequestRules::new();
    let quoted = read_quoted::<T::Intent>(about);
    T::argument_rules(&arguments, &subject(context, about, &quoted), &mut rules);
    if rules.refusals.is_empty() {
        Ok(rules.notes.into_list())
    } else {
        Err(rules.refusals.into_refusal(code::INVALID_REQUEST))
    }
}

fn check_answer<T: Tool>(context: &Context, exchange: &Exchange) -> Result<JudgedAnswer, Refusal> {
    let broken = |violations| refusal(code::INTERNAL_ERROR, violations);
    let arguments: T::Arguments<'_> = read_document(&exchange.arguments).map_err(broken)?;
    let answer: T::Answer<'_> = read_document(&exchange.payload).map_err(broken)?;
    let mut rules = AnswerRules::new();
    let quoted = read_quoted::<T::Intent>(&exchange.about);
    T::answer_rules(&arguments, &answer, &subject(context, &exchange.about, &quoted), &mut rules);
    if !rules.refusals.is_empty() {
        return Err(rules.refusals.into_refusal(code::INTERNAL_ERROR));
    }
    let mut findings = rules.findings.into_list();
    findings.extend(quoted.err());
    Ok(JudgedAnswer { reference: T::reference(&answer).map(str::to_owned), advisory: rules.advisory, findings })
}

/// The quoted option. It passed when it was ranked; should it not any more, because the contract has
/// changed since, that is a finding and nothing is compared with it.
pub(crate) fn read_quoted<I: Intent>(about: &bindings::Subject) -> Result<Option<I::Item<'_>>, Violation> {
    let Some(json) = about.quoted.as_deref() else {
        return Ok(None);
    };
    read_document(json).map(Some).map_err(|violations: Vec<Violation>| {
        let why = violations.first().map_or("", |first| &first.message);
        Violation {
            pointer: String::new(),
            code: code::QUOTE_UNREADABLE.to_owned(),
            message: format!("The quoted option could not be read, so nothing was compared with it: {why}"),
        }
    })
}

/// What the author's rules are told of what a call is about; `quoted` is what [`read_quoted`] made of it.
pub(crate) fn subject<'s, T>(
    context: &Context,
    about: &'s bindings::Subject,
    quoted: &'s Result<Option<T>, Violation>,
) -> Subject<'s, T> {
    Subject {
        quoted: quoted.as_ref().ok().and_then(Option::as_ref),
        order: about.order.as_ref().map(Order::of),
        now_ms: context.now_ms,
    }
}
