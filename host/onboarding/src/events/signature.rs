//! How an event is signed, as Standard Webhooks has it: HMAC-SHA256 over `<id>.<timestamp>.<body>` under the bytes that the secret
//! stands for, one signature for each secret that is valid.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::secret::Secret;

/// What stands before a secret's base64.
pub const SECRET_PREFIX: &str = "whsec_";

/// A secret as the partner is shown it.
pub(crate) fn write_secret(bytes: &[u8]) -> Secret {
    Secret::new(format!("{SECRET_PREFIX}{}", STANDARD.encode(bytes)))
}

/// The value of `webhook-signature`, and the seconds of `webhook-timestamp`. Secrets that are not well-formed sign nothing.
pub(crate) fn sign(id: &str, now: Timestamp, body: &str, secrets: &[Secret]) -> (String, u64) {
    let seconds = now.as_ms() / 1_000;
    let signed = format!("{id}.{seconds}.{body}");
    let one = |secret: &Secret| {
        let key = STANDARD.decode(secret.expose().strip_prefix(SECRET_PREFIX)?).ok()?;
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).ok()?;
        mac.update(signed.as_bytes());
        Some(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
    };
    (secrets.iter().filter_map(one).collect::<Vec<_>>().join(" "), seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_specification_s_own_example_comes_out() {
        let secret = Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let at = Timestamp::from_ms(1_614_265_330_999);
        let (signature, seconds) = sign("msg_p5jXN8AQM9LWM0D4loKWxJek", at, r#"{"test": 2432232314}"#, &[secret]);
        assert_eq!(seconds, 1_614_265_330);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn each_valid_secret_signs_and_a_broken_one_does_not() {
        let secrets = [write_secret(b"one"), Secret::new("whsec_!"), write_secret(b"two")];
        let (signature, _) = sign("evt_1", Timestamp::from_ms(0), "{}", &secrets);
        let parts: Vec<_> = signature.split(' ').collect();
        assert_eq!(parts.len(), 2, "{signature}");
        assert_ne!(parts[0], parts[1]);
    }
}
