//! Partners' health as a text for people: who is in trouble, and by which numbers.

use intent_gateway_api::health::{
    HealthBody, HealthList, IncidentBody, IntentHealthBody, OutBody, StrikeTaken, StrikesBody, ToolHealthBody,
};
use intent_gateway_api::name;
use intent_gateway_domain::health::Percentiles;
use intent_gateway_outbound::health::breaker::BreakerState;

use super::show::{Sections, with_next};
use crate::terminal::{Palette, Tone, count, harmless, table};

/// One line a partner.
pub(super) fn partners(HealthList { partners, next }: &HealthList, _: Palette) -> String {
    let rows: Vec<[String; 5]> = partners
        .iter()
        .map(|partner| {
            let out: Vec<&str> = of_those_out(partner).map(|intent| intent.intent.as_str()).collect();
            let strikes = partner.strikes.iter().map(|held| format!("{} {}", held.incidents.len(), held.code));
            [
                partner.partner.clone(),
                if partner.routed { "yes" } else { "no" }.to_owned(),
                name(&partner.breaker.state),
                if out.is_empty() { "-".to_owned() } else { out.join(", ") },
                none_or(strikes.collect::<Vec<_>>().join(", ")),
            ]
        })
        .collect();
    with_next(table(["partner", "routed", "breaker", "too slow for", "strikes"], &rows), next.as_deref())
}

fn of_those_out(partner: &HealthBody) -> impl Iterator<Item = &IntentHealthBody> {
    partner.intents.iter().filter(|intent| intent.out.is_some())
}

fn none_or(text: String) -> String {
    if text.is_empty() { "-".to_owned() } else { text }
}

/// All that is known of one.
pub(super) fn partner(partner: &HealthBody, palette: Palette) -> String {
    let HealthBody { partner: id, routed, breaker, strikes, intents } = partner;
    let mut page = Sections::default();
    let tone = match breaker.state {
        BreakerState::Closed => Tone::Good,
        BreakerState::HalfOpen => Tone::Doubtful,
        BreakerState::Open => Tone::Bad,
    };
    let until = breaker.until.as_ref().map(|until| format!(" until {}", harmless(until))).unwrap_or_default();
    let lines = [
        format!("{}: requests are {}routed to it", harmless(id), if *routed { "" } else { "not " }),
        format!("breaker: {}{until}", palette.paint(tone, &name(&breaker.state))),
        format!(
            "{} of {} failed within the last minute, {} in a row",
            breaker.failed,
            count(breaker.calls as usize, "call"),
            breaker.consecutive
        ),
    ];
    page.section("Partner", lines.join("\n"));
    for held in strikes {
        page.section("Strikes", self::strikes(held));
    }
    for IntentHealthBody { intent, out, tools, in_pool: _ } in intents {
        let pool =
            out.as_ref().map_or_else(|| palette.paint(Tone::Good, "in the pool"), |out| show_time_left(out, palette));
        page.section(&harmless(intent), format!("{pool}\n{}", self::tools(tools)));
    }
    page.finish()
}

fn show_time_left(out: &OutBody, palette: Palette) -> String {
    let OutBody { since, tool, target_p95_ms, window: Percentiles { p95_ms, .. }, next_trial, good_calls, .. } = out;
    let out = palette.paint(Tone::Bad, "out of the pool");
    format!(
        "{out} since {}: {} took {p95_ms} ms at the 95th percentile, target {target_p95_ms}\n\
         next trial at {}, {good_calls} good in a row",
        harmless(since),
        harmless(tool),
        harmless(next_trial)
    )
}

pub(super) fn strikes(StrikesBody { code, incidents, suspends_at, within_days }: &StrikesBody) -> String {
    let head = format!("{} of {suspends_at} within {within_days} days: {}", incidents.len(), harmless(code));
    let lines = incidents.iter().map(|IncidentBody { at, id }| format!("{}  {}", harmless(at), harmless(id)));
    std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
}

/// Each tool's last five minutes beside its targets, milliseconds.
pub(super) fn tools(tools: &[ToolHealthBody]) -> String {
    let rows: Vec<[String; 6]> = tools
        .iter()
        .map(|ToolHealthBody { tool, targets, window, .. }| {
            let Percentiles { calls, slow, p50_ms, p95_ms, p99_ms } = window;
            let p99 = targets.p99_ms.map_or_else(|| format!("{p99_ms}"), |target| format!("{p99_ms} / {target}"));
            [
                tool.clone(),
                calls.to_string(),
                slow.to_string(),
                format!("{p50_ms} / {}", targets.p50_ms),
                format!("{p95_ms} / {}", targets.p95_ms),
                p99,
            ]
        })
        .collect();
    table(["tool", "calls", "slow", "p50 / target", "p95 / target", "p99 / target"], &rows)
}

/// What a strike became.
pub(super) fn taken(StrikeTaken { partner, code, external_id }: &StrikeTaken, _: Palette) -> String {
    format!("recorded: {} against {}, order {}", harmless(code), harmless(partner), harmless(external_id))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_with_a_partner_stands_out() {
        let tool = json!({"tool": "search_things", "targets": {"p50_ms": 600, "p95_ms": 1500, "p99_ms": null},
            "calls": 40, "slow": 9, "p50_ms": 700, "p95_ms": 3583, "p99_ms": 4095, "over_since": "t0"});
        let out = json!({"since": "t1", "tool": "search_things", "target_p95_ms": 1500, "over_for_ms": 300_000,
            "calls": 40, "slow": 9, "p50_ms": 700, "p95_ms": 3583, "p99_ms": 4095, "next_trial": "t2", "good_calls": 3});
        let partner = json!({
            "partner": "ptr_1", "routed": true,
            "breaker": {"state": "open", "consecutive": 5, "failed": 5, "calls": 6, "until": "t3"},
            "strikes": [{"code": "FORBIDDEN_FIELD", "incidents": [{"at": "t4", "id": "r\u{1b}1"}], "suspends_at": 3,
                "within_days": 90}],
            "intents": [{"intent": "test.find_things", "in_pool": false, "out": out, "tools": [tool]}],
        });
        let text = super::partner(&serde_json::from_value(partner.clone()).expect("a partner"), Palette::PLAIN);
        for part in [
            "breaker: open until t3",
            "5 of 6 calls failed within the last minute, 5 in a row",
            "1 of 3 within 90 days: FORBIDDEN_FIELD",
            "t4  r\\u{1b}1",
            "out of the pool since t1: search_things took 3583 ms at the 95th percentile, target 1500",
            "next trial at t2, 3 good in a row",
            "3583 / 1500",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let list = json!({"partners": [partner], "next": null});
        let text = super::partners(&serde_json::from_value(list).expect("a list"), Palette::PLAIN);
        let row = text.lines().nth(1).expect("a row").split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(row, "ptr_1 yes open test.find_things 1 FORBIDDEN_FIELD");
    }
}
