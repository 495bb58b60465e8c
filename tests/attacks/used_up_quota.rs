//! An orchestrator asks without end, with one token and with many, and hopes that others are refused for it.

use crate::harness::{Gateway, GatewayOptions};

/// Requests a minute of an orchestrator.
const QUOTA: usize = 5;

#[tokio::test(flavor = "multi_thread")]
async fn one_that_uses_up_its_quota_costs_others_nothing() {
    let extra = format!("[quotas]\norchestrator_per_minute = {QUOTA}\n");
    let gateway = Gateway::start(&GatewayOptions { extra, ..GatewayOptions::default() });
    let token = |subject: &str| gateway.token(&["--role", "orchestrator", "--subject", subject]);
    let ask = async |token: &str| {
        let request = crate::harness::client().get(format!("{}/api/v1/intents", gateway.server.url)).bearer_auth(token);
        let response = request.send().await.expect("the gateway answers");
        let header = |name: &str| response.headers().get(name).map(|value| value.to_str().expect("text").to_owned());
        (response.status().as_u16(), header("ratelimit"), header("retry-after"), header("ratelimit-policy"))
    };
    let greedy = [token("greedy"), token("greedy")];
    for number in 0..QUOTA {
        let (status, limit, _, policy) = ask(&greedy[number % 2]).await;
        assert_eq!((status, policy.as_deref()), (200, Some("\"orchestrator-minute\";q=5;w=60")));
        let expected = format!("\"orchestrator-minute\";r={};t=", QUOTA - 1 - number);
        assert!(limit.as_ref().is_some_and(|limit| limit.starts_with(&expected)), "{limit:?}");
    }
    for token in [&greedy[0], &greedy[1], &token("greedy")] {
        let (status, limit, retry_after, _) = ask(token).await;
        assert_eq!(status, 429, "another token is no other orchestrator");
        assert!(limit.is_some_and(|limit| limit.starts_with("\"orchestrator-minute\";r=0;t=")));
        let seconds: u64 = retry_after.expect("it says when").parse().expect("a number");
        assert!((1..=60).contains(&seconds), "{seconds}");
    }
    assert_eq!(ask(&token("modest")).await.0, 200, "another one is served");
    let (status, limit, ..) = ask(gateway.admin_token()).await;
    assert_eq!((status, limit), (200, None), "so is the platform team, which has no quota");
}
