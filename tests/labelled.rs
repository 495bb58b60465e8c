//! The labelled utterances of `tests/utterances`, and the count of right answers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// Label of an utterance that concerns no intent.
const NONE: &str = "none";

/// An utterance and what it is.
pub struct Labelled {
    pub utterance: String,
    /// An intent, `elsewhere:` and an intent, or `none`.
    pub expected: String,
    /// Intents that it asks for besides.
    pub also: BTreeSet<String>,
    /// What makes it easy or hard.
    pub kind: String,
}

/// Reads one half of the set: `tuning`, from which the words of the contracts were written, or `held-out`.
pub fn read(half: &str) -> Vec<Labelled> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("utterances").join(format!("{half}.tsv"));
    let text =
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()));
    let rows = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    rows.enumerate()
        .map(|(number, line)| match line.split('\t').collect::<Vec<_>>().as_slice() {
            [utterance, expected, also, kind] => Labelled {
                utterance: utterance.trim().to_owned(),
                expected: expected.trim().to_owned(),
                also: also.split(',').map(str::trim).filter(|intent| !intent.is_empty()).map(str::to_owned).collect(),
                kind: kind.trim().to_owned(),
            },
            fields => panic!("row {} of {half} has {} fields instead of 4", number + 2, fields.len()),
        })
        .collect()
}

/// The label of an answer, in the terms of the expected ones.
pub fn label(decision: &str, intent: Option<&str>) -> String {
    match (decision, intent) {
        ("intent", Some(intent)) => intent.to_owned(),
        ("elsewhere", Some(intent)) => format!("elsewhere:{intent}"),
        _ => NONE.to_owned(),
    }
}

/// Right answers out of all.
#[derive(Default, Clone, Copy)]
pub struct Share {
    right: usize,
    all: usize,
}

impl Share {
    fn add(&mut self, right: bool) {
        self.right += usize::from(right);
        self.all += 1;
    }

    /// 0..=1; nothing asked is nothing wrong.
    pub fn value(self) -> f64 {
        if self.all == 0 { 1.0 } else { self.right as f64 / self.all as f64 }
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:>5.1} % ({} of {})", self.value() * 100.0, self.right, self.all)
    }
}

/// The outcome of one half of the set.
#[derive(Default)]
pub struct Tally {
    /// Decisions.
    pub accuracy: Share,
    /// Utterances of which decision and intents besides are right.
    pub whole: Share,
    by_kind: BTreeMap<String, Share>,
    confused: BTreeMap<(String, String), usize>,
}

impl Tally {
    /// Counts one answer; whether its decision was right.
    pub fn add(&mut self, asked: &Labelled, label: &str, also: &BTreeSet<String>) -> bool {
        let right = asked.expected == label;
        self.accuracy.add(right);
        self.whole.add(right && asked.also == *also);
        self.by_kind.entry(asked.kind.clone()).or_default().add(right);
        *self.confused.entry((asked.expected.clone(), label.to_owned())).or_default() += 1;
        right
    }

    /// Accuracy, per kind, and the confusion table: counts only, so that looking at it teaches no utterance.
    pub fn report(&self, half: &str) -> String {
        let mut text = format!("{half}\n  decisions right            {}\n", self.accuracy);
        let _ = writeln!(text, "  with all intents besides   {}", self.whole);
        for (kind, share) in &self.by_kind {
            let _ = writeln!(text, "  {kind:<26} {share}");
        }
        let _ = writeln!(text, "  expected -> answered");
        for ((expected, answered), count) in &self.confused {
            let mark = if expected == answered { ' ' } else { '!' };
            let _ = writeln!(text, "  {mark} {count:>4}  {expected} -> {answered}");
        }
        text
    }
}
