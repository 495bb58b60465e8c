//! Where a declared signal claims more than was delivered.
//!
//! Two signals can be held against reports. A service that begins so many minutes late takes at least as long, so that
//! lateness bounds `time`, on the scale that the specification gives for it. Orders that are not carried out bound
//! `safety`, the trust that a partner asks for. `taste` and `budget` no report tells about, but nobody is the best at
//! everything at once: with all four at the top, anything short of near-perfect delivery counts against every one.
//!
//! The rule is monotone: one more order carried out, or a minute less late, never makes a declaration inflated; a lower
//! declaration never does either.

use serde::{Deserialize, Serialize};

use super::Delivered;
use intent_gateway_domain::contract::{Axes, Axis};

/// Fewest reports from which anything is concluded. One order that fell through is then a twentieth at most.
pub(crate) const REPORTS_MIN: u64 = 20;
/// A declared signal is inflated when it is above what was delivered by more than this: three quarters of the
/// width of the upper band in which the specification describes `time`, so that the edge of a band is left alone.
const GAP_MAX: f64 = 0.15;
/// The most that `time` can claim at a mean lateness in minutes. From the specification: 0.8 and above means under 30
/// minutes on average, 0.3 and below means over two hours.
pub(super) const TIME_AT_MOST: [(f64, f64); 4] = [(0.0, 1.0), (30.0, 0.8), (120.0, 0.3), (240.0, 0.0)];
/// The most that `safety` can claim at a completion rate. One order in ten may fall through for reasons of the user's.
pub(super) const SAFETY_AT_MOST: [(f64, f64); 2] = [(0.0, 0.0), (0.9, 1.0)];
/// The top of a signal.
const TOP: f64 = 1.0;
/// A completion rate below this is less than near-perfect.
const NEAR_PERFECT_RATE: f64 = 0.98;
/// A mean lateness above this is less than near-perfect, minutes.
const NEAR_PERFECT_LATE_MINUTES: f64 = 5.0;

/// What a signal is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = MeasureName))]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Share of the reported orders that were carried out.
    CompletionRate,
    /// Minutes by which the service began late, on average.
    MeanLateMinutes,
}

/// A declared signal that claims more than was delivered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = InflatedBody))]
pub struct Inflated {
    /// Which.
    #[cfg_attr(feature = "schema", schema(value_type = intent_gateway_domain::schema::AxisName))]
    pub axis: Axis,
    /// As declared, 0 to 1.
    pub declared: f64,
    /// What it was held against.
    pub measure: Measure,
    /// What that came to: a share of orders, or minutes.
    pub delivered: f64,
    /// The most that this bears out; null where all four signals are at the top together.
    #[cfg_attr(feature = "schema", schema(required))]
    pub at_most: Option<f64>,
    /// Reports that it is the result of.
    pub reports: u64,
}

/// What reports came to, by one measure.
#[derive(Clone, Copy)]
struct MeasureSum {
    measure: Measure,
    delivered: f64,
    reports: u64,
}

impl MeasureSum {
    fn is_short_of_perfect(self) -> bool {
        match self.measure {
            Measure::CompletionRate => self.delivered < NEAR_PERFECT_RATE,
            Measure::MeanLateMinutes => self.delivered > NEAR_PERFECT_LATE_MINUTES,
        }
    }

    fn against(self, axis: Axis, declared: f64, at_most: Option<f64>) -> Inflated {
        let Self { measure, delivered, reports } = self;
        Inflated { axis, declared, measure, delivered, at_most, reports }
    }
}

impl Delivered {
    /// The declared signals that are inflated, in the order of the axes; none from fewer reports than [`REPORTS_MIN`].
    #[must_use]
    pub fn inflation(&self, declared: &Axes) -> Vec<Inflated> {
        let seen = |measure, delivered: Option<f64>, reports| {
            let enough = delivered.filter(|_| reports >= REPORTS_MIN);
            enough.map(|delivered| MeasureSum { measure, delivered, reports })
        };
        let rate = seen(Measure::CompletionRate, self.completion_rate(), self.reports());
        let late = seen(Measure::MeanLateMinutes, self.mean_late_minutes(), self.timed);
        let all_at_top = declared.values().into_iter().all(|signal| signal >= TOP);
        let short = [rate, late].into_iter().flatten().find(|seen| all_at_top && seen.is_short_of_perfect());

        let judged = |axis, declared: f64, seen: Option<MeasureSum>, scale: &[(f64, f64)]| {
            let above = seen.and_then(|seen| {
                let at_most = on(scale, seen.delivered);
                (declared - at_most > GAP_MAX).then(|| seen.against(axis, declared, Some(at_most)))
            });
            above.or_else(|| short.map(|seen| seen.against(axis, declared, None)))
        };
        let Axes { time, taste, budget, safety } = *declared;
        let axes = [
            judged(Axis::Time, time, late, &TIME_AT_MOST),
            judged(Axis::Taste, taste, None, &[]),
            judged(Axis::Budget, budget, None, &[]),
            judged(Axis::Safety, safety, rate, &SAFETY_AT_MOST),
        ];
        axes.into_iter().flatten().collect()
    }
}

/// The value at `x` of the line through these points, which go up in `x`; level before the first and after the last.
pub(super) fn on(points: &[(f64, f64)], x: f64) -> f64 {
    let segment = points.windows(2).find(|segment| x <= segment[1].0);
    match (segment, points.last()) {
        (Some([(x0, y0), (x1, y1)]), _) => {
            let share = ((x - x0) / (x1 - x0)).max(0.0);
            // Within the segment's ends whatever rounding does, so that the line never turns back.
            (y0 + (y1 - y0) * share).clamp(y0.min(*y1), y0.max(*y1))
        }
        (_, last) => last.map_or(0.0, |(_, y)| *y),
    }
}
