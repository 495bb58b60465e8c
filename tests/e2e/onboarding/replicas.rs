//! Several gateways on one PostgreSQL, and a gateway that is killed in the middle of its work.

use serde_json::json;

use super::{Platform, manifest};

