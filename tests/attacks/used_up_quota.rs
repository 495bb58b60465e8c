//! An orchestrator asks without end, with one token and with many, for what its token opens or for what it does not, or a business
//! reports without end, and hopes that others are refused for it.

use crate::completion::{Reporter, ac_report, key_of, reporter_entry};
use crate::harness::{Gateway, GatewayOptions, ac_contract};

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

#[tokio::test(flavor = "multi_thread")]
async fn what_a_token_does_not_open_counts_as_what_it_opens() {
    let extra = format!("[quotas]\norchestrator_per_minute = {QUOTA}\naccount_per_minute = {QUOTA}\n");
    let gateway = Gateway::start(&GatewayOptions { extra, ..GatewayOptions::default() });
    let token = |role: &str, subject: &str| gateway.token(&["--role", role, "--subject", subject]);
    let account = "/api/v1/business/tier1/accounts/ptr_0123456789abcdef";
    for (role, subject, path) in [
        ("orchestrator", "greedy", "/api/v1/admin/contracts"),
        ("orchestrator", "greedy-2", account),
        ("partner", "ptr_greedy", "/api/v1/admin/contracts"),
        ("partner", "ptr_greedy2", account),
    ] {
        let greedy = token(role, subject);
        let mut statuses = Vec::new();
        for _ in 0..QUOTA + 2 {
            statuses.push(gateway.call("GET", path, Some(&greedy), None).await.status);
        }
        let expected = [vec![403; QUOTA], vec![429; 2]].concat();
        assert_eq!(statuses, expected, "{role} {path}");
        let own = gateway.call("GET", "/api/v1/intents", Some(&greedy), None).await;
        assert_eq!(own.status, 429, "{role} {path}: it is one quota: {}", own.body);
    }
    let modest = token("orchestrator", "modest");
    assert_eq!(gateway.call("GET", "/api/v1/intents", Some(&modest), None).await.status, 200, "another one is served");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_reports_without_end_costs_others_nothing() {
    let options = GatewayOptions {
        partners: ["greedy", "modest"].map(reporter_entry).to_vec(),
        contracts: vec![ac_contract()],
        extra: format!("[quotas]\nreports_per_minute = {QUOTA}\n"),
        ..GatewayOptions::default()
    };
    let gateway = Gateway::start(&options);
    let reporter = |partner: &str| Reporter::new(&gateway.server.url, partner, &key_of(partner));
    let greedy = reporter("greedy");
    let mut booked = 0;
    // A minute may begin while they are sent, and a second one cannot.
    for number in 0..=2 * QUOTA {
        let answer = greedy.report(&ac_report(&format!("BK-{number}"), "r-1")).await;
        match answer.status {
            200 => booked += 1,
            status => {
                assert_eq!((status, &answer.body["error"]["code"]), (429, &"RATE_LIMITED".into()), "{}", answer.body)
            }
        }
    }
    assert!((QUOTA..=2 * QUOTA).contains(&booked), "{booked} are booked");
    assert_eq!(reporter("modest").report(&ac_report("BK-1", "r-1")).await.status, 200, "another one is served");
}
