//! What a store that fails means to a caller, as HTTP says it. Every route that meets one says it through here.

use intent_gateway_domain::error::chain;
use intent_gateway_domain::store::{StoreError, StoreTrouble};

use super::{Code, Refusal};

impl From<StoreTrouble> for Refusal {
    fn from(trouble: StoreTrouble) -> Self {
        Self::new(match trouble {
            StoreTrouble::Unavailable => Code::StoreUnavailable,
            StoreTrouble::Busy => Code::Overloaded,
            StoreTrouble::Defect => Code::InternalError,
        })
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::from(error.trouble()).internal(chain(&error))
    }
}

#[cfg(test)]
mod tests {
    use http::{StatusCode, header};
    use intent_gateway_domain::store::Kind;

    use super::*;

    #[test]
    fn a_store_that_is_down_is_told_from_one_that_is_busy_and_from_a_defect() {
        let refused = |error: StoreError| {
            let refused = Refusal::from(error);
            let code = refused.code().to_owned();
            let answer = refused.render("request-1");
            (answer.status(), code, answer.headers().contains_key(header::RETRY_AFTER))
        };
        let down = refused(StoreError::Unavailable("the disk is full".to_owned(), None));
        assert_eq!(down, (StatusCode::SERVICE_UNAVAILABLE, "STORE_UNAVAILABLE".to_owned(), true));
        let busy = refused(StoreError::Busy);
        assert_eq!(busy, (StatusCode::SERVICE_UNAVAILABLE, "OVERLOADED".to_owned(), true));
        for defect in [StoreError::Engine("no such column".to_owned(), None), StoreError::Conflict(Kind::Links)] {
            let defect = refused(defect);
            assert_eq!(defect, (StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR".to_owned(), false));
        }
    }
}
