//! Prometheus' text format, as far as the tests need it.

use std::collections::BTreeSet;

/// One line.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    name: String,
    labels: Vec<(String, String)>,
    pub(super) value: f64,
}

impl Sample {
    pub(super) fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(label, _)| label == name).map(|(_, value)| value.as_str())
    }

    fn fits(&self, name: &str, labels: &[(&str, &str)]) -> bool {
        self.name == name && labels.iter().all(|(label, value)| self.label(label) == Some(value))
    }
}

/// What one scrape gave.
pub(super) struct Series {
    pub(super) text: String,
    samples: Vec<Sample>,
}

impl Series {
    pub(super) fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        Self { text: text.to_owned(), samples: lines.map(sample).collect() }
    }

    /// Every series, without its value.
    pub(super) fn names(&self) -> BTreeSet<String> {
        self.samples.iter().map(|sample| format!("{}{:?}", sample.name, sample.labels)).collect()
    }

    /// The samples of a name that have these labels, besides others.
    pub(super) fn of(&self, name: &str, labels: &[(&str, &str)]) -> Vec<&Sample> {
        self.samples.iter().filter(|sample| sample.fits(name, labels)).collect()
    }

    pub(super) fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        self.of(name, labels).iter().map(|sample| sample.value).sum()
    }

    /// The value of the only such sample.
    pub(super) fn one(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        match self.of(name, labels)[..] {
            [sample] => sample.value,
            ref others => panic!("{name} {labels:?}: {others:?}\n{}", self.text),
        }
    }
}

fn sample(line: &str) -> Sample {
    let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
    let value = value.parse().unwrap_or_else(|_| panic!("{line}"));
    let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
    let labels = labels.strip_suffix('}').unwrap_or_else(|| panic!("{line}"));
    // No label of the gateway holds a comma or a quotation mark.
    let labels = labels.split(',').filter(|label| !label.is_empty()).map(|label| {
        let (name, value) = label.split_once('=').unwrap_or_else(|| panic!("{line}"));
        (name.to_owned(), value.trim_matches('"').to_owned())
    });
    Sample { name: name.to_owned(), labels: labels.collect(), value }
}
