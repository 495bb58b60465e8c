//! The contract and the core read the same report: closing time and amounts, which both parse for themselves, are
//! accepted by both or refused by both, and come out the same.
//!
//! The core alone refuses what no ledger can keep, a time before 1970 or after the last days of 9999. The years at both
//! ends are not tried.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{About, CallContext, Refusal};
use intent_gateway_domain::error::ContractError;
use intent_gateway_domain::ports::Contract as _;
use intent_gateway_ledger::completion::Report;
use intent_gateway_sandbox::{Engine, LoadedContract, SandboxConfig};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::ac_report;
use crate::harness::ac_contract;

/// Reports that are made up, for each member.
const CASES: u32 = 400;
const AMOUNTS: [&str; 4] = ["amount_inr", "gst_inr", "tips_inr", "pass_through_inr"];

/// Values as they stand in the JSON of a report.
const CLOSED_AT: [&str; 42] = [
    r#""2026-05-04T10:00:00+05:30""#,
    r#""2026-05-04T10:00:00Z""#,
    r#""2026-05-04T10:00Z""#,
    r#""2026-05-04T10:00+0530""#,
    r#""2026-05-04T10:00:00-00:00""#,
    r#""2026-05-04T10:00:00.5Z""#,
    r#""2026-05-04T10:00:00,123456789Z""#,
    r#""2026-05-04T10:00:00.1234567890Z""#,
    r#""2026-05-04T10:00:00.Z""#,
    r#""2026-05-04T10:00:60Z""#,
    r#""2026-05-04T24:00:00Z""#,
    r#""2026-05-04T23:59:59+23:59""#,
    r#""2026-05-04T23:59:59-23:59""#,
    r#""2026-05-04T10:00:00+24:00""#,
    r#""2026-05-04T10:00:00+05:60""#,
    r#""2026-05-04T10:00:00+05""#,
    r#""2026-05-04T10:00:00+5:30""#,
    r#""2026-05-04T10:00:00 +05:30""#,
    r#""2026-05-04T10:00:00z""#,
    r#""2026-05-04t10:00:00Z""#,
    r#""2026-05-04 10:00:00Z""#,
    r#""2026-05-04T10:00:00""#,
    r#""2026-05-04T10Z""#,
    r#""2026-05-04""#,
    r#""20260504T100000Z""#,
    r#""2026-02-29T10:00:00Z""#,
    r#""2028-02-29T10:00:00Z""#,
    r#""2100-02-29T10:00:00Z""#,
    r#""2026-13-01T10:00:00Z""#,
    r#""2026-00-01T10:00:00Z""#,
    r#""2026-05-32T10:00:00Z""#,
    r#""2026-5-4T10:00:00Z""#,
    r#""+2026-05-04T10:00:00Z""#,
    r#"" 2026-05-04T10:00:00Z""#,
    r#""2026-05-04T10:00:00Z ""#,
    r#""2026-05-04T10:00:00Z[Asia/Kolkata]""#,
    r#""\u0032026-05-04T10:00:00Z""#,
    r#""２026-05-04T10:00:00Z""#,
    r#""""#,
    "1777883400000",
    "null",
    r#"["2026-05-04T10:00:00Z"]"#,
];
const AMOUNT: [&str; 38] = [
    "0",
    "-0",
    "-0.00",
    "0e5",
    "-0e-999999999999999999999",
    "1",
    "1.0",
    "1.5",
    "1.50000000000000000000000000",
    "12.34",
    "12.345",
    "0.01",
    "0.001",
    "1e-2",
    "1e-3",
    "100e-4",
    "1.25e1",
    "125E-1",
    "1E+3",
    "-0.01",
    "-1",
    "-0.001",
    "999999999999.99",
    "1000000000000",
    "1000000000000.00",
    "1000000000000.01",
    "10000000",
    "10000000.01",
    "10000000000000",
    "1e12",
    "1e13",
    "1e400",
    "1e-400",
    "1e99999999999999999999",
    "\"1\"",
    "null",
    "true",
    "[1]",
];

/// A contract, and a runtime to call it on.
struct Judges {
    contract: LoadedContract,
    runtime: tokio::runtime::Runtime,
}

impl Judges {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let component = std::fs::read(ac_contract()).expect("readable");
        let load = async {
            let engine = Engine::new(&SandboxConfig::default()).expect("the engine starts");
            LoadedContract::compile(&engine, &component).await.expect("the contract loads")
        };
        Self { contract: runtime.block_on(load), runtime }
    }

    /// Holds the contract's reading against the core's, of a report whose member has this value, a JSON text. Whether
    /// both accept it; an error where they differ.
    fn agree(&self, member: &str, value: &str) -> Result<bool, String> {
        let mut report = ac_report("BK/1", "r-1");
        report[member] = "here".into();
        let text = report.to_string().replace("\"here\"", value);
        let stated = &self.contract.descriptor().completion;
        let of_core = Report::parse(text.as_bytes()).and_then(|read| read.check_amounts(stated).map(|()| read));
        let context = CallContext { request_id: "r-1".to_owned(), now: Timestamp::from_ms(1_800_000_000_000) };
        let of_contract = self.runtime.block_on(self.contract.check_completion(&context, &text, About::default()));
        match (of_core, of_contract) {
            // What the ledger books and what the contract has judged are one amount.
            (Ok(report), Ok(checked)) => match report.confirm(&checked) {
                Ok(()) => Ok(true),
                Err(error) => Err(format!("{member} {value}: {error}")),
            },
            (Err(ours), Err(ContractError::Refused(theirs))) => {
                let names_it = |refusal: &Refusal| match &refusal.violations[..] {
                    [only] => only.pointer == format!("/{member}"),
                    _ => false,
                };
                if [&ours, &theirs].into_iter().all(names_it) { Ok(false) } else { Err(format!("{ours:?} {theirs:?}")) }
            }
            other => Err(format!("{member} {value}: {other:?}")),
        }
    }
}

