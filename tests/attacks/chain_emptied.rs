//! The audit log or the ledger is emptied while no gateway runs, or before the next one has anchored anything: no entry is left whose link
//! could show it.

use super::database::databases;

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_that_was_emptied_is_found_before_anything_is_anchored_anew() {
    let cut = "was anchored and is not there";
    for (chain, table, said_first) in
        [("audit", "audit_log", "no entry is left, although there were some"), ("ledger", "ledger", cut)]
    {
        for database in databases().await {
            let database = database.anchored().await;
            database.run(&format!("DELETE FROM {table};")).await;
            let said = database.verify(chain, &[]).expect_err("the state folder has the anchors of before");
            assert!(said.contains(said_first), "{said}");
            // A gateway that starts reads them before it notes how far the chain is now.
            let database = database.assert_found_by_gateway(chain).await;
            assert!(database.verify(chain, &[]).is_err(), "what it noted does not cover it up");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_audit_log_that_was_emptied_is_found_without_any_anchor() {
    for database in databases().await {
        let database = database.anchored().await;
        database.remove_own_anchors();
        database.run("DELETE FROM audit_log;").await;
        let said = database.verify("audit", &[]).expect_err("the identity of the store was noted in it");
        assert!(said.contains("no entry is left, although there were some"), "{said}");
    }
}
