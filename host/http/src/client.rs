//! Where a request comes from, and how often one client may use the routes that take no token.
//!
//! Not here: limits on callers that a token names ([`crate::quota`]), and on what one account may do.

use std::hash::{BuildHasher as _, RandomState};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use governor::clock::{Clock, MonotonicClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use http::{Extensions, HeaderMap, HeaderName};
use intent_gateway_domain::fleet::Fleet;

use crate::quota::{Counted, Remaining};
use crate::rates::LiveRates;

/// The header in which proxies name who asked them, the nearest one last.
pub(crate) const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// The same by its standard name (RFC 7239). It is not read, and gives a proxy away.
const FORWARDED: HeaderName = HeaderName::from_static("forwarded");
/// Clients that are told apart. Each is a number below this one: whoever has more addresses than that to ask from gets
/// no more memory of the gateway's for it.
const CLIENTS_TOLD_APART: u64 = 128 * 1024;
const MINUTE: Duration = Duration::from_secs(60);
/// Most proxies that may be trusted.
pub const TRUSTED_PROXIES_MAX: usize = 8;

/// The other end of the connection, among a request's extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The network of the client: an IPv4 address, or the 64 leading bits of an IPv6 one, which is the least that a site gets.
///
/// Each trusted proxy appends the address that it was called from, so the client's is the one that the outermost of them
/// appended. What stands before it is the client's own invention.
pub(crate) fn network(headers: &HeaderMap, Peer(peer): Peer, trusted_proxies: usize) -> IpAddr {
    let Some(behind_the_last) = trusted_proxies.checked_sub(1) else { return network_of(peer) };
    let values = headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
    let chain: Vec<&str> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
    // A chain that is too short did not come through all proxies; its first address is the best there is.
    let client = chain.len().checked_sub(behind_the_last + 1).map_or(chain.first(), |index| chain.get(index));
    network_of(client.and_then(|text| address(text)).unwrap_or(peer))
}

/// An address as proxies write it: alone, in brackets, or with a port.
fn address(text: &str) -> Option<IpAddr> {
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(with_port)
}

/// The network of an address, as [`network`] tells clients apart.
pub(crate) fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        address => address,
    }
}

/// The client's network, among a request's extensions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Network(pub(crate) IpAddr);

/// Says where requests come from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clients {
    /// Hops of `X-Forwarded-For` that are believed.
    pub(crate) trusted_proxies: usize,
    pub(crate) proxies: Arc<ProxyWatch>,
}

impl Clients {
    /// The network of a request; none without a connection, as in a test of the router alone, where the header names none.
    pub(crate) fn find(&self, headers: &HeaderMap, extensions: &Extensions) -> Option<Network> {
        self.proxies.look(headers, self.trusted_proxies);
        let nowhere = Peer(Ipv4Addr::UNSPECIFIED.into());
        let peer = extensions.get::<Peer>().copied().unwrap_or(nowhere);
        let network = network(headers, peer, self.trusted_proxies);
        (network != nowhere.0).then_some(Network(network))
    }
}

/// Notices a proxy in front of the gateway that it was not told of: all clients are one then, and share what one may do.
#[derive(Debug, Default)]
pub(crate) struct ProxyWatch(AtomicBool);