/// How many of the values both accept.
fn accepted(judges: &Judges, member: &str, values: &[&str]) -> usize {
    let agree = |value: &&&str| judges.agree(member, value).unwrap_or_else(|differs| panic!("{differs}"));
    values.iter().filter(agree).count()
}

#[test]
fn the_contract_and_the_core_agree_on_what_is_hard_to_read() {
    let judges = Judges::new();
    assert_eq!(accepted(&judges, "closed_at", &CLOSED_AT), 11);
    for member in AMOUNTS {
        assert_eq!(accepted(&judges, member, &AMOUNT), 17, "{member}");
    }
}

/// A datetime of a sound form, with figures of which most are in range.
fn datetime() -> impl Strategy<Value = String> {
    let figure = |range: std::ops::RangeInclusive<u32>| range.prop_map(|figure| format!("{figure:02}"));
    let date = (1971_u32..=9998, figure(0..=13), figure(0..=32)).prop_map(|(y, m, d)| format!("{y:04}-{m}-{d}"));
    let fraction = prop_oneof![Just(String::new()), "[.,][0-9]{0,11}"];
    let seconds = prop_oneof![Just(String::new()), (figure(0..=61), fraction).prop_map(|(s, f)| format!(":{s}{f}"))];
    let time = (figure(0..=24), figure(0..=60), seconds).prop_map(|(h, m, s)| format!("{h}:{m}{s}"));
    let offset = prop_oneof![
        Just("Z".to_owned()),
        ("[+-]", figure(0..=24), ":?", figure(0..=60)).prop_map(|(sign, h, colon, m)| format!("{sign}{h}{colon}{m}")),
    ];
    (date, time, offset).prop_map(|(date, time, offset)| format!("{date}T{time}{offset}"))
}

/// A text with one character changed, left out or put in, or as it is.
fn blemished(text: impl Strategy<Value = String>, characters: &'static str) -> impl Strategy<Value = String> {
    let character = prop::sample::select(characters.chars().collect::<Vec<_>>());
    // The year stays: those that the core alone refuses are not tried.
    (text, any::<prop::sample::Index>(), 0..8_u8, character).prop_map(|(text, at, deed, character)| {
        let mut text: Vec<char> = text.chars().collect();
        let at = 4 + at.index(text.len() - 4);
        match deed {
            0 => text[at] = character,
            1 => drop(text.remove(at)),
            2 => text.insert(at, character),
            _ => {}
        }
        text.into_iter().collect()
    })
}

/// A number, of which most are amounts.
fn number() -> impl Strategy<Value = String> {
    let whole = prop_oneof![Just("0".to_owned()), "[1-9][0-9]{0,4}", "[1-9][0-9]{6,14}"];
    let fraction = prop_oneof![Just(String::new()), r"\.[0-9]{1,3}", r"\.[0-9]{0,2}0{1,30}1?"];
    let exponent = prop_oneof![4 => Just(String::new()), 1 => "[eE][+-]?[0-9]{1,2}", 1 => "[eE]-?[0-9]{18,22}"];
    (prop_oneof![6 => Just(""), 1 => Just("-")], whole, fraction, exponent).prop_map(
        |(sign, whole, fraction, exponent)| {
            let fraction = if fraction == "." { String::new() } else { fraction };
            format!("{sign}{whole}{fraction}{exponent}")
        },
    )
}

/// Tries made-up values of a member; some are accepted and some are not, or the values say little.
fn try_many(judges: &Judges, member: &str, values: &impl Strategy<Value = String>, as_json: fn(&str) -> String) {
    let accepted = std::cell::Cell::new(0_u32);
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(CASES) });
    let outcome = runner.run(values, |value| {
        let both = judges.agree(member, &as_json(&value)).map_err(TestCaseError::fail)?;
        accepted.set(accepted.get() + u32::from(both));
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    let share = CASES / 10..=CASES * 9 / 10;
    assert!(share.contains(&accepted.get()), "{member}: {} of {CASES} were accepted", accepted.get());
}

#[test]
fn the_contract_and_the_core_agree_on_whatever_is_made_up() {
    let judges = Judges::new();
    let datetimes = blemished(datetime(), "0123456789-+:.,TtZz /");
    try_many(&judges, "closed_at", &datetimes, |text| serde_json::Value::from(text).to_string());
    for member in AMOUNTS {
        try_many(&judges, member, &number(), str::to_owned);
    }
}
