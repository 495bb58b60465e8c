//! What will change for the partner.

use askama::Template;
use axum::response::Response;
use intent_gateway_api::name;
use intent_gateway_api::notice::PartnerNotices;

use crate::failure::Failed;
use crate::frame::{Frame, show};
use crate::partner::own;
use crate::view::{Moment, notice_chip};
use crate::visitor::Business;

/// In the navigation.
pub(super) const ADDRESS: &str = "/dashboard/notices";

#[derive(Template)]
#[template(path = "partner/notices.html")]
struct NoticesPage {
    frame: Frame,
    list: PartnerNotices,
}

impl NoticesPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        match self.list.notices.iter().filter(|notice| name(&notice.state) == "upcoming").count() {
            0 => "Nothing will change for you.".to_owned(),
            1 => "One thing will change.".to_owned(),
            several => format!("{several} things will change."),
        }
    }
}

pub(super) async fn show_notices(Business(visitor): Business) -> Result<Response, Failed> {
    let address = format!("{}/notices", own(&visitor, "accounts"));
    let list = visitor.api.get::<PartnerNotices>(&address).await?;
    Ok(show(&NoticesPage { frame: visitor.frame(ADDRESS, "Notices").json(address), list }))
}
