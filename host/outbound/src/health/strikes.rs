//! Three strikes: how often a partner may break a rule that counts towards its suspension (spec 1, Forbidden fields; spec 2,
//! Rules that must hold).
//!
//! What is a strike, the host and the contracts say: a forbidden field, a declined warranty re-service, the wrong
//! refrigerant. Strikes are counted by code, and one request is one incident, however many of its options break the rule
//! and however often it is told: findings that were kept can be told again after a restart.
//!
//! Not here: the suspension itself, which is a step of `onboarding`.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::health::{STRIKE_WINDOW_MS, STRIKES_OUT, Strikes};

/// Codes counted for one partner; the one that was quiet for longest gives way.
const CODES_MAX: usize = 32;

/// All strikes against one partner.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    codes: Vec<Strikes>,
    /// It was told that the partner is to be suspended.
    is_out: bool,
    pardoned_until: Option<Timestamp>,
}

impl Tally {
    /// Takes an incident; returns the strikes that are enough, once.
    pub(super) fn strike(&mut self, code: &str, id: &str, at: Timestamp) -> Option<Strikes> {
        if self.pardoned_until.is_some_and(|until| at <= until) {
            return None;
        }
        let strikes = self.of(code)?;
        if !strikes.take(id, at) || strikes.incidents.len() < STRIKES_OUT {
            return None;
        }
        let enough = strikes.clone();
        let was_out = std::mem::replace(&mut self.is_out, true);
        (!was_out).then_some(enough)
    }

    fn of(&mut self, code: &str) -> Option<&mut Strikes> {
        if let Some(place) = self.codes.iter().position(|strikes| strikes.code == code) {
            return self.codes.get_mut(place);
        }
        if self.codes.len() >= CODES_MAX {
            let quietest = (0..self.codes.len()).min_by_key(|place| self.codes[*place].newest())?;
            self.codes.swap_remove(quietest);
        }
        self.codes.push(Strikes { code: code.to_owned(), incidents: Vec::with_capacity(STRIKES_OUT) });
        self.codes.last_mut()
    }

    /// Forgets what happened until then: the platform team has lifted the suspension. What was pardoned already changes
    /// nothing, so that it can be told again and again.
    pub(super) fn pardon(&mut self, until: Timestamp) {
        if self.pardoned_until >= Some(until) {
            return;
        }
        self.pardoned_until = Some(until);
        for strikes in &mut self.codes {
            strikes.incidents.retain(|incident| incident.at_ms > until);
        }
        self.codes.retain(|strikes| !strikes.incidents.is_empty());
        self.is_out = false;
    }

    /// Whether any incident is held against the partner.
    pub(super) fn holds_any(&self) -> bool {
        !self.codes.is_empty()
    }

    /// Whether there is nothing to remember.
    pub(super) fn is_blank(&self) -> bool {
        self.codes.is_empty() && self.pardoned_until.is_none()
    }

