//! The samples of the contracts that ship, for what is measured: a search whose every option passes.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Options of a payload; the most that one answer may hold.
pub const OPTIONS: usize = 15;

/// One contract's samples.
#[derive(Clone, Copy)]
pub struct Sample {
    pub intent: &'static str,
    /// The search tool.
    pub tool: &'static str,
    pub options_key: &'static str,
    pub package: &'static str,
    /// The sample of one option.
    option: &'static str,
    /// Where the option's identifier is, a JSON Pointer.
    id: &'static str,
    /// A number of the option that differs from one option to the next, as equal ones would cost the breaking of ties.
    varied: &'static str,
}

pub const AC_SERVICE: Sample = Sample {
    intent: "auto.book_ac_service",
    tool: "search_ac_service_slots",
    options_key: "slots",
    package: "auto-book-ac-service",
    option: "slot.json",
    id: "/slot_id",
    varied: "/provider/distance_from_user_km",
};

pub const MOTOR_INSURANCE: Sample = Sample {
    intent: "finance.buy_motor_insurance",
    tool: "search_motor_quotes",
    options_key: "quotes",
    package: "finance-buy-motor-insurance",
    option: "quote.json",
    id: "/quote_id",
    varied: "/insurer/motor_claim_settlement_days_avg",
};

pub const YOGA_CLASS: Sample = Sample {
    intent: "lifestyle.book_yoga_class",
    tool: "search_providers",
    options_key: "options",
    package: "lifestyle-book-yoga-class",
    option: "option.json",
    id: "/yoga_studio/identity/id",
    varied: "/yoga_studio/distance_from_user_km",
};

/// The project's root folder.
fn root() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.ancestors().nth(2).expect("host/testing lies in the root folder").to_owned()
}

impl Sample {
    /// A sample by the name of its file, JSON text.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn read(&self, name: &str) -> String {
        let path = root().join("plugins").join(self.package).join("samples").join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()))
    }

    /// The request, JSON text.
    #[must_use]
    pub fn request(&self) -> String {
        self.read("request.json")
    }

    /// A search payload, JSON text: the sample's option as often as an answer may hold one. Members stand in the order of the
    /// sample, as they do where a partner writes what the contract's schema says.
    ///
    /// # Panics
    /// When the sample of the option has another shape.
    #[must_use]
    pub fn payload(&self) -> String {
        let text = compact(&self.read(self.option));
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

    /// The component that `cargo xtask guests` has built.
    ///
    /// # Panics
    /// When it has not.
    #[must_use]
    pub fn component(&self) -> Vec<u8> {
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
