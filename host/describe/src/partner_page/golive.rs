//! The section of the partners' page on what must hold before traffic goes live, and how each of it is checked.

use intent_gateway_domain::contract::{Depth, Descriptor, Handling, Requirement, RequirementCheck};
use intent_gateway_domain::golive::LATENCY_SAMPLES_MIN;

use super::{Markdown, quote_names};

/// Writes the section. An intent without requirements has it too: the tools and sound answers are always asked for.
pub(super) fn section(page: &mut Markdown, descriptor: &Descriptor) {
    page.heading(2, "Going live");
    page.paragraph(
        "What must hold before users are sent to a partner. All tools above must be there. The gateway searches with \
         sample requests that the platform's team chooses; each must be answered, and no answer may hold a forbidden \
         field or break another rule that counts towards suspension.",
    );
    let row = |requirement: &Requirement| {
        [format!("`{}`", requirement.code), requirement.text.clone(), how(requirement, descriptor)]
    };
    page.table(["Code", "What must hold", "Checked"], &descriptor.go_live.iter().map(row).collect::<Vec<_>>());
}

/// How a requirement is checked, in words, and for how long a person's word holds.
#[must_use]
pub fn how(requirement: &Requirement, descriptor: &Descriptor) -> String {
    let again = requirement.valid_days.map(|days| format!(", again every {days} days"));
    format!("{}{}", how_once(&requirement.check, descriptor), again.unwrap_or_default())
}

fn how_once(check: &RequirementCheck, descriptor: &Descriptor) -> String {
    match check {
        RequirementCheck::AtLeast(depth) => format!("among the options of all samples: {}", count_words(depth)),
        RequirementCheck::Covers(coverage) => format!(
            "each value of {} is asked for in `{}` by a sample that finds an option",
            coverage.vocabulary, coverage.pointer
        ),
        RequirementCheck::Handles(handling) => describe_handling(handling),
        RequirementCheck::WithinLatency(tool) => {
            let target = descriptor.tool(tool).map_or(0, |tool| tool.latency.p95_ms);
            let by = if *tool == descriptor.search.tool {
                format!("measured on {LATENCY_SAMPLES_MIN} samples or more")
            } else {
                "measured and confirmed by people".to_owned()
            };
            format!("p95 of `{tool}` at most {target} ms, {by}")
        }
        RequirementCheck::ByHand => "by people, who confirm it".to_owned(),
    }
}

fn count_words(depth: &Depth) -> String {
    let minimum = |minimum: &intent_gateway_domain::contract::Minimum| {
        let place = if minimum.pointer.is_empty() { String::new() } else { format!(" by `{}`", minimum.pointer) };
        format!("{} {}{place}", minimum.count, minimum.counted)
    };
    let minimums: Vec<_> = depth.minimums.iter().map(minimum).collect();
    let window = depth.within.as_ref();
    let window = window.map(|window| format!(", within {} hours by `{}`", window.hours, window.pointer));
    format!("{}{}", minimums.join(", "), window.unwrap_or_default())
}

fn describe_handling(handling: &Handling) -> String {
    let names: Vec<_> = handling.occasions.iter().map(|occasion| occasion.text.as_str()).collect();
    let asked = (!names.is_empty()).then(|| format!("samples ask for {} and find options", names.join(", ")));
    let codes = &handling.unbroken;
    let unbroken = (!codes.is_empty()).then(|| format!("no option of any sample breaks {}", quote_names(codes)));
    asked.into_iter().chain(unbroken).collect::<Vec<_>>().join("; ")
}
