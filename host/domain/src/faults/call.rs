//! One call of a contract: which function, with which arguments. Borrowed while it is made, owned where it is kept or read
//! from a file.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::contract::{About, Axes, CallContext, Candidate, Exchange, PastOrder, Payload, Subject};

/// The functions of a contract that a request can lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ContractFunction))]
#[serde(rename_all = "kebab-case")]
pub enum Function {
    /// Judges an utterance.
    Classify,
    /// Judges the arguments of a tool.
    CheckRequest,
    /// Ranks the options of all answers.
    Evaluate,
    /// Judges the answer of a tool that is not a search.
    CheckResponse,
    /// Judges a completion report.
    CheckCompletion,
}

impl Function {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Classify, Self::CheckRequest, Self::Evaluate, Self::CheckResponse, Self::CheckCompletion];

    /// The interface's name of the function.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Classify => "classify",
            Self::CheckRequest => "check-request",
            Self::Evaluate => "evaluate",
            Self::CheckResponse => "check-response",
            Self::CheckCompletion => "check-completion",
        }
    }

    /// The function of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }
}

/// A call as it is made.
#[derive(Clone, Copy, Debug)]
pub enum CallRef<'a> {
    /// An utterance and its locale.
    Classify(&'a str, &'a str),
    /// A tool, its arguments, and what they are about.
    CheckRequest(&'a CallContext, &'a str, &'a str, About<'a>),
    /// A request, the options of all answers, and the user's past orders.
    Evaluate(&'a CallContext, &'a str, &'a [Payload<'a>], &'a [PastOrder]),
    /// An answer of a tool.
    CheckResponse(&'a CallContext, Exchange<'a>),
    /// A report, and what it is about.
    CheckCompletion(&'a CallContext, &'a str, About<'a>),
}

impl CallRef<'_> {
    /// The function that is called.
    #[must_use]
    pub fn function(&self) -> Function {
        match self {
            Self::Classify(..) => Function::Classify,
            Self::CheckRequest(..) => Function::CheckRequest,
            Self::Evaluate(..) => Function::Evaluate,
            Self::CheckResponse(..) => Function::CheckResponse,
            Self::CheckCompletion(..) => Function::CheckCompletion,
        }
    }

    /// What the function is told of the world outside.
    #[must_use]
    pub fn context(&self) -> Option<&CallContext> {
        match self {
            Self::Classify(..) => None,
            Self::CheckRequest(context, ..)
            | Self::Evaluate(context, ..)
            | Self::CheckResponse(context, _)
            | Self::CheckCompletion(context, ..) => Some(context),
        }
    }

    /// The call with everything that it was given.
    #[must_use]
    pub fn to_input(&self) -> Input {
        let text = |text: &str| text.to_owned();
        let call = match *self {
            Self::Classify(utterance, locale) => Call::Classify { utterance: text(utterance), locale: text(locale) },
            Self::CheckRequest(_, tool, arguments, about) => {
                Call::CheckRequest { tool: text(tool), arguments: text(arguments), about: about.to_subject() }
            }
            Self::Evaluate(_, request, payloads, history) => Call::Evaluate {
                request: text(request),
                payloads: payloads.iter().map(Answer::of).collect(),
                history: history.to_vec(),
            },
            Self::CheckResponse(_, Exchange { tool, arguments, payload, about }) => Call::CheckResponse {
                tool: text(tool),
                arguments: text(arguments),
                payload: text(payload),
                about: about.to_subject(),
            },
            Self::CheckCompletion(_, report, about) => {
                Call::CheckCompletion { report: text(report), about: about.to_subject() }
            }
        };
        let (request_id, now) = match self.context() {
            Some(CallContext { request_id, now }) => (request_id.clone(), *now),
            None => (String::new(), Timestamp::EPOCH),
        };
        Input { request_id, now_ms: now.as_ms(), call }
    }
}

/// A call with its arguments, as it is kept, and written to a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ContractInput))]
pub struct Input {
    /// Identifier of the request; empty where the function is told none.
    pub request_id: String,
    /// The time that the contract is told, milliseconds since the Unix epoch; 0 where it is told none.
    pub now_ms: u64,
    /// The function and its arguments.
    #[serde(flatten)]
    pub call: Call,
}

/// A function with its arguments. All documents are JSON text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ContractCall))]
#[serde(tag = "function", rename_all = "kebab-case")]
pub enum Call {
    /// Judges an utterance.
    Classify {
        /// In the user's words.
        utterance: String,
        /// BCP 47 tag.
        locale: String,
    },
    /// Judges the arguments of a tool.
    CheckRequest {
        tool: String,
        /// Its arguments.
        arguments: String,
        /// What the call is about.
        #[serde(flatten)]
        about: Subject,
    },
    /// Ranks the options of all answers.
    Evaluate {
        /// The request.
        request: String,
        /// The answers.
        payloads: Vec<Answer>,
        /// The user's past orders.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "schema", schema(required = false))]
        history: Vec<PastOrder>,
    },
    /// Judges the answer of a tool that is not a search.
    CheckResponse {
        tool: String,
        /// The arguments that were sent.
        arguments: String,
        /// The answer.
        payload: String,
        /// What the call is about.
        #[serde(flatten)]
        about: Subject,
    },
    /// Judges a completion report.
    CheckCompletion {
        /// The report.
        report: String,
        /// What the report is about.
        #[serde(flatten)]
        about: Subject,
    },
}

/// The options of one partner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ContractAnswer))]
pub struct Answer {
    /// The signals that the partner declares.
    pub declared: Axes,
    /// The options.
    pub options: Vec<String>,
    /// The number of each option; absent where the options of all answers are numbered through from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schema(required = false))]
    pub numbers: Vec<u32>,
}

