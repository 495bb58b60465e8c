//! From a component's go-live requirements to the domain's, with every rule that they must keep. What comes of a
//! requirement is for `routing::golive`; here is only whether it can be checked at all.

use std::collections::HashSet;

use intent_gateway_domain::contract as domain;
use intent_gateway_domain::golive::PLATFORM_CODES;
use intent_gateway_domain::limits::CONFIRMATION_DAYS;

use crate::bindings as wit;
use crate::descriptor::Problems;

/// Requirements of one contract: a person reads each of them for each partner.
const REQUIREMENTS_MAX: usize = 50;
/// Different things that a contract may ask to be found.
const COUNT_MAX: u32 = 1_000;
/// Longest window in hours: a leap year.
const WINDOW_MAX_HOURS: u32 = 366 * 24;

/// The names that requirements may use.
pub(crate) struct Names<'a> {
    tools: HashSet<&'a str>,
    /// The tool that the host calls itself.
    search: &'a str,
    vocabularies: HashSet<&'a str>,
    /// Codes of the rules for options.
    rules: HashSet<&'a str>,
}

impl<'a> Names<'a> {
    /// Those of a descriptor.
    pub(crate) fn of(descriptor: &'a wit::Descriptor) -> Self {
        let rules = descriptor.rules.iter().filter(|rule| rule.judged == wit::Judged::Option);
        Self {
            tools: descriptor.tools.iter().map(|tool| tool.name.as_str()).collect(),
            search: &descriptor.search.tool,
            vocabularies: descriptor.vocabularies.iter().map(|vocabulary| vocabulary.name.as_str()).collect(),
            rules: rules.map(|rule| rule.code.as_str()).collect(),
        }
    }
}

/// Converts and checks requirements.
pub(crate) fn checked(
    requirements: &[wit::Requirement],
    names: &Names<'_>,
    problems: &mut Problems,
) -> Vec<domain::Requirement> {
    problems.unless(requirements.len() <= REQUIREMENTS_MAX, || {
        format!("there are {} go-live requirements; expected at most {REQUIREMENTS_MAX}", requirements.len())
    });
    let mut seen = HashSet::new();
    let mut converted = Vec::new();
    for requirement in requirements.iter().take(REQUIREMENTS_MAX) {
        let wit::Requirement { code, text, check, valid_days } = requirement;
        let mut one = Requirement { names, code, problems: &mut *problems };
        one.unless(is_code(code), "has no code in UPPER_SNAKE_CASE");
        one.unless(seen.insert(code), "occurs twice");
        one.unless(!PLATFORM_CODES.contains(&code.as_str()), "has a code of the platform's own");
        one.unless(!text.trim().is_empty(), "says nothing");
        if let Some(check) = one.check(check) {
            one.check_validity(*valid_days, &check);
            let (code, text) = (code.clone(), text.clone());
            converted.push(domain::Requirement { code, text, check, valid_days: *valid_days });
        }
    }
    converted
}

/// UPPER_SNAKE_CASE: words of capitals and digits, the first of which starts with a capital.
fn is_code(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_uppercase())
        && text
            .split('_')
            .all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()))
}

/// A JSON Pointer: nothing, or parts that each follow a `/`, where `~` stands in `~0` and `~1` alone (RFC 6901).
fn is_pointer(text: &str) -> bool {
    let escaped = |part: &str| part.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    (text.is_empty() || text.starts_with('/')) && escaped(text)
}

/// One requirement on its way.
struct Requirement<'a> {
    names: &'a Names<'a>,
    code: &'a str,
    problems: &'a mut Problems,
}

