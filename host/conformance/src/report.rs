//! What is found: a list of checks, each with what must hold and, where it does not, what to do.

use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::golive::GoLiveItem;
use intent_gateway_domain::probe::ServerInfo;
use serde::Serialize;

use crate::Subject;

/// Violations listed for one check; the rest are counted in its words.
const VIOLATIONS_MAX: usize = 20;

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Code {
    SessionOpened,
    ToolsComplete,
    UnknownToolRefused,
    WrongTokenRefused,
    SearchAnswered,
    NoForbiddenFields,
    OptionsValid,
    UnknownMembersTaken,
    SearchesAtOnce,
    BadArgumentsRefused,
    UnknownIdentifierRefused,
    AnswerValid,
    CutOffCallRepeated,
    KeyRepeated,
    KeyWithOtherBody,
    OrderClosed,
    InTime,
}

impl Code {
    /// Every code, in the order in which servers are tried.
    pub const ALL: [Self; 17] = [
        Self::SessionOpened,
        Self::ToolsComplete,
        Self::UnknownToolRefused,
        Self::WrongTokenRefused,
        Self::SearchAnswered,
        Self::NoForbiddenFields,
        Self::OptionsValid,
        Self::UnknownMembersTaken,
        Self::SearchesAtOnce,
        Self::BadArgumentsRefused,
        Self::UnknownIdentifierRefused,
        Self::AnswerValid,
        Self::CutOffCallRepeated,
        Self::KeyRepeated,
        Self::KeyWithOtherBody,
        Self::OrderClosed,
        Self::InTime,
    ];

    /// As it is printed.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionOpened => "SESSION_OPENED",
            Self::ToolsComplete => "TOOLS_COMPLETE",
            Self::UnknownToolRefused => "UNKNOWN_TOOL_REFUSED",
            Self::WrongTokenRefused => "WRONG_TOKEN_REFUSED",
            Self::SearchAnswered => "SEARCH_ANSWERED",
            Self::NoForbiddenFields => "NO_FORBIDDEN_FIELDS",
            Self::OptionsValid => "OPTIONS_VALID",
            Self::UnknownMembersTaken => "UNKNOWN_MEMBERS_TAKEN",
            Self::SearchesAtOnce => "SEARCHES_AT_ONCE",
            Self::BadArgumentsRefused => "BAD_ARGUMENTS_REFUSED",
            Self::UnknownIdentifierRefused => "UNKNOWN_IDENTIFIER_REFUSED",
            Self::AnswerValid => "ANSWER_VALID",
            Self::CutOffCallRepeated => "CUT_OFF_CALL_REPEATED",
            Self::KeyRepeated => "KEY_REPEATED",
            Self::KeyWithOtherBody => "KEY_WITH_OTHER_BODY",
            Self::OrderClosed => "ORDER_CLOSED",
            Self::InTime => "IN_TIME",
        }
    }

    /// What must hold.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::SessionOpened => "an MCP session opens, and the tools are listed",
            Self::ToolsComplete => "every tool of the intent is listed, and keeps the rules of descriptors",
            Self::UnknownToolRefused => "a tool that does not exist is refused with an error",
            Self::WrongTokenRefused => "a wrong token is refused with 401",
            Self::SearchAnswered => "every request that is searched with gets a usable answer",
            Self::NoForbiddenFields => "no answer carries a forbidden field",
            Self::OptionsValid => "no option breaks a rule",
            Self::UnknownMembersTaken => "members that the server does not know are taken",
            Self::SearchesAtOnce => "several searches at once are all answered",
            Self::BadArgumentsRefused => "arguments without what is required are refused with a code",
            Self::UnknownIdentifierRefused => "identifiers that the server has never given are refused with a code",
            Self::AnswerValid => "the answer is one that the contract takes",
            Self::CutOffCallRepeated => "a call that was cut off can be repeated under its key",
            Self::KeyRepeated => "the same call under the same key has the same result",
            Self::KeyWithOtherBody => "the same key with other arguments is refused as a conflict",
            Self::OrderClosed => "the order that was made is cancelled at the end",
            Self::InTime => "answers come within the contract's times",
        }
    }

    /// What to do where it does not hold.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::SessionOpened => "Is the server up, and the path of the address right? Most SDKs serve at /mcp.",
            Self::ToolsComplete => "List each tool by the contract's name, with `_meta.platform`; each place is told.",
            Self::UnknownToolRefused => "The official SDKs refuse it by themselves; let them.",
            Self::WrongTokenRefused => "Answer 401 with `WWW-Authenticate: Bearer …` before any tool runs.",
            Self::SearchAnswered => "Look into the server's log for this request; what it wrote is below.",
            Self::NoForbiddenFields => "Leave the field out of every answer: with live traffic, each is a strike.",
            Self::OptionsValid => {
                "Correct the option, or leave it out; the contract's page says what each field may be."
            }
            Self::UnknownMembersTaken => "Read what you know and pass over the rest: contracts gain members.",
            Self::SearchesAtOnce => {
                "The platform searches for many users at once; state no lower rate than the contract does."
            }
            Self::BadArgumentsRefused => {
                "Check the arguments first; answer with `platform_error_code` INVALID_REQUEST."
            }
            Self::UnknownIdentifierRefused => {
                "Look the identifier up before anything is done; answer with a code of the intent."
            }
            Self::AnswerValid => "Correct the answer at the places that are told.",
            Self::CutOffCallRepeated => {
                "Keep what was done under the key before answering, and answer a repeat from that."
            }
            Self::KeyRepeated => "Keep the key with what was made, and answer a repeat with the same.",
            Self::KeyWithOtherBody => {
                "Keep the arguments with the key, compare, and refuse others with a code of status 409."
            }
            Self::OrderClosed => "Cancel it by hand in your own system.",
            Self::InTime => "The platform leaves slow partners out of searches.",
        }
    }
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It holds.
    Passed,
    /// It could not be tried, or need not be.
    Skipped,
    /// It holds, and something should be looked at.
    Noted,
    /// It does not hold.
    Failed,
}