impl Answer {
    /// Options that are numbered through with those of all other answers.
    #[must_use]
    pub fn new(declared: Axes, options: Vec<String>) -> Self {
        Self { declared, options, numbers: Vec::new() }
    }

    fn of(payload: &Payload<'_>) -> Self {
        let (numbers, options) = payload.candidates.iter().map(|one| (one.number, one.json.to_owned())).unzip();
        Self { declared: payload.declared, options, numbers }
    }

    /// Answers as a contract takes them. Where one of them does not number each of its options, all are numbered through.
    #[must_use]
    pub fn payloads(answers: &[Self]) -> Vec<Payload<'_>> {
        if answers.iter().all(|answer| answer.numbers.len() == answer.options.len()) {
            return answers.iter().map(Self::to_payload).collect();
        }
        Payload::numbered(answers.iter().map(|answer| (answer.declared, answer.options.as_slice())))
    }

    fn to_payload(&self) -> Payload<'_> {
        let numbered = self.numbers.iter().zip(&self.options);
        let candidates = numbered.map(|(number, json)| Candidate { number: *number, json }).collect();
        Payload { declared: self.declared, candidates }
    }
}

impl Call {
    /// The function that is called.
    #[must_use]
    pub fn function(&self) -> Function {
        match self {
            Self::Classify { .. } => Function::Classify,
            Self::CheckRequest { .. } => Function::CheckRequest,
            Self::Evaluate { .. } => Function::Evaluate,
            Self::CheckResponse { .. } => Function::CheckResponse,
            Self::CheckCompletion { .. } => Function::CheckCompletion,
        }
    }

    /// The function, and the tool where it has one.
    #[must_use]
    pub fn entry(&self) -> String {
        let function = self.function().as_str();
        match self {
            Self::CheckRequest { tool, .. } | Self::CheckResponse { tool, .. } => format!("{function} {tool}"),
            _ => function.to_owned(),
        }
    }

    /// Bytes of all documents that go in.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Classify { utterance, .. } => utterance.len(),
            Self::CheckRequest { arguments, about, .. } => arguments.len() + about.bytes(),
            Self::Evaluate { request, payloads, history } => {
                let options = payloads.iter().flat_map(|answer| &answer.options);
                let past = history.iter().map(|past| past.status.len() + past.attributes_json().len());
                request.len() + options.map(String::len).chain(past).sum::<usize>()
            }
            Self::CheckResponse { arguments, payload, about, .. } => arguments.len() + payload.len() + about.bytes(),
            Self::CheckCompletion { report, about } => report.len() + about.bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{AnsweredCall, OrderView};
    use serde_json::json;
    use std::collections::BTreeMap;

    #[test]
    fn a_call_is_read_as_it_was_written() {
        let context = CallContext { request_id: "r-1".to_owned(), now: Timestamp::from_ms(7) };
        let candidate = |number, json| Candidate { number, json };
        let declared = Axes { time: 0.1 + 0.2, ..Axes::UNDECLARED };
        let payloads = [
            Payload { declared, candidates: vec![candidate(4, "{\"a\": 1.50}"), candidate(2, "\"☂\"")] },
            Payload { declared: Axes::UNDECLARED, candidates: Vec::new() },
        ];
        let order = OrderView {
            state: "booked".to_owned(),
            opened_at: Timestamp::from_ms(5),
            kept: r#"{"id":"B-1"}"#.to_owned(),
            answered: vec![AnsweredCall { tool: "book".to_owned(), at_ms: Timestamp::from_ms(6) }],
        };
        let past = PastOrder {
            status: "completed".to_owned(),
            closed_at_ms: Timestamp::from_ms(4),
            attributes: BTreeMap::from([
                ("share".to_owned(), json!(0.1)),
                ("kind".to_owned(), json!({"b": [null], "a": 1})),
            ]),
        };
        let about = About { quoted: Some("{}"), order: Some(&order) };
        let exchange = Exchange { tool: "book", arguments: "{}", payload: "[]", about };
        let calls = [
            CallRef::Classify("fix my car", "en-IN"),
            CallRef::CheckRequest(&context, "search", "{}", About::default()),
            CallRef::Evaluate(&context, "{}", &payloads, std::slice::from_ref(&past)),
            CallRef::CheckResponse(&context, exchange),
            CallRef::CheckCompletion(&context, "{}", About::option(Some("{}"))),
        ];
        for (call, function) in calls.iter().zip(Function::ALL) {
            let input = call.to_input();
            let json = serde_json::to_string(&input).expect("JSON");
            assert_eq!(serde_json::from_str::<Input>(&json).expect("an input"), input);
            assert_eq!((call.function(), input.call.function()), (function, function));
            assert_eq!(Function::parse(function.as_str()), Some(function));
            assert!(json.contains(&format!("\"function\":\"{}\"", function.as_str())), "{json}");
        }
        assert_eq!(calls.map(|call| call.to_input().call.bytes()), [10, 2, 18 + 9 + 39, 28, 4]);
        let Input { call: Call::Evaluate { payloads: answers, .. }, .. } = calls[2].to_input() else { panic!() };
        let numbers = |payloads: Vec<Payload<'_>>| -> Vec<Vec<u32>> {
            payloads.iter().map(|payload| payload.candidates.iter().map(|one| one.number).collect()).collect()
        };
        assert_eq!(numbers(Answer::payloads(&answers)), [vec![4, 2], vec![]]);
        let plain: Vec<_> = answers.into_iter().map(|answer| Answer::new(answer.declared, answer.options)).collect();
        assert_eq!(numbers(Answer::payloads(&plain)), [vec![0, 1], vec![]]);
    }
}
