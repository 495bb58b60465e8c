//! Which addresses the gateway calls: public ones, over HTTPS.
//!
//! A partner names its own endpoint, so without this guard it could aim the gateway at the platform's private
//! network or at a cloud's metadata service. Names are judged by the addresses that they resolve to, and those very
//! addresses are the ones connected to: there is no second look-up that could answer differently.
//!
//! Not here: redirects (none is followed) and certificates (rustls judges them).

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use http::Uri;
use hyper_util::client::legacy::connect::dns::Name;
use intent_gateway_domain::error::CallFailure;
use tower_service::Service;

/// Bytes of a partner's endpoint address.
const URL_MAX_BYTES: usize = 2_048;
/// Addresses of one name that are tried; a name with more is not an ordinary partner.
const ADDRESSES_MAX: usize = 16;
/// The host of Azure's platform services. It is in a public range, and reachable from inside that cloud only.
const AZURE_PLATFORM: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

/// Whether an address belongs to the public Internet, as unicast.
///
/// Refused are the special-purpose ranges of the IANA registries (RFC 6890 and later): loopback, private, link-local,
/// shared (carrier-grade NAT), documentation, benchmarking, multicast, reserved, unspecified and broadcast. An IPv6
/// address that carries an IPv4 one (mapped, NAT64, 6to4) is judged by the address it carries; Teredo and the
/// deprecated compatible form are refused altogether.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let special = match address.octets() {
        // This network; private; loopback; private.
        [0 | 10 | 127, ..] | [172, 16..=31, ..] | [192, 168, ..] => true,
        // Shared address space of carrier-grade NAT.
        [100, 64..=127, ..] => true,
        // Link-local, the metadata services of most clouds among them.
        [169, 254, ..] => true,
        // Protocol assignments, documentation, the deprecated 6to4 relay.
        [192, 0, 0 | 2, _] | [192, 88, 99, _] | [198, 51, 100, _] | [203, 0, 113, _] => true,
        // Benchmarking.
        [198, 18 | 19, ..] => true,
        // Multicast, reserved, broadcast.
        [224..=255, ..] => true,
        _ => false,
    };
    !special && address != AZURE_PLATFORM
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(mapped) = address.to_ipv4_mapped() {
        return is_public_v4(mapped);
    }
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match address.segments() {
        // NAT64 with the well-known prefix, which networks without IPv4 reach every IPv4 host through.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => is_public_v4(embedded(high, low)),
        // 6to4.
        [0x2002, high, low, ..] => is_public_v4(embedded(high, low)),
        // IETF protocol assignments: Teredo, benchmarking, ORCHID.
        [0x2001, 0x0000..=0x01ff, ..] => false,
        // Documentation.
        [0x2001, 0xdb8, ..] | [0x3fff, 0x0000..=0x0fff, ..] => false,
        // Global unicast; everything else is loopback, local, multicast or reserved.
        [0x2000..=0x3fff, ..] => true,
        _ => false,
    }
}

/// What the guard allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressPolicy {
    /// Also loopback addresses, over plain HTTP too; for partners in development.
    pub(crate) allow_loopback_http: bool,
}

impl AddressPolicy {
    /// Checks the address of an endpoint as far as that goes without resolving its name.
    pub(crate) fn endpoint(self, url: &str) -> Result<Uri, CallFailure> {
        let refused = |reason: &str| CallFailure::AddressRefused(reason.to_owned());
        if url.len() > URL_MAX_BYTES {
            return Err(refused("the URL is too long"));
        }
        let uri: Uri = url.parse().map_err(|_| refused("the URL is not well formed"))?;
        let authority = uri.authority().ok_or_else(|| refused("the URL names no host"))?;
        if authority.as_str().contains('@') {
            return Err(refused("the URL holds user information"));
        }
        let host = authority.host();
        let port = authority.as_str().strip_prefix(host).unwrap_or_default();
        if !port.is_empty() && !port.strip_prefix(':').is_some_and(is_port) {
            return Err(refused("the URL names no usable port"));
        }
        let literal: Option<IpAddr> = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
        let loopback = literal.map_or_else(|| is_loopback_name(host), |address| address.is_loopback());
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if self.allow_loopback_http && loopback => {}
            Some("http") => return Err(refused("plain HTTP is not allowed")),
            _ => return Err(refused("the scheme is not HTTPS")),
        }
        match literal {
            Some(address) if !self.permits(address) => Err(CallFailure::AddressRefused(format!("{address}"))),
            _ => Ok(uri),
        }
    }

    fn permits(self, address: IpAddr) -> bool {
        is_public(address) || (self.allow_loopback_http && address.is_loopback())
    }

    /// Whether `host` may be reached at `address`. The names of the own machine never stand for another one
    /// (RFC 6761), so that plain HTTP, which is allowed for them alone, cannot leave the machine.
    fn permits_for(self, host: &str, address: IpAddr) -> bool {
        self.permits(address) && (!is_loopback_name(host) || address.is_loopback())
    }
}