/// One thing that was checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    pub code: Code,
    /// The tool concerned; absent where the server as a whole is.
    pub tool: Option<String>,
    pub outcome: Outcome,
    /// What was seen.
    pub detail: String,
    /// What is wrong, place by place, of the answer or the descriptor concerned.
    pub violations: Vec<Violation>,
    /// What the server wrote in place of an answer, or the beginning of the answer concerned.
    pub sent: Option<String>,
}

impl Check {
    fn new(code: Code, tool: Option<&str>, outcome: Outcome, detail: impl Into<String>) -> Self {
        let tool = tool.map(str::to_owned);
        Self { code, tool, outcome, detail: detail.into(), violations: Vec::new(), sent: None }
    }

    pub(crate) fn passed(code: Code, tool: Option<&str>, detail: impl Into<String>) -> Self {
        Self::new(code, tool, Outcome::Passed, detail)
    }

    pub(crate) fn skipped(code: Code, tool: Option<&str>, detail: impl Into<String>) -> Self {
        Self::new(code, tool, Outcome::Skipped, detail)
    }

    pub(crate) fn noted(code: Code, tool: Option<&str>, detail: impl Into<String>) -> Self {
        Self::new(code, tool, Outcome::Noted, detail)
    }

    pub(crate) fn failed(code: Code, tool: Option<&str>, detail: impl Into<String>) -> Self {
        Self::new(code, tool, Outcome::Failed, detail)
    }

    /// Passed where the result is one, else failed; either way with what was seen.
    pub(crate) fn of(code: Code, tool: Option<&str>, result: Result<String, String>) -> Self {
        match result {
            Ok(detail) => Self::passed(code, tool, detail),
            Err(detail) => Self::failed(code, tool, detail),
        }
    }

    pub(crate) fn with_violations(mut self, violations: impl IntoIterator<Item = Violation>) -> Self {
        let mut all: Vec<_> = violations.into_iter().collect();
        if all.len() > VIOLATIONS_MAX {
            let more = all.len() - VIOLATIONS_MAX;
            all.truncate(VIOLATIONS_MAX);
            self.detail = format!("{}; {more} more places are not listed", self.detail);
        }
        self.violations = all;
        self
    }

    pub(crate) fn with_sent(mut self, sent: Option<String>) -> Self {
        self.sent = sent;
        self
    }
}

/// Everything that was found of a server.
#[derive(Serialize)]
pub struct Report<'a> {
    pub endpoint: Endpoint,
    pub intent: String,
    pub contract_version: String,
    pub contract_digest: Digest,
    /// Who the server says it is.
    pub server: Option<ServerInfo>,
    /// The MCP revision that was agreed on.
    pub protocol_version: Option<String>,
    pub checks: Vec<Check>,
    /// What the go-live test of the intent asks for besides, as far as the requests show it; nothing of it fails here.
    pub going_live: Vec<GoLiveItem>,
    #[serde(skip)]
    tell: &'a (dyn Fn(&Check) + Sync),
}

impl<'a> Report<'a> {
    pub(crate) fn new(subject: &Subject, tell: &'a (dyn Fn(&Check) + Sync)) -> Self {
        let descriptor = subject.contract.descriptor();
        Self {
            endpoint: subject.endpoint.clone(),
            intent: descriptor.intent.to_string(),
            contract_version: descriptor.version.to_string(),
            contract_digest: subject.contract.digest(),
            server: None,
            protocol_version: None,
            checks: Vec::new(),
            going_live: Vec::new(),
            tell,
        }
    }

    pub(crate) fn add(&mut self, check: Check) {
        (self.tell)(&check);
        self.checks.push(check);
    }

    pub(crate) fn has_failed(&self, code: Code) -> bool {
        self.checks.iter().any(|check| check.code == code && check.outcome == Outcome::Failed)
    }

    /// How many checks ended so.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> usize {
        self.checks.iter().filter(|check| check.outcome == outcome).count()
    }

    /// Whether nothing failed.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.count(Outcome::Failed) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_printed_as_they_are_serialised() {
        for code in Code::ALL {
            assert_eq!(serde_json::to_value(code).expect("a text"), code.as_str());
        }
    }

    #[test]
    fn the_page_lists_every_code_and_no_other_in_the_order_of_the_checks() {
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/conformance.md"));
        let page = page.expect("the page is there");
        let table = page.split("| code | what must hold |\n").nth(1).expect("the table is there");
        let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
        let listed: Vec<_> = rows.filter_map(|row| row.split('`').nth(1)).collect();
        assert_eq!(listed, Code::ALL.map(Code::as_str));
    }
}
