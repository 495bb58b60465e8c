//! What every completion report says; each contract adds members of its own, and reads the report itself.

use utoipa::ToSchema;

/// A completion report: what every intent's has. Each contract adds members of its own.
#[derive(ToSchema)]
pub struct CompletionReport {
    /// The intent that the order was made under.
    #[schema(example = "auto.book_ac_service")]
    pub intent: String,
    /// The partner's identifier of the order, booking or policy.
    #[schema(min_length = 1, max_length = 200)]
    pub external_id: String,
    /// The request that the order came from.
    #[schema(min_length = 1, max_length = 200)]
    pub request_id: String,
    /// Net supplier revenue in INR, with at most two decimals; the base of the commission.
    #[schema(minimum = 0)]
    pub amount_inr: f64,
    /// Tax.
    #[schema(minimum = 0)]
    pub gst_inr: f64,
    /// Tips collected for staff.
    #[schema(minimum = 0)]
    pub tips_inr: f64,
    /// Fees of others that the partner does not keep.
    #[schema(minimum = 0)]
    pub pass_through_inr: f64,
    /// When the order closed, with an offset.
    #[schema(format = DateTime, example = "2026-05-04T10:00:00+05:30")]
    pub closed_at: String,
    /// One of the statuses that the intent's contract lists.
    #[schema(min_length = 1, max_length = 64, example = "completed")]
    pub status: String,
}
