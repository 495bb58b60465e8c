//! A call with something wrong in it.

use fastrand::Rng;
use intent_gateway_domain::contract::{Axes, PastOrder, Subject};
use intent_gateway_domain::faults::{Answer, Call, Input};

use super::mutate;

/// Options that a mutation may make of one.
const COPIES_MAX: usize = 15;

/// The same call with something wrong in it.
pub(super) fn spoil(input: &Input, rng: &mut Rng) -> Input {
    let mut input = input.clone();
    match rng.u8(0..24) {
        0 => input.now_ms = [0, 1, u64::MAX, 253_402_300_800_000][rng.usize(..4)],
        1 => input.request_id = mutate::plain(&input.request_id, rng),
        _ => {}
    }
    match &mut input.call {
        Call::Classify { utterance, locale } => {
            *utterance = mutate::plain(utterance, rng);
            if rng.u8(0..8) == 0 {
                *locale = mutate::plain(locale, rng);
            }
        }
        Call::CheckRequest { tool, arguments, about } => {
            match (rng.u8(0..4), about.order.is_some() || about.quoted.is_some()) {
                (0, true) => odd_subject(about, rng),
                _ => *arguments = mutate::document(arguments, rng),
            }
            if rng.u8(0..32) == 0 {
                *tool = mutate::plain(tool, rng);
            }
        }
        Call::Evaluate { history, .. } if !history.is_empty() && rng.u8(0..4) == 0 => odd_history(history, rng),
        Call::Evaluate { request, payloads, .. } => search(request, payloads, rng),
        Call::CheckResponse { tool, arguments, payload, about } => {
            match rng.u8(0..4) {
                0 => *arguments = mutate::document(arguments, rng),
                1 => odd_subject(about, rng),
                _ => *payload = mutate::document(payload, rng),
            }
            if rng.u8(0..32) == 0 {
                *tool = mutate::plain(tool, rng);
            }
        }
        Call::CheckCompletion { report, about } => {
            if rng.u8(0..4) == 0 {
                odd_subject(about, rng);
            } else {
                *report = mutate::document(report, rng);
            }
        }
    }
    input
}

fn search(request: &mut String, payloads: &mut Vec<Answer>, rng: &mut Rng) {
    let options = payloads.iter().map(|answer| answer.options.len()).sum::<usize>();
    if options == 0 || rng.u8(0..4) == 0 {
        *request = mutate::document(request, rng);
        return;
    }
    let Some(answer) = rng.choice(payloads.iter_mut()) else { return };
    match rng.u8(0..12) {
        0 => answer.declared = Axes { time: 0.0, taste: 1.0, budget: 0.0, safety: 1.0 },
        1 => answer.options.clear(),
        2 => {
            // The same option again and again, as a partner's slip has it.
            if let Some(option) = rng.choice(&answer.options).cloned() {
                let copies = rng.usize(1..=COPIES_MAX);
                answer.options.extend(std::iter::repeat_n(option, copies));
            }
        }
        3 => {
            let copy = answer.clone();
            payloads.push(copy);
        }
        _ => {
            if let Some(option) = rng.choice(answer.options.iter_mut()) {
                *option = mutate::document(option, rng);
            }
        }
    }
}

/// Other past orders; the orders are the host's, yet their attributes are the partner's words.
fn odd_history(history: &mut Vec<PastOrder>, rng: &mut Rng) {
    let Some(past) = rng.choice(history.iter_mut()) else { return };
    match rng.u8(0..4) {
        0 => past.status = mutate::plain(&past.status, rng),
        1 => {
            let copy = past.clone();
            history.extend(std::iter::repeat_n(copy, COPIES_MAX));
        }
        _ => {
            // The host writes them itself, so they are always an object.
            if let Ok(odd) = serde_json::from_str(&mutate::document(&past.attributes_json(), rng)) {
                past.attributes = odd;
            }
        }
    }
}

/// Another option or another order; the order is the host's, yet what it keeps are the partner's words.
fn odd_subject(about: &mut Subject, rng: &mut Rng) {
    match about.order.as_mut() {
        Some(order) if rng.bool() => match rng.u8(0..4) {
            0 => about.order = None,
            1 => order.answered.clear(),
            2 => order.state = mutate::plain(&order.state, rng),
            _ => order.kept = mutate::document(&order.kept, rng),
        },
        _ => odd_quote(&mut about.quoted, rng),
    }
}

fn odd_quote(quoted: &mut Option<String>, rng: &mut Rng) {
    *quoted = match quoted.take() {
        Some(_) if rng.u8(0..4) == 0 => None,
        Some(option) => Some(mutate::document(&option, rng)),
        None => Some(mutate::document("{}", rng)),
    };
}
