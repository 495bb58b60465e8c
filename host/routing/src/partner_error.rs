//! What is recorded against a partner whose error names no code that it may use (spec 1, Errors, rule 1). Callers are told
//! `INTERNAL_ERROR`; the partner and the platform team see here what it sent.

use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::error::CallFailure;

/// The partner named a code that is neither in the intent's error table nor one of the platform's own.
const UNKNOWN_CODE: &str = "UNKNOWN_ERROR_CODE";
/// The partner's error is text alone.
const NO_CODE: &str = "ERROR_WITHOUT_CODE";
/// What is wrong with an error without a code, and where the code is looked for.
const CODE_LACKING: &str = "the error has no `platform_error_code`, in `structuredContent`, in the text as JSON, or in `data` of a \
                       JSON-RPC error; a text alone tells callers nothing";
/// Where the code belongs in an error of JSON-RPC.
const CODE_AT: &str = "/error/data/platform_error_code";

/// The note about an error without a known code; none for any other failure.
pub(crate) fn note(failure: &CallFailure) -> Option<Violation> {
    let CallFailure::UnknownCode { sent, message } = failure else { return None };
    let (code, problem) = match sent {
        Some(sent) => {
            (UNKNOWN_CODE, format!("`{sent}` is neither in the intent's error table nor one of the platform's codes"))
        }
        None => (NO_CODE, CODE_LACKING.to_owned()),
    };
    let message = format!("{problem}; callers were told INTERNAL_ERROR. The text was: {message}");
    Some(Violation { pointer: CODE_AT.to_owned(), code: code.to_owned(), message })
}