impl ProxyWatch {
    /// Looks at a request's head, and warns once.
    pub(crate) fn look(&self, headers: &HeaderMap, trusted_proxies: usize) {
        let forwarded = || headers.contains_key(FORWARDED_FOR) || headers.contains_key(FORWARDED);
        if trusted_proxies == 0 && !self.is_evident() && forwarded() && !self.0.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "a request came with `X-Forwarded-For` or `Forwarded`, and `server.trusted_proxies` is 0: behind a proxy, all \
                 clients share one limit on requests without a token. Set it to the number of proxies in front; where there is \
                 none, a client has written the header itself, and nothing is to be done"
            );
        }
    }

    /// Whether one was noticed since the process started.
    pub(crate) fn is_evident(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// So many requests a minute for each client; as many may come at once.
pub(crate) struct ClientLimit<C: Clock = MonotonicClock> {
    rates: Arc<LiveRates>,
    limiter: ArcSwap<Limiter<C>>,
    clock: C,
    fleet: Fleet,
    /// Seeded anew in each process, so that nobody can look for clients that share a number.
    numbers: RandomState,
}

/// The counts of all clients under one rate.
struct Limiter<C: Clock> {
    counts: RateLimiter<u64, HashMapStateStore<u64>, C, StateInformationMiddleware>,
    /// Of all gateways together.
    requests: NonZeroU32,
}

impl<C: Clock> Limiter<C> {
    fn new(requests: NonZeroU32, clock: C) -> Self {
        let counts = RateLimiter::hashmap_with_clock(Quota::per_minute(requests), clock).with_middleware();
        Self { counts, requests }
    }
}

impl ClientLimit {
    pub(crate) fn new(rates: Arc<LiveRates>, fleet: Fleet) -> Self {
        Self::with_clock(rates, fleet, MonotonicClock)
    }
}

impl<C: Clock + Clone> ClientLimit<C> {
    fn with_clock(rates: Arc<LiveRates>, fleet: Fleet, clock: C) -> Self {
        let limiter = ArcSwap::from_pointee(Limiter::new(rates.now().open_per_minute, clock.clone()));
        Self { rates, limiter, clock, fleet, numbers: RandomState::new() }
    }

    /// The counts under the rate in force; with another rate all clients begin anew.
    fn limiter(&self) -> Arc<Limiter<C>> {
        let (limiter, requests) = (self.limiter.load_full(), self.rates.now().open_per_minute);
        if limiter.requests == requests {
            return limiter;
        }
        let limiter = Arc::new(Limiter::new(requests, self.clock.clone()));
        self.limiter.store(limiter.clone());
        limiter
    }

    /// Counts a request, for as many as there are gateways: each gives its share of what a client may ask of all of them.
    ///
    /// # Errors
    /// The time after which the next one is let in.
    pub(crate) fn count(&self, network: IpAddr, counted: &mut Counted) -> Result<(), Duration> {
        let client = self.numbers.hash_one(network) % CLIENTS_TOLD_APART;
        let limiter = self.limiter();
        let refused = |refused: governor::NotUntil<C::Instant>| refused.wait_time_from(limiter.counts.clock().now());
        let share = self.fleet.share(limiter.requests).get();
        let weight = NonZeroU32::new(limiter.requests.get() / share).unwrap_or(NonZeroU32::MIN);
        // It is never more than there is room for, so that it fails for want of room alone.
        let outcome = match limiter.counts.check_key_n(&client, weight) {
            Ok(outcome) => outcome.map_err(refused),
            Err(_insufficient) => Err(MINUTE),
        };
        let left = outcome.as_ref().map_or(0, |state| state.remaining_burst_capacity() / weight).min(share);
        // Requests come back one by one.
        let whole_in = MINUTE * (share - left) / share;
        counted.add(Remaining { name: "client-minute", requests: share, window: MINUTE, left, whole_in });
        outcome.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use governor::clock::FakeRelativeClock;
    use intent_gateway_testing::clock::TestClock;
    use intent_gateway_testing::fleet::fleet_of;

    use super::*;
    use crate::quota::Quotas;
    use crate::rates::Rates;

    fn client_address(peer: &str, forwarded: &[&str], trusted_proxies: usize) -> String {
        let peer = Peer(peer.parse().expect("an address"));
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED_FOR, value.parse().expect("a header value"));
        }
        network(&headers, peer, trusted_proxies).to_string()
    }

    #[test]
    fn the_header_counts_only_behind_trusted_proxies() {
        assert_eq!(client_address("192.0.2.1", &["198.51.100.7"], 0), "192.0.2.1");
        assert_eq!(client_address("192.0.2.1", &["198.51.100.7"], 1), "198.51.100.7");
        // What the client wrote itself stands before what the proxies appended.
        assert_eq!(client_address("192.0.2.1", &["203.0.113.9, 198.51.100.7"], 1), "198.51.100.7");
        assert_eq!(client_address("192.0.2.1", &["203.0.113.9, 198.51.100.7", "192.0.2.2"], 2), "198.51.100.7");
        assert_eq!(client_address("192.0.2.1", &["198.51.100.7"], 2), "198.51.100.7");
        for nothing in [&[][..], &["unknown"], &[""], &["198.51.100.7, nonsense"]] {
            assert_eq!(client_address("192.0.2.1", nothing, 1), "192.0.2.1", "{nothing:?}");
        }
        assert_eq!(client_address("192.0.2.1", &["198.51.100.7:4711"], 1), "198.51.100.7");
        assert_eq!(client_address("192.0.2.1", &["[2001:db8:1:2:3::4]:4711"], 1), "2001:db8:1:2::");
        assert!(Clients::default().find(&HeaderMap::new(), &Extensions::new()).is_none());
    }

    #[test]
    fn a_proxy_that_nobody_told_of_is_noticed() {
        let with = |name: HeaderName| HeaderMap::from_iter([(name, "192.0.2.7".parse().expect("a header value"))]);
        for (headers, trusted_proxies, evident) in [
            (HeaderMap::new(), 0, false),
            (with(http::header::VIA), 0, false),
            (with(FORWARDED_FOR), 1, false),
            (with(FORWARDED_FOR), 0, true),
            (with(FORWARDED), 0, true),
        ] {
            let watch = ProxyWatch::default();
            watch.look(&headers, trusted_proxies);
            assert_eq!(watch.is_evident(), evident, "{headers:?} {trusted_proxies}");
            watch.look(&HeaderMap::new(), trusted_proxies);
            assert_eq!(watch.is_evident(), evident, "it stays noticed");
        }
    }

    #[test]
    fn a_site_is_one_client() {
        assert_eq!(client_address("2001:db8:1:2:3:4:5:6", &[], 0), "2001:db8:1:2::");
        assert_eq!(client_address("2001:db8:1:3:3:4:5:6", &[], 0), "2001:db8:1:3::");
        assert_eq!(client_address("::ffff:192.0.2.1", &[], 0), "192.0.2.1");
    }

    fn rates(open_per_minute: u32) -> Arc<LiveRates> {
        let open_per_minute = NonZeroU32::new(open_per_minute).expect("not zero");
        Arc::new(LiveRates::new(Rates { open_per_minute, quotas: Quotas::default() }))
    }

    #[test]
    fn another_rate_counts_from_the_next_request_on() {
        let rates = rates(1);
        let limit = ClientLimit::with_clock(rates.clone(), Fleet::default(), FakeRelativeClock::default());
        let count = || limit.count(IpAddr::from([192, 0, 2, 1]), &mut Counted::default()).is_ok();
        assert!(count() && !count());
        rates.replace(Rates { open_per_minute: NonZeroU32::new(2).expect("not zero"), quotas: Quotas::default() });
        assert!(count() && count() && !count());
    }

    #[test]
    fn each_client_has_its_own_count_which_recovers() {
        let clock = FakeRelativeClock::default();
        let limit = ClientLimit::with_clock(rates(3), Fleet::default(), clock.clone());
        let count = |network| limit.count(network, &mut Counted::default());
        let (one, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        for _ in 0..3 {
            assert_eq!(count(one), Ok(()));
        }
        assert_eq!(count(one), Err(Duration::from_secs(20)));
        assert_eq!(count(other), Ok(()));
        clock.advance(Duration::from_secs(19));
        assert_eq!(count(one), Err(Duration::from_secs(1)));
        clock.advance(Duration::from_secs(1));
        assert_eq!(count(one), Ok(()));
        assert!(count(one).is_err());
    }

    #[test]
    fn a_gateway_gives_its_share() {
        let clock = FakeRelativeClock::default();
        let fleet = fleet_of(3, TestClock::at(0), 10_000, &[]);
        let limit = ClientLimit::with_clock(rates(10), fleet, clock.clone());
        let one = IpAddr::from([192, 0, 2, 1]);
        let taken = |most| (0..most).filter(|_| limit.count(one, &mut Counted::default()).is_ok()).count();
        assert_eq!(taken(9), 3);
        clock.advance(Duration::from_secs(60));
        assert_eq!(taken(9), 3);
        let few = ClientLimit::with_clock(rates(1), fleet_of(3, TestClock::at(0), 10_000, &[]), clock);
        assert_eq!(few.count(one, &mut Counted::default()), Ok(()), "never less than one");
        assert!(few.count(one, &mut Counted::default()).is_err());
    }

    #[test]
    fn the_clients_that_are_told_apart_are_bounded() {
        let limit = ClientLimit::new(rates(1), Fleet::default());
        for site in 0..200_000_u32 {
            let _ = limit.count(IpAddr::V4(site.into()), &mut Counted::default());
        }
        assert!(limit.limiter().counts.len() as u64 <= CLIENTS_TOLD_APART);
    }
}
