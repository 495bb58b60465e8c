//! Why this partner says no: the intent's error codes and their JSON-RPC form.
//!
//! Transport trouble is not here; the MCP library answers for that.

use rmcp::model::{ErrorCode, ErrorData};
use serde_json::{Map, Value};

/// The codes that this partner answers with, from the error table of `auto.book_ac_service` (spec 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlatformCode {
    InvalidRequest,
    InvalidAuth,
    InternalError,
    IdempotencyViolation,
    SlotGone,
    CompressorWorkRequiresWorkshop,
    DoorstepUnavailableAtLocation,
    RefrigerantUnavailable,
    VehicleAcIncompatible,
}

impl PlatformCode {
    /// The code as it stands in `data.platform_error_code`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "INVALID_REQUEST",
            Self::InvalidAuth => "INVALID_AUTH",
            Self::InternalError => "INTERNAL_ERROR",
            Self::IdempotencyViolation => "IDEMPOTENCY_VIOLATION",
            Self::SlotGone => "SLOT_GONE",
            Self::CompressorWorkRequiresWorkshop => "COMPRESSOR_WORK_REQUIRES_WORKSHOP",
            Self::DoorstepUnavailableAtLocation => "DOORSTEP_UNAVAILABLE_AT_LOCATION",
            Self::RefrigerantUnavailable => "REFRIGERANT_UNAVAILABLE",
            Self::VehicleAcIncompatible => "VEHICLE_AC_INCOMPATIBLE",
        }
    }

    /// The JSON-RPC number. Codes that spec 1 gives no number share one of the server range;
    /// the platform reads `data.platform_error_code`.
    pub(crate) fn json_rpc_number(self) -> i32 {
        match self {
            Self::InvalidRequest => -32602,
            Self::InternalError => -32603,
            Self::InvalidAuth => -32000,
            Self::IdempotencyViolation
            | Self::SlotGone
            | Self::CompressorWorkRequiresWorkshop
            | Self::DoorstepUnavailableAtLocation
            | Self::RefrigerantUnavailable
            | Self::VehicleAcIncompatible => -32003,
        }
    }
}

/// One refused call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", .code.as_str())]
pub(crate) struct Refusal {
    pub(crate) code: PlatformCode,
    /// The argument at fault, as a dotted path, for `data.platform_field`.
    pub(crate) field: Option<String>,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn new(code: PlatformCode, message: impl Into<String>) -> Self {
        Self { code, field: None, message: message.into() }
    }

    /// A malformed argument.
    pub(crate) fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: PlatformCode::InvalidRequest, field: Some(field.into()), message: message.into() }
    }

    /// The `data` member of the JSON-RPC error.
    pub(crate) fn data(&self) -> Value {
        let mut data = Map::new();
        data.insert("platform_error_code".into(), self.code.as_str().into());
        if let Some(field) = &self.field {
            data.insert("platform_field".into(), field.as_str().into());
        }
        Value::Object(data)
    }
}

impl From<Refusal> for ErrorData {
    fn from(refusal: Refusal) -> Self {
        let data = refusal.data();
        ErrorData::new(ErrorCode(refusal.code.json_rpc_number()), refusal.message, Some(data))
    }
}
