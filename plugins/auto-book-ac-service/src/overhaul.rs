//! Where an overhaul is more than the trouble calls for (spec 2, anti-fabrication preamble and rule 6).
//!
//! A provider may not recommend a new system where a top-up and a look for leaks would do, and what is found must rest on
//! evidence. Before anybody has looked at the car, the category of the trouble is all that is known. So the table says
//! what each category calls for first; an overhaul is noted where that is a top-up or a check. It is a finding and takes
//! nothing out, for the car may need more than its trouble tells. What an overhaul scores is `ranking`'s table alone.

use crate::request::IssueCategory;
use crate::slot::ServiceScopeCode::{self, *};
use contract_sdk::{ItemRules, Vocabulary};

/// What a trouble calls for first.
struct Call {
    scopes: &'static [ServiceScopeCode],
    reason: &'static str,
}

/// The table.
const fn call_of(trouble: IssueCategory) -> Call {
    let (scopes, reason): (&[ServiceScopeCode], _) = match trouble {
        IssueCategory::NotCooling => {
            (&[RefrigerantTopup, LeakDiagnosis], "low refrigerant is the usual cause, and a leak the next")
        }
        IssueCategory::Intermittent => (&[BasicCheck], "a fault that comes and goes has to be found first"),
        IssueCategory::NoAir => {
            (&[BasicCheck], "air is moved by the blower, which is no part of the refrigerant circuit")
        }
        IssueCategory::Smell => {
            (&[CabinFilterOnly, BasicCheck], "a smell comes from the filter, or from what has settled behind the vents")
        }
        // The one that may need it: a compressor that breaks leaves its debris in the whole circuit.
        IssueCategory::Noise => (&[CompressorService], "a noise comes from the compressor"),
        IssueCategory::PreSummerCheck => (&[BasicCheck, RefrigerantTopup], "nothing is said to be broken"),
        IssueCategory::LeakSuspected => {
            (&[LeakDiagnosis, RefrigerantTopup], "a leak has to be found before it is known what it takes")
        }
        IssueCategory::ElectricalFault => (&[BasicCheck], "wires, relays and sensors are found by a check"),
    };
    Call { scopes, reason }
}

/// Whether such work looks for the trouble or tops up, and renews nothing.
const fn is_check_or_topup(scope: ServiceScopeCode) -> bool {
    matches!(scope, BasicCheck | RefrigerantTopup | LeakDiagnosis)
}

pub(crate) fn check_overhaul(trouble: IssueCategory, scope: ServiceScopeCode, rules: &mut ItemRules) {
    if scope != FullOverhaul {
        return;
    }
    let Call { scopes, reason } = call_of(trouble);
    let first: Vec<_> = scopes.iter().map(Vocabulary::value).collect();
    rules.finding_if(
        scopes.iter().any(|scope| is_check_or_topup(*scope)),
        "OVERHAUL_NOT_CALLED_FOR",
        "/service_scope/code",
        format_args!(
            "An overhaul is offered where {} calls for {} first: {reason}.",
            trouble.value(),
            first.join(" or ")
        ),
    );
}
