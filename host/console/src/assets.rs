//! What pages load: style sheets, scripts and an icon. Each address names the content behind it, so that a browser may keep it for good.

use std::sync::OnceLock;

use axum::body::Body;
use axum::extract::Path;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, StatusCode, header};
use intent_gateway_domain::digest::Digest;
use intent_gateway_http::inside::Page;

/// Where they are.
pub(crate) const ROUTE: &str = "/console/assets/{name}";
const SCRIPT_TYPE: &str = "text/javascript; charset=utf-8";
/// Characters of a digest in a name.
const NAME_CHARS: usize = 16;

pub(crate) static STYLE: Asset =
    Asset::new("console", "css", "text/css; charset=utf-8", include_str!("../assets/console.css"));
/// What makes a page move: htmx, what it reads streams of events with, and the few lines of this gateway's own. One file, so that all of it
/// is there when htmx begins.
pub(crate) static SCRIPT: Asset = Asset::new(
    "console",
    "js",
    SCRIPT_TYPE,
    concat!(
        include_str!("../assets/vendor/htmx/htmx.min.js"),
        "\n",
        include_str!("../assets/vendor/htmx/hx-sse.min.js"),
        "\n",
        include_str!("../assets/console.js")
    ),
);
/// Draws plots. Its licence wants to be told with it.
pub(crate) static PLOT_SCRIPT: Asset = Asset::new(
    "plot",
    "js",
    SCRIPT_TYPE,
    concat!(
        "/*\n",
        include_str!("../assets/vendor/uplot/LICENSE"),
        "\n*/\n",
        include_str!("../assets/vendor/uplot/uPlot.iife.min.js")
    ),
);
pub(crate) static PLOT_STYLE: Asset = Asset::new(
    "plot",
    "css",
    "text/css; charset=utf-8",
    concat!(
        "/*\n",
        include_str!("../assets/vendor/uplot/LICENSE"),
        "\n*/\n",
        include_str!("../assets/vendor/uplot/uPlot.min.css")
    ),
);
pub(crate) static ICON: Asset = Asset::new("icon", "svg", "image/svg+xml", include_str!("../assets/icon.svg"));

/// A file that is part of the program.
pub(crate) struct Asset {
    stem: &'static str,
    ending: &'static str,
    media_type: &'static str,
    content: &'static str,
    address: OnceLock<String>,
}

impl Asset {
    const fn new(stem: &'static str, ending: &'static str, media_type: &'static str, content: &'static str) -> Self {
        Self { stem, ending, media_type, content, address: OnceLock::new() }
    }

    pub(crate) fn address(&self) -> &str {
        self.address.get_or_init(|| {
            let digest = Digest::of(self.content.as_bytes()).to_string();
            let digest = digest.get(..NAME_CHARS).unwrap_or(&digest);
            ROUTE.replace("{name}", &format!("{}-{digest}.{}", self.stem, self.ending))
        })
    }

    fn response(&self) -> Response {
        let mut response = Response::new(Body::from(self.content));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.media_type));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
        response
    }
}

/// One of them. There is nothing private in any.
pub(crate) async fn asset(Path(name): Path<String>) -> Response {
    let wanted = ROUTE.replace("{name}", &name);
    [&STYLE, &SCRIPT, &PLOT_SCRIPT, &PLOT_STYLE, &ICON].into_iter().find(|asset| asset.address() == wanted).map_or_else(
        || {
            let mut response = StatusCode::NOT_FOUND.into_response();
            response.extensions_mut().insert(Page);
            response
        },
        Asset::response,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCES: &str = include_str!("../assets/vendor/SOURCES");

    /// What others have written is here as they gave it out: `SOURCES` says where from, and with which digest.
    #[test]
    fn what_others_wrote_is_as_they_gave_it_out() {
        let files = [
            ("htmx/LICENSE", include_str!("../assets/vendor/htmx/LICENSE")),
            ("htmx/htmx.min.js", include_str!("../assets/vendor/htmx/htmx.min.js")),
            ("htmx/hx-sse.min.js", include_str!("../assets/vendor/htmx/hx-sse.min.js")),
            ("uplot/LICENSE", include_str!("../assets/vendor/uplot/LICENSE")),
            ("uplot/uPlot.iife.min.js", include_str!("../assets/vendor/uplot/uPlot.iife.min.js")),
            ("uplot/uPlot.min.css", include_str!("../assets/vendor/uplot/uPlot.min.css")),
        ];
        let listed: Vec<_> = SOURCES
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .map(|line| line.split_once("  ").expect("a digest and a name"))
            .collect();
        let own: Vec<_> = files.map(|(name, text)| (Digest::of(text.as_bytes()).to_string(), name)).into();
        let own: Vec<_> = own.iter().map(|(digest, name)| (digest.as_str(), *name)).collect();
        assert_eq!(listed, own);
    }

    #[test]
    fn an_address_names_its_content() {
        let assets = [&STYLE, &SCRIPT, &PLOT_SCRIPT, &PLOT_STYLE, &ICON];
        let mut addresses: Vec<_> = assets.iter().map(|asset| asset.address()).collect();
        addresses.sort_unstable();
        addresses.dedup();
        assert_eq!(addresses.len(), assets.len());
        assert!(STYLE.address().starts_with("/console/assets/console-") && STYLE.address().ends_with(".css"));
    }
}
