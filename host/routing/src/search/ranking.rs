//! Has the contract rank what partners have answered, and makes the answer and the receipt of it.

use std::collections::BTreeMap;
use std::time::Instant;

use super::gathered::{GatheredAnswers, RankedOrigin};
use super::outcome::empty_code;
use super::prepare::PreparedSearch;
use super::{PartnerOutcome, RankedChoice, SearchError, SearchOutcome, Searcher};
use crate::reference::{AnswerSealer, AskerMark, OptionReference, Quote};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Evaluation, PastOrder, Payload};
use intent_gateway_domain::ports::ReceiptFate;
use intent_gateway_domain::receipt::{self, Receipt, ReceiptDrop, ReceiptPayload, ReceiptScore};
use intent_gateway_domain::telemetry::{self, Stage};

/// What the options of a ranking have in common as they are shown.
struct ShownRanking<'a> {
    /// The receipt's identifier, where there is one.
    receipt: Option<&'a str>,
    /// Whether references quote their options, since the receipt is not expected to be kept soon.
    quotes: bool,
    asker: AskerMark,
    at: Timestamp,
}

/// What the options of one answer have in common.
struct ShownAnswer<'k> {
    bookable: bool,
    bookable_until: Timestamp,
    references: AnswerSealer<'k>,
}

impl Searcher {
    /// Has the contract rank the options. Where there are none, it is not called.
    pub(super) async fn evaluate(
        &self,
        search: &PreparedSearch,
        payloads: &[ReceiptPayload],
        history: &[PastOrder],
    ) -> Result<Evaluation, SearchError> {
        if payloads.is_empty() {
            return Ok(Evaluation::default());
        }
        let start = Instant::now();
        let payloads: Vec<Payload<'_>> = payloads.iter().map(ReceiptPayload::for_contract).collect();
        let evaluation = search.contract.evaluate(&search.context, search.arguments.get(), &payloads, history).await?;
        telemetry::stage(Stage::Evaluate, search.descriptor(), start.elapsed());
        Ok(evaluation)
    }

    /// The answer. Findings go to the journal once, when all partners have answered.
    pub(super) fn answer(
        &self,
        search: &PreparedSearch,
        gathered: &GatheredAnswers,
        evaluation: Evaluation,
        receipt: Option<&str>,
        is_complete: bool,
    ) -> SearchOutcome {
        let (descriptor, context) = (search.descriptor(), &search.context);
        let start = Instant::now();
        let notes = if is_complete { gathered.notes(&evaluation, descriptor) } else { Vec::new() };
        let Evaluation { ranked, dropped, .. } = evaluation;
        let dropped = gathered.dropped(dropped);
        if is_complete {
            self.record(context, descriptor, gathered, &notes, &dropped);
        }
        let fate = self.journal.receipt_fate();
        // The receipt of a ranking that still changes is kept at the end of the search.
        let is_kept_soon = is_complete && fate == ReceiptFate::KeptSoon;
        let asker = AskerMark::of(&search.asker);
        let shown = ShownRanking { receipt, quotes: receipt.is_some() && !is_kept_soon, asker, at: self.clock.now() };
        let mut answers = BTreeMap::new();
        let choice = |origin: RankedOrigin<'_>| {
            let answer = answers.entry(origin.place).or_insert_with(|| self.describe_answer(search, &origin, &shown));
            choice(origin, answer, shown.quotes)
        };
        let options: Vec<RankedChoice> = gathered.ranked(ranked).map(choice).collect();
        let left_out =
            search.left_out.iter().map(|(partner, reason)| PartnerOutcome::left_out(partner.clone(), *reason));
        let mut partners: Vec<PartnerOutcome> = gathered.answers().map(PartnerOutcome::of).chain(left_out).collect();
        partners.sort_by(|a, b| a.partner.id.cmp(&b.partner.id));
        let code = if options.is_empty() && is_complete { empty_code(descriptor, &partners) } else { None };
        telemetry::stage(Stage::Respond, descriptor, start.elapsed());
        SearchOutcome {
            request_id: context.request_id.clone(),
            contract: search.contract.clone(),
            receipt: receipt.map(str::to_owned),
            is_receipt_kept: receipt.is_none() || fate != ReceiptFate::Doubtful,
            code,
            options,
            dropped,
            partners,
            left_out_more: search.left_out_more,
            notes: search.notes.clone(),
        }
    }

    /// What is shown of all options of an answer, by one of them.
    fn describe_answer(
        &self,
        search: &PreparedSearch,
        RankedOrigin { ranked, answer, .. }: &RankedOrigin<'_>,
        shown: &ShownRanking<'_>,
    ) -> ShownAnswer<'_> {
        let (now, payload) = (search.context.now, answer.result.as_ref().ok());
        let token = payload.and_then(|payload| payload.token.as_ref());
        let bookable_until = payload.map_or(now, |payload| payload.bookable_until(now));
        let references = self.references.of_answer(&OptionReference {
            partner: answer.partner.id.as_str().to_owned(),
            intent: search.descriptor().intent.as_str().to_owned(),
            contract: search.contract.digest(),
            request_id: search.context.request_id.clone(),
            option_id: ranked.id.clone(),
            number: ranked.number,
            receipt: shown.receipt.map(str::to_owned),
            asker: Some(shown.asker),
            answered_at_ms: Some(shown.at),
            result_token: token.map(|token| token.result_token.clone()),
            expires_at_ms: bookable_until,
            quoted: None,
        });
        ShownAnswer { bookable: token.is_some() && bookable_until > now, bookable_until, references }
    }
}

/// An option as it is shown, with the reference to book it by.
fn choice(
    RankedOrigin { ranked, answer, option, .. }: RankedOrigin<'_>,
    &ShownAnswer { bookable, bookable_until, ref references }: &ShownAnswer<'_>,
    quotes: bool,
) -> RankedChoice {
    let quote = quotes.then(|| Quote::of(option.get()));
    let reference = references.seal(&ranked.id, ranked.number, quote.as_ref());
    RankedChoice {
        reference,
        bookable,
        bookable_until,
        partner: answer.partner.clone(),
        ranked,
        option: option.to_owned(),
    }
}

/// What is kept of a ranking. `shown_before` are the options that earlier rankings of the search have shown: those that
/// this one does not show any more stand behind the others, for they may have been booked.
pub(super) fn receipt(
    search: &PreparedSearch,
    id: Option<&str>,
    payloads: Vec<ReceiptPayload>,
    bookable_until_ms: Option<Timestamp>,
    history: Vec<PastOrder>,
    evaluation: &Evaluation,
    shown_before: &BTreeMap<u32, ReceiptScore>,
) -> Receipt {
    let (descriptor, context, contract) = (search.descriptor(), &search.context, search.contract.digest());
    let outcome = receipt::outcome(evaluation);
    let mut ranked: Vec<ReceiptScore> = evaluation.ranked.iter().map(ReceiptScore::from).collect();
    let is_shown = |number: u32| evaluation.ranked.iter().any(|option| option.number == number);
    ranked.extend(shown_before.values().filter(|score| !is_shown(score.number)).cloned());
    Receipt {
        id: id.map_or_else(|| receipt::identifier(context, contract, outcome), str::to_owned),
        at_ms: context.now,
        request_id: context.request_id.clone(),
        intent: descriptor.intent.clone(),
        version: descriptor.version.clone(),
        contract,
        arguments: search.arguments.clone(),
        payloads,
        history,
        ranked,
        dropped: evaluation.dropped.iter().map(ReceiptDrop::from).collect(),
        bookable_until_ms,
        outcome,
    }
}
