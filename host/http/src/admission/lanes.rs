//! Which requests are traffic, and which are of those who watch and run the gateway: what traffic must not shut out.
//!
//! A path alone tells, for this is decided before a request is routed. That each route stands where it belongs is tested against
//! the OpenAPI document.

use intent_gateway_domain::admission::Patience;

/// Asked by load balancers and operators, without a token.
const WATCHED: [&str; 5] = ["/health", "/live", "/ready", "/metrics", "/openapi.json"];
/// Where the platform team's routes and pages begin.
const TEAM: [&str; 3] = ["/api/v1/admin/", "/api/v1/mcp-admin/", "/console"];
/// Where completion reports go. A partner's server sends each until it is taken.
const REPORTS: &str = "/api/v1/cpc/";

/// One of the queues before the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    Traffic,
    /// Health checks and the platform team.
    Reserved,
}

impl Lane {
    pub(crate) fn of(path: &str) -> Self {
        let is_reserved = WATCHED.contains(&path) || TEAM.iter().any(|start| path.starts_with(start));
        if is_reserved { Self::Reserved } else { Self::Traffic }
    }

    /// As a label says it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Traffic => "traffic",
            Self::Reserved => "reserved",
        }
    }
}

pub(super) fn patience(path: &str) -> Patience {
    if path.starts_with(REPORTS) { Patience::Long } else { Patience::Short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_of_the_platform_team_is_reserved_and_no_other() {
        let team = crate::admin::routes()
            .merge(crate::streams::team_routes())
            .merge(crate::metrics::routes())
            .merge(crate::traffic::team_routes())
            .merge(crate::platform::routes());
        let team = team.merge(crate::second_person::routes()).split_for_parts().1;
        assert!(team.paths.paths.len() > 30);
        assert!(team.paths.paths.keys().all(|path| Lane::of(path) == Lane::Reserved), "{:?}", team.paths.paths.keys());
        let watched = crate::ops::routes().split_for_parts().1;
        assert!(
            watched.paths.paths.keys().all(|path| Lane::of(path) == Lane::Reserved),
            "{:?}",
            watched.paths.paths.keys()
        );

        let traffic = crate::orchestrator::routes()
            .merge(crate::orchestrator::catalogue_routes())
            .merge(crate::tools::routes())
            .merge(crate::orders::routes())
            .merge(crate::streams::routes())
            .merge(crate::linking::routes())
            .merge(crate::linking::browser_routes())
            .merge(crate::user_data::routes())
            .merge(crate::business::open_routes())
            .merge(crate::business::routes())
            .merge(crate::traffic::business_routes())
            .merge(crate::reports::routes());
        let traffic = traffic.split_for_parts().1;
        assert!(
            traffic.paths.paths.keys().all(|path| Lane::of(path) == Lane::Traffic),
            "{:?}",
            traffic.paths.paths.keys()
        );
        let reports = crate::reports::routes().split_for_parts().1;
        assert!(reports.paths.paths.keys().all(|path| patience(path) == Patience::Long));
    }

    #[test]
    fn what_only_looks_like_a_reserved_path_is_traffic() {
        for path in ["/", "/ready/", "/healthy", "/api/v1/administer", "/api/v1/intents/x/search", "//api/v1/admin/x"] {
            assert_eq!(Lane::of(path), Lane::Traffic, "{path}");
        }
        for path in ["/ready", "/health", "/api/v1/admin/metrics", "/api/v1/mcp-admin/ptr_1/probe"] {
            assert_eq!(Lane::of(path), Lane::Reserved, "{path}");
        }
    }
}
