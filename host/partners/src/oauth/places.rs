//! Where an authorization server and a protected resource describe themselves, and whether a resource covers an address.
//!
//! Not here: any request.

use url::Url;

/// Metadata of a protected resource (RFC 9728, 3).
const RESOURCE: &str = "oauth-protected-resource";
/// Metadata of an authorization server (RFC 8414, 3).
const SERVER: &str = "oauth-authorization-server";
/// The same by OpenID Connect Discovery 1.0, 4.
const OPENID: &str = "openid-configuration";

/// Where the metadata of a resource is looked for whose challenge names no place: with the path of its address, then at
/// the root.
pub(super) fn of_resource(endpoint: &Url) -> Vec<Url> {
    distinct(vec![insert_well_known(endpoint, RESOURCE), root(endpoint, RESOURCE)])
}

/// Where the metadata of an issuer is looked for. OpenID's place was behind the issuer's path before it was in front of it
/// (RFC 8414, 5).
pub(super) fn of_issuer(issuer: &Url) -> Vec<Url> {
    let mut appended = issuer.clone();
    appended.set_path(&format!("{}/.well-known/{OPENID}", path(issuer)));
    distinct(vec![insert_well_known(issuer, SERVER), insert_well_known(issuer, OPENID), appended])
}

/// Scheme, host and port of an address, and nothing behind them.
pub(super) fn origin(url: &Url) -> Url {
    let mut origin = url.clone();
    origin.set_path("");
    origin.set_query(None);
    origin.set_fragment(None);
    origin
}

/// Whether what is said of the resource holds for the address: same origin, and a path that begins with the resource's,
/// segment by segment (MCP, Authorization, Canonical Server URI).
pub(super) fn covers(resource: &Url, endpoint: &Url) -> bool {
    let inside =
        path(endpoint).strip_prefix(path(resource)).is_some_and(|rest| matches!(rest.as_bytes(), [] | [b'/', ..]));
    let same_query = resource.query().is_none_or(|query| endpoint.query() == Some(query));
    resource.origin() == endpoint.origin() && inside && same_query && resource.fragment().is_none()
}

/// The path without slashes at its end.
fn path(url: &Url) -> &str {
    url.path().trim_end_matches('/')
}

/// The well-known place between host and path.
fn insert_well_known(url: &Url, name: &str) -> Url {
    let mut place = url.clone();
    place.set_path(&format!("/.well-known/{name}{}", path(url)));
    place.set_fragment(None);
    place
}

/// The well-known place of the host.
fn root(url: &Url, name: &str) -> Url {
    let mut place = origin(url);
    place.set_path(&format!("/.well-known/{name}"));
    place
}

fn distinct(mut places: Vec<Url>) -> Vec<Url> {
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect(text)
    }

    fn texts(places: Vec<Url>) -> Vec<String> {
        places.into_iter().map(String::from).collect()
    }

    #[test]
    fn a_resource_describes_itself_at_its_path_or_at_the_root() {
        let places = texts(of_resource(&url("https://p.example:8443/shop/mcp/?x=1#y")));
        let expected = [
            "https://p.example:8443/.well-known/oauth-protected-resource/shop/mcp?x=1",
            "https://p.example:8443/.well-known/oauth-protected-resource",
        ];
        assert_eq!(places, expected);
        let places = texts(of_resource(&url("https://p.example/")));
        assert_eq!(places, ["https://p.example/.well-known/oauth-protected-resource"]);
    }

    #[test]
    fn an_issuer_describes_itself_in_three_places() {
        let places = texts(of_issuer(&url("https://as.example/tenant/1")));
        let expected = [
            "https://as.example/.well-known/oauth-authorization-server/tenant/1",
            "https://as.example/.well-known/openid-configuration/tenant/1",
            "https://as.example/tenant/1/.well-known/openid-configuration",
        ];
        assert_eq!(places, expected);
        let places = texts(of_issuer(&url("https://as.example")));
        let expected = [
            "https://as.example/.well-known/oauth-authorization-server",
            "https://as.example/.well-known/openid-configuration",
        ];
        assert_eq!(places, expected);
    }

    #[test]
    fn a_resource_covers_what_is_inside_it() {
        let endpoint = "https://p.example/shop/mcp";
        let covering = [
            "https://p.example/shop/mcp",
            "https://p.example/shop/mcp/",
            "https://P.example:443/shop",
            "https://p.example/",
            "https://p.example",
            "https://p.example/x/../shop",
        ];
        for resource in covering {
            assert!(covers(&url(resource), &url(endpoint)), "{resource}");
        }
        let elsewhere = [
            "https://evil.example/shop/mcp",
            "https://p.example.evil.example/shop/mcp",
            "http://p.example/shop/mcp",
            "https://p.example:8443/shop/mcp",
            "https://p.example/sho",
            "https://p.example/shop/mcp2",
            "https://p.example/shop/mcp/2",
            "https://p.example/shop/mcp?tenant=1",
            "https://p.example/shop/mcp#x",
            "data:shop",
        ];
        for resource in elsewhere {
            assert!(!covers(&url(resource), &url(endpoint)), "{resource}");
        }
        assert!(covers(&url("https://p.example/mcp?a=1"), &url("https://p.example/mcp?a=1")));
        assert!(covers(&url("https://p.example/mcp"), &url("https://p.example/mcp?a=1")));
    }
}
