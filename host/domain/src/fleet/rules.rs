//! Who lives, and who holds which duty: decided on all leases of a store at once, by the store's own clock.
//!
//! - A lease lives until its end. One that ends later than twice its length from now was written before the store's clock
//!   was set back: it has ended, for the dead would otherwise live for as long as the clock went back. A clock that is set
//!   back by less than a length makes the dead live that much longer.
//! - A renewal that comes too late begins a new lease: in between the gateway was held for dead, and its duties may be another's.
//! - A duty stays with the process that holds it while its lease lives, and is anybody's after that.
//! - A process that starts takes the lease of an earlier process of the same gateway, dead or not: both have one folder,
//!   which one process alone can use. If the earlier one asks again, it learns that it was replaced.

use super::{DUTIES_MAX, GATEWAYS_MAX, Gateway, GatewayId, Granted, LiveGateway, OwnLease, Renewal};
use crate::clock::Timestamp;

/// A time that has an end, by the store's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    pub renewed_at: Timestamp,
    pub ends_at: Timestamp,
    /// Milliseconds.
    pub length_ms: u64,
}

impl Lease {
    fn begin(now: Timestamp, length_ms: u64) -> Self {
        Self { renewed_at: now, ends_at: now.plus_ms(length_ms), length_ms }
    }

    /// Whether it goes on at a time.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.ends_at && self.ends_at.ms_since(now) <= self.length_ms.saturating_mul(2)
    }
}

/// A gateway's lease, as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayLease {
    pub gateway: Gateway,
    pub started_at: Timestamp,
    pub lease: Lease,
}

/// A duty's lease, as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DutyLease {
    /// The duty; a version of the program that is older or newer may have others.
    pub duty: String,
    /// The gateway that holds it, and its process.
    pub gateway: GatewayId,
    pub run: GatewayId,
    pub lease: Lease,
}

/// All leases of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaseBook {
    pub gateways: Vec<GatewayLease>,
    pub duties: Vec<DutyLease>,
}

/// More gateways or duties than one store may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the store has leases of {GATEWAYS_MAX} gateways or {DUTIES_MAX} duties already")]
pub struct TooMany;

impl LeaseBook {
    /// Renews the leases of a process. What has ended goes.
    ///
    /// # Errors
    /// [`TooMany`]; nothing has changed then.
    pub fn renew(&mut self, renewal: &Renewal, now: Timestamp) -> Result<Granted, TooMany> {
        let Renewal { gateway, lease_ms, is_start, duties } = renewal;
        let own = self.gateways.iter().find(|kept| kept.gateway.id == gateway.id);
        let standing = match own {
            Some(kept) if kept.gateway.run == gateway.run && kept.lease.is_live(now) => OwnLease::Renewed,
            // Another process has the name. Only one that starts takes it over while it lives.
            Some(kept) if kept.gateway.run != gateway.run && !is_start && kept.lease.is_live(now) => OwnLease::Replaced,
            _ => OwnLease::Begun,
        };
        if standing == OwnLease::Replaced {
            return Ok(Granted { own: standing, live: self.live(now), duties: Vec::new() });
        }
        let started_at = own.filter(|kept| kept.gateway.run == gateway.run).map_or(now, |kept| kept.started_at);
        let others = self.gateways.iter().filter(|kept| kept.gateway.id != gateway.id && kept.lease.is_live(now));
        if others.count() >= GATEWAYS_MAX {
            return Err(TooMany);
        }
        let lease = Lease::begin(now, *lease_ms);
        self.gateways.retain(|kept| kept.gateway.id != gateway.id && kept.lease.is_live(now));
        self.gateways.push(GatewayLease { gateway: gateway.clone(), started_at, lease });
        // A duty of an earlier process of the gateway is nobody's: that process has gone.
        self.duties.retain(|kept| kept.lease.is_live(now) && (kept.gateway != gateway.id || kept.run == gateway.run));
        let mut held = Vec::with_capacity(duties.len());
        for duty in duties {
            let has_room = self.duties.len() < DUTIES_MAX;
            match self.duties.iter_mut().find(|kept| kept.duty == duty.as_str()) {
                Some(kept) if kept.run == gateway.run => kept.lease = lease,
                Some(_) => continue,
                None if !has_room => continue,
                None => self.duties.push(DutyLease {
                    duty: duty.as_str().to_owned(),
                    gateway: gateway.id.clone(),
                    run: gateway.run.clone(),
                    lease,
                }),
            }
            held.push(*duty);
        }
        Ok(Granted { own: standing, live: self.live(now), duties: held })
    }

    /// Ends all leases of a process.
    pub fn give_back(&mut self, run: &GatewayId) {
        self.gateways.retain(|kept| kept.gateway.run != *run);
        self.duties.retain(|kept| kept.run != *run);
    }

    /// The gateways that live, by the time at which they started.
    #[must_use]
    pub fn live(&self, now: Timestamp) -> Vec<LiveGateway> {
        let live = |kept: &&GatewayLease| kept.lease.is_live(now);
        let shown = |kept: &GatewayLease| {
            let own = |duty: &&DutyLease| duty.run == kept.gateway.run && duty.lease.is_live(now);
            let mut duties: Vec<String> = self.duties.iter().filter(own).map(|duty| duty.duty.clone()).collect();
            duties.sort_unstable();
            LiveGateway {
                gateway: kept.gateway.clone(),
                started_at: kept.started_at,
                renewed_at: kept.lease.renewed_at,
                left_ms: kept.lease.ends_at.ms_since(now),
                duties,
            }
        };
        let mut gateways: Vec<LiveGateway> = self.gateways.iter().filter(live).map(shown).collect();
        gateways.sort_by(|one, other| (one.started_at, &one.gateway.id).cmp(&(other.started_at, &other.gateway.id)));
        gateways
    }
}

