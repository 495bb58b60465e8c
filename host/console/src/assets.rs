//! What pages load: a style sheet and an icon. Each address names the content behind it, so that a browser may keep it for good.

use std::sync::OnceLock;

use axum::body::Body;
use axum::extract::Path;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, StatusCode, header};
use intent_gateway_domain::digest::Digest;
use intent_gateway_http::inside::Page;

/// Where they are.
pub(crate) const ROUTE: &str = "/console/assets/{name}";
/// Characters of a digest in a name.
const NAME_CHARS: usize = 16;

pub(crate) static STYLE: Asset =
    Asset::new("console", "css", "text/css; charset=utf-8", include_str!("../assets/console.css"));
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
    [&STYLE, &ICON].into_iter().find(|asset| asset.address() == wanted).map_or_else(
        || {
            let mut response = StatusCode::NOT_FOUND.into_response();
            response.extensions_mut().insert(Page);
            response
        },
        Asset::response,
    )
}
