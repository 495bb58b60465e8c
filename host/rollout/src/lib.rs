//! Rollouts: a new version of a contract reaches everybody step by step, each taken when what was seen in the one before allows
//! it, and is taken back when a bound is broken.
//!
//! In the first stage the candidate serves nobody: it ranks again, beside serving, a part of what the live version has ranked. In
//! the next ones it serves a growing share of the users as well. After the last one it is live. A contract is a pure function of
//! its arguments, so what differs between the two on one request is the candidate's doing, and chance plays no part in it; in what
//! remains to chance, looking all the time raises no more false alarms than the policy states (`domain::rates`).
//!
//! | question | module |
//! |---|---|
//! | which stages there are, and what may not be exceeded | `policy` |
//! | what is counted | `evidence` |
//! | whether a bound is broken, and a stage passed | `judge` |
//! | how the figures went over the time of a rollout | `course` |
//! | what is tried out at this gateway at the moment | `trials` |
//! | what the platform team may do with a rollout, and is told of it | `desk` |
//!
//! Not here: where a rollout is kept and when its stages change (`catalogue`), how two rankings are compared (`compare`), and how a
//! search finds its version (`routing`).

mod course;
mod desk;
mod evidence;
mod judge;
mod policy;
#[cfg(test)]
mod simulation;
mod trials;

pub use course::{Course, CourseSample, Courses, SAMPLES_MAX};
pub use desk::{
    EndedRollout, IntentRollouts, RolloutAct, RolloutDesk, RolloutEnd, RolloutError, RolloutOrder, RolloutPause,
    RolloutStatus, WHY_MAX_CHARS,
};
pub use evidence::{Evidence, Measure, StageCount};
pub use judge::{Guard, GuardVerdict, Missing, StageVerdict, guards, judge};
pub use policy::{Bounds, InvalidPolicy, RolloutPolicy, STAGES_MAX, Stage};
pub use trials::{RolloutId, Trial, Trials, note_fault};
