//! The contracts that are measured, each with a search whose every option passes.

use std::ops::Deref;

use auto_book_ac_service::AcService;
use contract_sdk::bindings::{Context, Evaluation, PastOrder, Payload, Refusal};
use contract_sdk::engine::evaluate;
use finance_buy_motor_insurance::MotorInsurance;
pub(crate) use intent_gateway_testing::samples::OPTIONS;
use intent_gateway_testing::samples::{AC_SERVICE, MOTOR_INSURANCE, Sample, YOGA_CLASS};
use lifestyle_book_yoga_class::YogaClass;

/// The contract's own code, called without a sandbox.
type Evaluate = fn(&Context, &str, &[Payload], &[PastOrder]) -> Result<Evaluation, Refusal>;

/// One contract: its samples, and its code.
pub(crate) struct Subject {
    sample: Sample,
    pub(crate) evaluate: Evaluate,
}

pub(crate) const SUBJECTS: [Subject; 3] = [
    Subject { sample: AC_SERVICE, evaluate: evaluate::<AcService> },
    Subject { sample: MOTOR_INSURANCE, evaluate: evaluate::<MotorInsurance> },
    Subject { sample: YOGA_CLASS, evaluate: evaluate::<YogaClass> },
];

impl Deref for Subject {
    type Target = Sample;

    fn deref(&self) -> &Sample {
        &self.sample
    }
}