impl Requirement<'_> {
    fn unless(&mut self, holds: bool, problem: &str) {
        let code = self.code;
        self.problems.unless(holds, || format!("go-live requirement `{code}` {problem}"));
    }

    /// For how long a confirmation holds is said of what is confirmed alone.
    fn check_validity(&mut self, valid_days: Option<u32>, check: &domain::RequirementCheck) {
        let Some(days) = valid_days else { return };
        let (least, most) = (CONFIRMATION_DAYS.start(), CONFIRMATION_DAYS.end());
        let within = CONFIRMATION_DAYS.contains(&days);
        self.unless(within, &format!("lets a confirmation hold for {days} days; expected {least} to {most}"));
        let for_people = check.is_for_people(self.names.search);
        self.unless(for_people, "lets a confirmation hold for a time, and nobody confirms it");
    }

    fn check(&mut self, check: &wit::RequirementCheck) -> Option<domain::RequirementCheck> {
        Some(match check {
            wit::RequirementCheck::AtLeast(depth) => domain::RequirementCheck::AtLeast(self.depth(depth)),
            wit::RequirementCheck::Covers(coverage) => domain::RequirementCheck::Covers(self.coverage(coverage)),
            wit::RequirementCheck::Handles(handling) => domain::RequirementCheck::Handles(self.handling(handling)?),
            wit::RequirementCheck::WithinLatency(tool) => {
                let known = self.names.tools.contains(tool.as_str());
                self.unless(known, &format!("names the tool `{tool}`, which there is not"));
                domain::RequirementCheck::WithinLatency(tool.clone())
            }
            wit::RequirementCheck::ByHand => domain::RequirementCheck::ByHand,
        })
    }

    /// A pointer to a value below the document.
    fn pointer(&mut self, pointer: &str) -> String {
        let problem = format!("has the JSON Pointer `{pointer}`, which points to nothing within a document");
        self.unless(is_pointer(pointer) && !pointer.is_empty(), &problem);
        pointer.to_owned()
    }

    fn depth(&mut self, depth: &wit::Depth) -> domain::Depth {
        self.unless(!depth.minimums.is_empty(), "counts nothing");
        let mut minimums = Vec::new();
        for minimum in &depth.minimums {
            let wit::Minimum { counted, pointer, count } = minimum;
            self.unless(!counted.trim().is_empty(), "does not say what it counts");
            let within = (1..=COUNT_MAX).contains(count);
            self.unless(within, &format!("asks for {count} {counted}; expected 1 to {COUNT_MAX}"));
            let pointer = if pointer.is_empty() { String::new() } else { self.pointer(pointer) };
            minimums.push(domain::Minimum { counted: counted.clone(), pointer, count: *count });
        }
        let within = depth.within.as_ref().map(|window| {
            let hours = window.hours;
            let within = (1..=WINDOW_MAX_HOURS).contains(&hours);
            self.unless(within, &format!("has a window of {hours} hours; expected 1 to {WINDOW_MAX_HOURS}"));
            domain::Window { pointer: self.pointer(&window.pointer), hours }
        });
        domain::Depth { minimums, within }
    }

    fn coverage(&mut self, coverage: &wit::Coverage) -> domain::Coverage {
        let vocabulary = coverage.vocabulary.clone();
        let known = self.names.vocabularies.contains(vocabulary.as_str());
        self.unless(known, &format!("names the vocabulary `{vocabulary}`, which there is not"));
        domain::Coverage { pointer: self.pointer(&coverage.pointer), vocabulary }
    }

    fn handling(&mut self, handling: &wit::Handling) -> Option<domain::Handling> {
        let wit::Handling { occasions, unbroken } = handling;
        self.unless(!(occasions.is_empty() && unbroken.is_empty()), "names neither an occasion nor a rule");
        for code in unbroken {
            let known = self.names.rules.contains(code.as_str());
            self.unless(known, &format!("names `{code}`, which is no rule for options"));
        }
        let occasions: Vec<_> = occasions.iter().map(|occasion| self.occasion(occasion)).collect();
        let occasions: Option<Vec<_>> = occasions.into_iter().collect();
        Some(domain::Handling { occasions: occasions?, unbroken: unbroken.clone() })
    }

    fn occasion(&mut self, occasion: &wit::Occasion) -> Option<domain::Occasion> {
        self.unless(!occasion.text.trim().is_empty(), "has an occasion without a text");
        let pointer = self.pointer(&occasion.pointer);
        let test = match &occasion.test {
            wit::RequestTest::Equals(json) => domain::RequestTest::Equals(self.json(json)?),
            wit::RequestTest::Includes(json) => domain::RequestTest::Includes(self.json(json)?),
            wit::RequestTest::Above(bound) => {
                self.unless(bound.is_finite(), "has a bound that is no number");
                domain::RequestTest::Above(*bound)
            }
        };
        Some(domain::Occasion { text: occasion.text.clone(), pointer, test })
    }

    fn json(&mut self, text: &str) -> Option<serde_json::Value> {
        let parsed = serde_json::from_str(text).ok();
        self.unless(parsed.is_some(), &format!("tests for `{text}`, which is no JSON"));
        parsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_pointers_are_told_from_other_text() {
        for code in ["A", "AT_LEAST_3", "A1_2"] {
            assert!(is_code(code), "{code}");
        }
        for text in ["", "a", "_A", "A_", "A__B", "3A", "A-B", "Ä"] {
            assert!(!is_code(text), "{text}");
        }
        for pointer in ["", "/", "/a/b", "/a~0b/~1"] {
            assert!(is_pointer(pointer), "{pointer}");
        }
        for text in ["a", "a/b", "/~", "/~2", "/a~/b"] {
            assert!(!is_pointer(text), "{text}");
        }
    }

    fn requirement(code: &str, check: wit::RequirementCheck) -> wit::Requirement {
        wit::Requirement { code: code.to_owned(), text: "It holds.".to_owned(), check, valid_days: None }
    }

    fn convert_requirements(requirements: &[wit::Requirement]) -> (Vec<domain::Requirement>, Vec<String>) {
        let set = |name| HashSet::from([name]);
        let tools = HashSet::from(["search_things", "book_thing"]);
        let names = Names { tools, search: "search_things", vocabularies: set("kind"), rules: set("COLD") };
        let mut problems = Problems::default();
        let converted = checked(requirements, &names, &mut problems);
        (converted, problems.0)
    }

    /// The one problem with a requirement that is checked so.
    fn problem(check: wit::RequirementCheck) -> String {
        let (_, problems) = convert_requirements(&[requirement("A", check)]);
        assert_eq!(problems.len(), 1, "{problems:?}");
        problems[0].strip_prefix("go-live requirement `A` ").expect("it names the requirement").to_owned()
    }

    fn depth(minimums: &[(&str, &str, u32)], within: Option<(&str, u32)>) -> wit::RequirementCheck {
        let minimum = |(counted, pointer, count): &(&str, &str, u32)| wit::Minimum {
            counted: (*counted).to_owned(),
            pointer: (*pointer).to_owned(),
            count: *count,
        };
        wit::RequirementCheck::AtLeast(wit::Depth {
            minimums: minimums.iter().map(minimum).collect(),
            within: within.map(|(pointer, hours)| wit::Window { pointer: pointer.to_owned(), hours }),
        })
    }

    fn covers(pointer: &str, vocabulary: &str) -> wit::RequirementCheck {
        wit::RequirementCheck::Covers(wit::Coverage { pointer: pointer.to_owned(), vocabulary: vocabulary.to_owned() })
    }

    fn handles(occasions: &[(&str, &str, wit::RequestTest)], unbroken: &[&str]) -> wit::RequirementCheck {
        let occasion = |(text, pointer, test): &(&str, &str, wit::RequestTest)| wit::Occasion {
            text: (*text).to_owned(),
            pointer: (*pointer).to_owned(),
            test: test.clone(),
        };
        wit::RequirementCheck::Handles(wit::Handling {
            occasions: occasions.iter().map(occasion).collect(),
            unbroken: unbroken.iter().map(ToString::to_string).collect(),
        })
    }

    #[test]
    fn sound_requirements_are_taken_as_they_are() {
        let equals = || wit::RequestTest::Equals("{\"a\": 1}".to_owned());
        let occasions = [
            ("one", "/x", equals()),
            ("two", "/x", wit::RequestTest::Includes("null".to_owned())),
            ("three", "/x", wit::RequestTest::Above(-0.5)),
        ];
        let (converted, problems) = convert_requirements(&[
            requirement("A", depth(&[("things", "", 1_000), ("shops", "/shop", 1)], Some(("/at", 8_784)))),
            requirement("B", covers("/kind", "kind")),
            requirement("C", handles(&occasions, &["COLD"])),
            requirement("D", wit::RequirementCheck::WithinLatency("search_things".to_owned())),
            requirement("E", wit::RequirementCheck::ByHand),
        ]);
        assert_eq!(problems, [] as [String; 0]);
        let json = serde_json::to_value(&converted).expect("it is JSON");
        assert_eq!(json[0]["check"]["at_least"]["within"], serde_json::json!({"pointer": "/at", "hours": 8784}));
        assert_eq!(json[2]["check"]["handles"]["occasions"][0]["test"], serde_json::json!({"equals": {"a": 1}}));
        assert_eq!(json[2]["check"]["handles"]["occasions"][2]["test"], serde_json::json!({"above": -0.5}));
        assert_eq!(json[3]["check"], serde_json::json!({"within_latency": "search_things"}));
        let by_hand = serde_json::json!({"code": "E", "text": "It holds.", "check": "by_hand", "valid_days": null});
        assert_eq!(json[4], by_hand);
    }

    #[test]
    fn every_problem_is_named() {
        let nowhere = |pointer| format!("has the JSON Pointer `{pointer}`, which points to nothing within a document");
        assert_eq!(problem(depth(&[], None)), "counts nothing");
        assert_eq!(problem(depth(&[(" ", "", 1)], None)), "does not say what it counts");
        assert_eq!(problem(depth(&[("things", "", 0)], None)), "asks for 0 things; expected 1 to 1000");
        assert_eq!(problem(depth(&[("things", "", 1_001)], None)), "asks for 1001 things; expected 1 to 1000");
        assert_eq!(problem(depth(&[("things", "thing", 1)], None)), nowhere("thing"));
        let window = |pointer, hours| depth(&[("things", "", 1)], Some((pointer, hours)));
        assert_eq!(problem(window("", 1)), nowhere(""));
        assert_eq!(problem(window("/at", 0)), "has a window of 0 hours; expected 1 to 8784");
        assert_eq!(problem(window("/at", 8_785)), "has a window of 8785 hours; expected 1 to 8784");
        assert_eq!(problem(covers("", "kind")), nowhere(""));
        assert_eq!(problem(covers("/kind", "colour")), "names the vocabulary `colour`, which there is not");
        assert_eq!(problem(handles(&[], &[])), "names neither an occasion nor a rule");
        assert_eq!(problem(handles(&[], &["WARM"])), "names `WARM`, which is no rule for options");
        let occasion = |text, pointer, test| handles(&[(text, pointer, test)], &[]);
        let above = wit::RequestTest::Above;
        assert_eq!(problem(occasion("", "/x", above(1.0))), "has an occasion without a text");
        assert_eq!(problem(occasion("one", "x", above(1.0))), nowhere("x"));
        assert_eq!(problem(occasion("one", "/x", above(f64::NAN))), "has a bound that is no number");
        let equals = wit::RequestTest::Equals("red".to_owned());
        assert_eq!(problem(occasion("one", "/x", equals)), "tests for `red`, which is no JSON");
        let includes = wit::RequestTest::Includes(String::new());
        assert_eq!(problem(occasion("one", "/x", includes)), "tests for ``, which is no JSON");
        let latency = wit::RequirementCheck::WithinLatency("find_things".to_owned());
        assert_eq!(problem(latency), "names the tool `find_things`, which there is not");
    }

    #[test]
    fn a_time_is_stated_for_what_people_confirm_and_is_bounded() {
        let stated = |check: wit::RequirementCheck, days: u32| {
            let one = wit::Requirement { valid_days: Some(days), ..requirement("A", check) };
            let (converted, problems) = convert_requirements(&[one]);
            (converted[0].valid_days, problems.join("; ").replace("go-live requirement `A` ", ""))
        };
        for days in [31, 90, 3_660] {
            assert_eq!(stated(wit::RequirementCheck::ByHand, days), (Some(days), String::new()));
        }
        let booking = || wit::RequirementCheck::WithinLatency("book_thing".to_owned());
        assert_eq!(stated(booking(), 365), (Some(365), String::new()), "people measure it");
        for days in [0, 30, 3_661] {
            let problem = format!("lets a confirmation hold for {days} days; expected 31 to 3660");
            assert_eq!(stated(wit::RequirementCheck::ByHand, days).1, problem);
        }
        let nobody = "lets a confirmation hold for a time, and nobody confirms it";
        let search = wit::RequirementCheck::WithinLatency("search_things".to_owned());
        for check in [search, covers("/kind", "kind"), handles(&[], &["COLD"]), depth(&[("things", "", 1)], None)] {
            assert_eq!(stated(check, 365).1, nobody);
        }
    }

    #[test]
    fn each_requirement_has_a_code_of_its_own_and_a_text() {
        let by_hand = |code: &str| requirement(code, wit::RequirementCheck::ByHand);
        let named = |requirements: &[wit::Requirement]| convert_requirements(requirements).1.join("\n");
        assert_eq!(named(&[by_hand("a")]), "go-live requirement `a` has no code in UPPER_SNAKE_CASE");
        assert_eq!(named(&[by_hand("A"), by_hand("A")]), "go-live requirement `A` occurs twice");
        for code in PLATFORM_CODES {
            assert_eq!(
                named(&[by_hand(code)]),
                format!("go-live requirement `{code}` has a code of the platform's own")
            );
        }
        let mute = wit::Requirement { text: " ".to_owned(), ..by_hand("A") };
        assert_eq!(named(&[mute]), "go-live requirement `A` says nothing");
        let many = |count: usize| (0..count).map(|number| by_hand(&format!("A{number}"))).collect::<Vec<_>>();
        assert_eq!(named(&many(REQUIREMENTS_MAX)), "");
        assert_eq!(named(&many(REQUIREMENTS_MAX + 1)), "there are 51 go-live requirements; expected at most 50");
    }
}