    pub(super) fn view(&self, now: Timestamp) -> Vec<Strikes> {
        let mut codes = self.codes.clone();
        for strikes in &mut codes {
            strikes.incidents.retain(|incident| now.ms_since(incident.at_ms) <= STRIKE_WINDOW_MS);
        }
        codes.retain(|strikes| !strikes.incidents.is_empty());
        codes.sort_by(|a, b| a.code.cmp(&b.code));
        codes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use intent_gateway_domain::health::Incident;

    use super::*;

    const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
    const FORBIDDEN: &str = "FORBIDDEN_FIELD";
    const WARRANTY: &str = "WARRANTY_DECLINED";

    const fn on_day(day: u64) -> Timestamp {
        Timestamp::from_ms(day * DAY_MS)
    }

    /// Tells incidents; returns at which of them the partner was out.
    fn out_at(incidents: &[(&str, &str, u64)]) -> Vec<usize> {
        let mut tally = Tally::default();
        let mut told = Vec::new();
        for (place, (code, id, day)) in incidents.iter().enumerate() {
            told.extend(tally.strike(code, id, on_day(*day)).map(|_| place));
        }
        told
    }

    #[test]
    fn the_third_incident_of_a_code_is_told_once() {
        assert_eq!(out_at(&[(FORBIDDEN, "a", 1), (FORBIDDEN, "b", 1), (FORBIDDEN, "c", 2), (FORBIDDEN, "d", 3)]), [2]);
        assert_eq!(out_at(&[(FORBIDDEN, "a", 1), (WARRANTY, "a", 1), (FORBIDDEN, "b", 2), (WARRANTY, "b", 2)]), [0; 0]);
        let both = ["a", "b", "c"].map(|id| [(FORBIDDEN, id, 1), (WARRANTY, id, 1)]).concat();
        assert_eq!(out_at(&both), [4], "one suspension, whatever the code");
    }

    #[test]
    fn one_request_is_one_incident() {
        assert_eq!(out_at(&[(FORBIDDEN, "a", 1); 20]), [0; 0]);
        assert_eq!(out_at(&[(WARRANTY, "a", 1), (WARRANTY, "b", 1), (WARRANTY, "a", 2), (WARRANTY, "b", 3)]), [0; 0]);
    }

    #[test]
    fn incidents_expire_in_whatever_order_they_are_told() {
        let days = [[1, 50, 92], [92, 50, 1], [50, 1, 92]];
        for [a, b, c] in days {
            assert_eq!(out_at(&[(WARRANTY, "a", a), (WARRANTY, "b", b), (WARRANTY, "c", c)]), [0; 0]);
        }
        for [a, b, c] in [[2, 50, 92], [92, 50, 2], [50, 92, 2]] {
            assert_eq!(out_at(&[(WARRANTY, "a", a), (WARRANTY, "b", b), (WARRANTY, "c", c)]), [2]);
        }
    }

    #[test]
    fn what_was_pardoned_is_not_held_against_it_again() {
        let mut tally = Tally::default();
        let incidents = [("a", 1), ("b", 2), ("c", 3)];
        let told =
            incidents.map(|(id, day)| tally.strike(WARRANTY, id, on_day(day)).map(|strikes| strikes.incidents.len()));
        assert_eq!(told, [None, None, Some(3)]);
        tally.pardon(on_day(5));
        assert!(tally.view(on_day(5)).is_empty());
        // After a restart, what was kept is told again.
        assert!(incidents.iter().all(|(id, day)| tally.strike(WARRANTY, id, on_day(*day)).is_none()));
        let told = [("d", 6), ("e", 7), ("f", 8)].map(|(id, day)| tally.strike(WARRANTY, id, on_day(day)).is_some());
        assert_eq!(told, [false, false, true]);
        tally.pardon(on_day(5));
        assert!(tally.strike(WARRANTY, "g", on_day(8)).is_none(), "an old pardon, told again, undoes nothing");
        tally.pardon(on_day(7));
        tally.codes[0].incidents.retain(|incident| incident.id != "g");
        assert_eq!(tally.view(on_day(8))[0].incidents, [Incident { at_ms: on_day(8), id: "f".to_owned() }]);
        assert!(tally.view(on_day(100)).is_empty(), "and that expires");
    }

    #[test]
    fn codes_beyond_the_bound_push_out_the_quietest() {
        let mut tally = Tally::default();
        for day in 0..100 {
            tally.strike(&format!("CODE_{day}"), "a", Timestamp::from_ms(day * DAY_MS / 100));
            tally.strike(FORBIDDEN, if day < 50 { "a" } else { "b" }, Timestamp::from_ms(day * DAY_MS / 100));
        }
        assert_eq!(tally.codes.len(), CODES_MAX);
        assert!(tally.codes.iter().any(|strikes| strikes.code == FORBIDDEN));
    }

    proptest! {
        #[test]
        fn it_is_out_exactly_when_three_incidents_lie_within_the_window(
            days in prop::collection::vec((0_u64..400, 0_usize..6), 1..25),
        ) {
            let mut tally = Tally::default();
            // An incident has one time; told in order, as they happen.
            let mut times: Vec<Timestamp> = days.iter().map(|(day, _)| on_day(*day)).collect();
            times.sort_unstable();
            let mut told = false;
            for (place, at) in times.iter().enumerate() {
                let repeats = days[place].1;
                for _ in 0..=repeats {
                    let out = tally.strike(WARRANTY, &place.to_string(), *at).is_some();
                    prop_assert!(!(out && told), "told twice");
                    told |= out;
                }
            }
            let within = times.windows(3).any(|three| three[2].ms_since(three[0]) <= STRIKE_WINDOW_MS);
            prop_assert_eq!(told, within);
        }
    }
}
