//! One file for each kind of input.

pub(crate) mod answer_scan;
pub(crate) mod completion_report;
pub(crate) mod component;
pub(crate) mod event_stream;
pub(crate) mod manifest;
pub(crate) mod oauth_answer;
pub(crate) mod oci_manifest;
pub(crate) mod reference;
pub(crate) mod report_signature;
pub(crate) mod search_payload;
pub(crate) mod signed_component;
pub(crate) mod yaml;