/// Whether a text is a number that a port can have. Zero is none.
fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok_and(|port| port != 0)
}

fn is_loopback_name(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    host == "localhost" || host.ends_with(".localhost")
}

/// Turns names into addresses. The gateway's own is [`SystemResolver`].
pub trait ResolveHost: Send + Sync + 'static {
    /// All addresses of a host.
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The operating system's resolver.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl ResolveHost for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect()) })
    }
}

/// What is said of every name that leads to no permitted address, whatever the reason: partners read it, and must not learn which
/// names there are inside, nor where they lead. The reason is in the log.
pub(crate) const NO_PUBLIC_ADDRESS: &str = "the name leads to no public address";

/// A name could not be resolved to any permitted address.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResolveError {
    /// It leads nowhere, or could not be looked up.
    #[error("{NO_PUBLIC_ADDRESS}")]
    NotFound,
    /// It leads to addresses that may not be called.
    #[error("{NO_PUBLIC_ADDRESS}")]
    Refused,
}

/// The resolver that the connector uses: hands out permitted addresses and no other.
#[derive(Clone)]
pub(crate) struct GuardedResolver {
    resolver: Arc<dyn ResolveHost>,
    policy: AddressPolicy,
}

impl GuardedResolver {
    pub(crate) fn new(resolver: Arc<dyn ResolveHost>, policy: AddressPolicy) -> Self {
        Self { resolver, policy }
    }

    async fn resolve(self, host: &str) -> Result<Vec<SocketAddr>, ResolveError> {
        let mut found = self.resolver.resolve(host).await.map_err(|error| {
            tracing::debug!(host, %error, "a partner's name could not be resolved");
            ResolveError::NotFound
        })?;
        found.truncate(ADDRESSES_MAX);
        let first = *found.first().ok_or(ResolveError::NotFound)?;
        found.retain(|address| self.policy.permits_for(host, *address));
        if found.is_empty() {
            tracing::warn!(host, address = %first, "a partner's name leads to an address that is not public");
            return Err(ResolveError::Refused);
        }
        // The connector fills the port in.
        Ok(found.into_iter().map(|address| SocketAddr::new(address, 0)).collect())
    }
}

