//! Every amount of the ledger is divided by ten, so that all invariants hold, and all links are made anew.

use super::database::databases;

#[tokio::test(flavor = "multi_thread")]
async fn a_divided_ledger_is_found() {
    for database in databases().await {
        // The commission is rounded as the gateway does it, half up.
        let divide = "UPDATE ledger SET amount = amount / 10, receivable = (amount / 10 * rate + 5000) / 10000, \
                      revenue = -((amount / 10 * rate + 5000) / 10000) WHERE kind = 1;";
        database.run(divide).await;
        database.link_ledger_anew().await;
        let said = database.verify("ledger", &[]).expect_err("it is found");
        assert!(said.contains("LINK_WITHOUT_KEY"), "{said}");
        database.assert_found_by_gateway("ledger").await;
    }
}
