//! The tools that are measured, each with the samples of its contract.

use serde_json::{Value, json};

use crate::root;

/// Stands in the arguments for the number of the call.
const NUMBER: &str = "NUMBER-OF-THE-CALL";

/// One tool, and the search whose option it is about.
pub(crate) struct Subject {
    pub(crate) intent: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) package: &'static str,
    pub(crate) search_tool: &'static str,
    options_key: &'static str,
    option: &'static str,
    arguments: &'static str,
    answer: &'static str,
}

/// One that only reads, and one that books: the gateway keeps the outcome of each booking.
pub(crate) const SUBJECTS: [Subject; 2] = [
    Subject {
        intent: "lifestyle.book_yoga_class",
        tool: "get_available_slots",
        package: "lifestyle-book-yoga-class",
        search_tool: "search_providers",
        options_key: "options",
        option: "option.json",
        arguments: "slots-arguments.json",
        answer: "slots.json",
    },
    Subject {
        intent: "auto.book_ac_service",
        tool: "create_ac_service_booking",
        package: "auto-book-ac-service",
        search_tool: "search_ac_service_slots",
        options_key: "slots",
        option: "slot.json",
        arguments: "create-arguments.json",
        answer: "booking.json",
    },
];

impl Subject {
    fn sample(&self, name: &str) -> Value {
        let path = root().join("plugins").join(self.package).join("samples").join(name);
        let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()));
        serde_json::from_slice(&text).expect("the sample is JSON")
    }

    /// A search, JSON text.
    pub(crate) fn request(&self) -> String {
        self.sample("request.json").to_string()
    }

    /// The answer to the search, JSON text: one option, which can be booked.
    pub(crate) fn found(&self) -> String {
        let options = [self.sample(self.option)];
        json!({"result_token": "bench", "expires_at": "2099-01-01T00:00:00Z", self.options_key: options}).to_string()
    }

    /// The answer to the tool, JSON text.
    pub(crate) fn answer(&self) -> String {
        self.sample(self.answer).to_string()
    }

    pub(crate) fn arguments(&self) -> Arguments {
        let mut arguments = self.sample(self.arguments);
        arguments["request_id"] = NUMBER.into();
        let text = arguments.to_string();
        let (before, after) = text.split_once(NUMBER).expect("it was put there");
        Arguments { before: before.to_owned(), after: after.to_owned() }
    }

    /// The component.
    pub(crate) fn component(&self) -> Vec<u8> {
        let path = root().join("target/contracts").join(self.package).with_extension("wasm");
        let problem = |error| panic!("{}: {error}; `cargo xtask guests` builds it", path.display());
        std::fs::read(&path).unwrap_or_else(problem)
    }
}

/// Arguments of a tool, another request for each call: a request that is repeated would be answered from what was kept.
pub(crate) struct Arguments {
    before: String,
    after: String,
}

impl Arguments {
    /// JSON text.
    pub(crate) fn of_call(&self, number: u64) -> String {
        let Self { before, after } = self;
        format!("{before}bench-{number}{after}")
    }
}
