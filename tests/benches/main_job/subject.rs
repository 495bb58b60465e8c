//! The contracts that are measured, each with a search whose every option passes.

use std::path::PathBuf;

use auto_book_ac_service::AcService;
use contract_sdk::bindings::{Context, Evaluation, PastOrder, Payload, Refusal};
use contract_sdk::engine::evaluate;
use finance_buy_motor_insurance::MotorInsurance;
use lifestyle_book_yoga_class::YogaClass;
use serde_json::{Value, json};

use crate::root;

/// Options of the payload; the most that one answer may hold.
pub(crate) const OPTIONS: usize = 15;

/// The contract's own code, called without a sandbox.
type Evaluate = fn(&Context, &str, &[Payload], &[PastOrder]) -> Result<Evaluation, Refusal>;

/// One contract.
pub(crate) struct Subject {
    pub(crate) intent: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) options_key: &'static str,
    pub(crate) evaluate: Evaluate,
    package: &'static str,
    /// The sample of one option.
    option: &'static str,
    /// Where the option's identifier is.
    id: &'static str,
    /// A number of the option that differs from one option to the next, as equal ones would cost the breaking of ties.
    varied: &'static str,
}

pub(crate) const SUBJECTS: [Subject; 3] = [
    Subject {
        intent: "auto.book_ac_service",
        tool: "search_ac_service_slots",
        options_key: "slots",
        evaluate: evaluate::<AcService>,
        package: "auto-book-ac-service",
        option: "slot.json",
        id: "/slot_id",
        varied: "/provider/distance_from_user_km",
    },
    Subject {
        intent: "finance.buy_motor_insurance",
        tool: "search_motor_quotes",
        options_key: "quotes",
        evaluate: evaluate::<MotorInsurance>,
        package: "finance-buy-motor-insurance",
        option: "quote.json",
        id: "/quote_id",
        varied: "/insurer/motor_claim_settlement_days_avg",
    },
    Subject {
        intent: "lifestyle.book_yoga_class",
        tool: "search_providers",
        options_key: "options",
        evaluate: evaluate::<YogaClass>,
        package: "lifestyle-book-yoga-class",
        option: "option.json",
        id: "/yoga_studio/identity/id",
        varied: "/yoga_studio/distance_from_user_km",
    },
];

impl Subject {
    fn sample(&self, name: &str) -> String {
        let path: PathBuf =
            [self.package, "samples", name].iter().fold(root().join("plugins"), |path, part| path.join(part));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()))
    }

    /// The request, JSON text.
    pub(crate) fn request(&self) -> String {
        self.sample("request.json")
    }

    /// A search payload, JSON text: the sample's option as often as an answer may hold one. Members stand in the order of the
    /// sample, as they do where a partner writes what the contract's schema says.
    pub(crate) fn payload(&self) -> String {
        let text = compact(&self.sample(self.option));
        let option: Value = serde_json::from_str(&text).expect("the sample is JSON");
        let options: Vec<String> = (0..OPTIONS)
            .map(|number| {
                let text = replace(&text, &option, self.id, &json!(format!("option-{number}")));
                replace(&text, &option, self.varied, &json!(1.0 + number as f64 / 10.0))
            })
            .collect();
        let (key, options) = (self.options_key, options.join(","));
        format!(r#"{{"result_token":"bench","expires_at":"2099-01-01T00:00:00Z","{key}":[{options}]}}"#)
    }

    /// The component.
    pub(crate) fn component(&self) -> Vec<u8> {
        let path = root().join("target/contracts").join(self.package).with_extension("wasm");
        let problem = |error| panic!("{}: {error}; `cargo xtask guests` builds it", path.display());
        std::fs::read(&path).unwrap_or_else(problem)
    }
}

/// JSON text without the blanks between its tokens.
fn compact(json: &str) -> String {
    let (mut is_within, mut is_escaped) = (false, false);
    let keep = |sign: &char| {
        let keeps = is_within || !sign.is_ascii_whitespace();
        match sign {
            '"' if !is_escaped => is_within = !is_within,
            _ => {}
        }
        is_escaped = *sign == '\\' && !is_escaped;
        keeps
    };
    json.chars().filter(keep).collect()
}

/// The text of an option with another value at a pointer, which has the only member of that name and value.
fn replace(text: &str, option: &Value, pointer: &str, value: &Value) -> String {
    let name = pointer.rsplit('/').next().unwrap_or_default();
    let before = option.pointer(pointer).unwrap_or_else(|| panic!("the option has `{pointer}`"));
    let member = format!("\"{name}\":{before}");
    assert_eq!(text.matches(&member).count(), 1, "{member}");
    text.replace(&member, &format!("\"{name}\":{value}"))
}