#[cfg(test)]
mod tests {
    use super::super::Duty;
    use super::*;

    const LEASE_MS: u64 = 10_000;

    const fn at(ms: u64) -> Timestamp {
        Timestamp::from_ms(1_000_000 + ms)
    }

    fn id(text: &str) -> GatewayId {
        GatewayId::parse(text).expect("well formed")
    }

    fn renewal(gateway: &str, run: &str, is_start: bool) -> Renewal {
        let gateway = Gateway { id: id(gateway), run: id(run), name: gateway.to_owned(), version: "1".to_owned() };
        Renewal { gateway, lease_ms: LEASE_MS, is_start, duties: vec![Duty::Probes, Duty::Sweep] }
    }

    fn names(live: &[LiveGateway]) -> Vec<&str> {
        live.iter().map(|live| live.gateway.id.as_str()).collect()
    }

    #[test]
    fn the_first_holds_the_duties_and_the_next_gets_them_when_its_lease_ends() {
        let mut book = LeaseBook::default();
        let mut ask = |renewal: &Renewal, ms| book.renew(renewal, at(ms)).expect("there is room");
        let (one, other) = (renewal("a", "a1", true), renewal("b", "b1", true));
        assert_eq!(ask(&one, 0).duties, [Duty::Probes, Duty::Sweep]);
        let second = ask(&other, 1);
        assert_eq!((second.own, &second.duties[..], names(&second.live)), (OwnLease::Begun, &[][..], vec!["a", "b"]));
        let later = Renewal { is_start: false, ..other };
        assert_eq!(ask(&later, LEASE_MS - 1).duties, []);
        let alone = ask(&later, LEASE_MS);
        assert_eq!((alone.own, alone.duties.len(), names(&alone.live)), (OwnLease::Renewed, 2, vec!["b"]));
        let late = ask(&Renewal { is_start: false, ..one }, LEASE_MS + 1);
        assert_eq!((late.own, late.duties), (OwnLease::Begun, vec![]), "it was held for dead");
    }

    #[test]
    fn a_process_that_starts_takes_the_place_of_the_one_before() {
        let mut book = LeaseBook::default();
        let mut ask = |renewal: &Renewal, ms| book.renew(renewal, at(ms)).expect("there is room");
        let first = Renewal { is_start: false, ..renewal("a", "a1", true) };
        assert_eq!(ask(&renewal("a", "a1", true), 0).duties.len(), 2);
        let second = ask(&renewal("a", "a2", true), 10);
        assert_eq!((second.own, second.duties.len(), second.live.len()), (OwnLease::Begun, 2, 1));
        let replaced = ask(&first, 20);
        assert_eq!((replaced.own, replaced.duties), (OwnLease::Replaced, vec![]));
        assert_eq!(replaced.live[0].gateway.run, id("a2"));
        // The second has died meanwhile: the name is free.
        assert_eq!(ask(&first, 10 + LEASE_MS).own, OwnLease::Begun);
    }

    #[test]
    fn what_is_given_back_is_free_at_once() {
        let mut book = LeaseBook::default();
        book.renew(&renewal("a", "a1", true), at(0)).expect("there is room");
        book.renew(&renewal("b", "b1", true), at(1)).expect("there is room");
        book.give_back(&id("a1"));
        let granted = book.renew(&renewal("b", "b1", false), at(2)).expect("there is room");
        assert_eq!((granted.duties.len(), names(&granted.live)), (2, vec!["b"]));
        book.give_back(&id("nobody"));
        assert_eq!(book.live(at(2)).len(), 1);
    }

    #[test]
    fn a_clock_that_is_set_back_keeps_nobody_alive_for_long() {
        let mut book = LeaseBook::default();
        book.renew(&renewal("a", "a1", true), at(500_000)).expect("there is room");
        assert_eq!(names(&book.live(at(500_000 - LEASE_MS))), ["a"], "by no more than its length");
        assert_eq!(names(&book.live(at(0))), Vec::<&str>::new());
        let granted = book.renew(&renewal("b", "b1", true), at(0)).expect("there is room");
        assert_eq!((granted.duties.len(), names(&granted.live)), (2, vec!["b"]));
    }

    #[test]
    fn leases_are_bounded_and_the_dead_make_room() {
        let mut book = LeaseBook::default();
        for number in 0..GATEWAYS_MAX {
            let name = format!("g{number}");
            book.renew(&renewal(&name, &name, true), at(0)).expect("there is room");
        }
        assert_eq!(book.renew(&renewal("late", "late", true), at(1)), Err(TooMany));
        assert!(book.renew(&renewal("g0", "g0", false), at(1)).is_ok(), "who is there stays");
        let granted = book.renew(&renewal("late", "late", true), at(LEASE_MS)).expect("they are dead");
        assert_eq!(granted.live.len(), 2);
    }

    #[test]
    fn duties_of_other_versions_are_left_alone() {
        let mut book = LeaseBook::default();
        book.renew(&renewal("a", "a1", true), at(0)).expect("there is room");
        book.duties.push(DutyLease { duty: "from-tomorrow".to_owned(), ..book.duties[0].clone() });
        let granted = book.renew(&renewal("a", "a1", false), at(1)).expect("there is room");
        assert_eq!(granted.duties, [Duty::Probes, Duty::Sweep]);
        assert_eq!(granted.live[0].duties, ["from-tomorrow", "probes", "sweep"]);
    }
}