impl Service<Name> for GuardedResolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = ResolveError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, ResolveError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ResolveError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let guarded = self.clone();
        Box::pin(async move { guarded.resolve(name.as_str()).await.map(Vec::into_iter) })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const STRICT: AddressPolicy = AddressPolicy { allow_loopback_http: false };
    const DEVELOPMENT: AddressPolicy = AddressPolicy { allow_loopback_http: true };

    #[test]
    fn public_and_special_addresses() {
        let public = [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.1",
            "169.253.1.1",
            "169.255.1.1",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.1",
            "192.167.1.1",
            "192.169.1.1",
            "198.17.1.1",
            "198.20.1.1",
            "203.0.112.1",
            "223.255.255.255",
            "168.63.129.15",
            "2606:4700:4700::1111",
            "2400:cb00::1",
            "2001:4860:4860::8888",
            "2001:200::1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
            "3fff:1000::1",
        ];
        for text in public {
            assert!(is_public(text.parse().expect(text)), "{text}");
        }
        let special = [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.0.170",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "168.63.129.16",
            "::",
            "::1",
            "::127.0.0.1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::10.0.0.1",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:0:808:808::1",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:1ff:ffff::1",
            "2001:db8::1",
            "2002:a00:1::1",
            "2002:7f00:1::1",
            "2002:c0a8:101::1",
            "3fff::1",
            "3fff:fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "ffff::1",
            "4000::1",
        ];
        for text in special {
            assert!(!is_public(text.parse().expect(text)), "{text}");
        }
    }

    #[test]
    fn endpoints() {
        let cases = [
            ("https://partner.example/mcp", true, true),
            ("https://partner.example:8443/mcp?x=1", true, true),
            ("https://partner.example:65535/mcp", true, true),
            ("https://partner.example:0/mcp", false, false),
            ("https://partner.example:65536/mcp", false, false),
            ("https://partner.example:99999/mcp", false, false),
            ("https://[2606:4700:4700::1111]:0/mcp", false, false),
            ("http://localhost:0/mcp", false, false),
            ("https://1.1.1.1/mcp", true, true),
            ("https://[2606:4700:4700::1111]/mcp", true, true),
            ("http://partner.example/mcp", false, false),
            ("http://1.1.1.1/mcp", false, false),
            ("http://127.0.0.1:8080/mcp", false, true),
            ("http://[::1]:8080/mcp", false, true),
            ("http://localhost:8080/mcp", false, true),
            ("http://LOCALHOST.:8080/mcp", false, true),
            ("https://127.0.0.1/mcp", false, true),
            ("https://[::ffff:127.0.0.1]/mcp", false, false),
            ("https://10.0.0.1/mcp", false, false),
            ("https://[fe80::1]/mcp", false, false),
            ("https://169.254.169.254/latest", false, false),
            ("https://user:password@partner.example/mcp", false, false),
            ("https://user@127.0.0.1/mcp", false, false),
            ("ftp://partner.example/mcp", false, false),
            ("//partner.example/mcp", false, false),
            ("/mcp", false, false),
            ("partner.example", false, false),
            ("", false, false),
            ("https:///mcp", false, false),
        ];
        for (url, strict, development) in cases {
            assert_eq!(STRICT.endpoint(url).is_ok(), strict, "strict: {url}");
            assert_eq!(DEVELOPMENT.endpoint(url).is_ok(), development, "development: {url}");
        }
        assert!(STRICT.endpoint(&format!("https://partner.example/{}", "x".repeat(URL_MAX_BYTES))).is_err());
    }

    /// Every name is these addresses. A port of this crate, so its fake is here.
    pub(crate) struct Fixed(pub(crate) &'static [&'static str]);

    impl ResolveHost for Fixed {
        fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
            let addresses = self.0.iter().map(|text| text.parse().expect(text)).collect();
            Box::pin(async move { Ok(addresses) })
        }
    }

    async fn resolved(policy: AddressPolicy, host: &str, addresses: &'static [&'static str]) -> Option<Vec<IpAddr>> {
        let resolver = GuardedResolver::new(Arc::new(Fixed(addresses)), policy);
        Some(resolver.resolve(host).await.ok()?.into_iter().map(|address| address.ip()).collect())
    }

    #[tokio::test]
    async fn names_are_judged_by_their_addresses() {
        let public: IpAddr = "1.1.1.1".parse().expect("an address");
        assert_eq!(resolved(STRICT, "a.example", &["10.0.0.1", "1.1.1.1", "::1"]).await, Some(vec![public]));
        assert_eq!(resolved(STRICT, "a.example", &["10.0.0.1"]).await, None);
        assert_eq!(resolved(STRICT, "a.example", &["127.0.0.1"]).await, None);
        assert_eq!(resolved(STRICT, "a.example", &[]).await, None);
        assert!(resolved(DEVELOPMENT, "a.example", &["127.0.0.1"]).await.is_some());
        assert_eq!(resolved(DEVELOPMENT, "a.example", &["10.0.0.1"]).await, None);
        // The own machine's name must not lead plain HTTP away from it.
        assert_eq!(resolved(DEVELOPMENT, "localhost", &["1.1.1.1"]).await, None);
    }
}
