//! What is recorded against a partner that answers with an error (spec 1, Errors, rule 1). Callers are told the code alone, with
//! the words of the intent's error table or the platform's own; what the partner wrote, it and the platform team see here.

use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::error::CallFailure;

/// The partner named a code that is neither in the intent's error table nor one of the platform's own. Callers are told
/// `INTERNAL_ERROR`.
const UNKNOWN_CODE: &str = "UNKNOWN_ERROR_CODE";
/// The partner's error is text alone. Callers are told `INTERNAL_ERROR`.
const NO_CODE: &str = "ERROR_WITHOUT_CODE";
/// The partner answered with a code that it may use, and with words of its own.
const TEXT_WITHHELD: &str = "ERROR_TEXT_WITHHELD";
/// The partner asked to be called less often (spec 1, Errors, rule 4). It is left alone meanwhile, by what each gateway knows; the
/// platform team is to be told.
const ASKS_FOR_LESS: &str = "PARTNER_RATE_LIMITED";
/// What is wrong with an error without a code, and where the code is looked for.
const CODE_LACKING: &str = "the error has no `platform_error_code`, in `structuredContent`, in the text as JSON, or in `data` of a \
                       JSON-RPC error; a text alone tells callers nothing";
/// Where the code belongs in an error of JSON-RPC.
const CODE_AT: &str = "/error/data/platform_error_code";

/// The note about a partner's error, with its text; none for any other failure, and for an error with a known code and no text.
pub(crate) fn note(failure: &CallFailure) -> Option<Violation> {
    let (code, said, text) = match failure {
        CallFailure::RateLimited { retry_after_ms } => {
            let when = match retry_after_ms {
                Some(ms) => format!("in {} s", ms.div_ceil(1_000)),
                None => "later, without saying when".to_owned(),
            };
            let message =
                format!("the partner asked to be called again {when}; it is called less often until it answers");
            return Some(Violation { pointer: String::new(), code: ASKS_FOR_LESS.to_owned(), message });
        }
        CallFailure::Platform { message, .. } if message.is_empty() => return None,
        CallFailure::Platform { code, message, .. } => (
            TEXT_WITHHELD,
            format!("callers were told {code}, in the words of its error table or the platform's"),
            message,
        ),
        CallFailure::UnknownCode { sent: Some(sent), message } => {
            let problem = format!("`{sent}` is neither in the intent's error table nor one of the platform's codes");
            (UNKNOWN_CODE, format!("{problem}; callers were told INTERNAL_ERROR"), message)
        }
        CallFailure::UnknownCode { sent: None, message } => {
            (NO_CODE, format!("{CODE_LACKING}; callers were told INTERNAL_ERROR"), message)
        }
        _ => return None,
    };
    let message = format!("{said}. The text was: {text}");
    Some(Violation { pointer: CODE_AT.to_owned(), code: code.to_owned(), message })
}
