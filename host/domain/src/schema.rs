//! What the document of the API says of the domain's types beyond their own derives.

use std::borrow::Cow;

use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::contract::Axis;

/// [`Axis`] under the name by which the document has it where declared signals are compared with delivered results.
pub struct AxisName;

impl PartialSchema for AxisName {
    fn schema() -> RefOr<Schema> {
        let mut schema = Axis::schema();
        if let RefOr::T(Schema::Object(axis)) = &mut schema {
            axis.description = Some("What a signal is about.".to_owned());
        }
        schema
    }
}

impl ToSchema for AxisName {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("AxisName")
    }
}
