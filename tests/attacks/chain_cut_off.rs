//! The last entries of the audit log and of the ledger are cut off. What is left is as it was written.

use super::database::databases;

#[tokio::test(flavor = "multi_thread")]
async fn an_end_that_was_cut_off_is_found_by_what_was_anchored() {
    for database in databases().await {
        let database = database.anchored().await;
        let (audit, ledger) = (database.count("audit_log").await, database.count("ledger").await);
        assert!(audit > 1 && ledger > 1, "{audit} {ledger}");
        let cut = "DELETE FROM audit_log WHERE seq = (SELECT MAX(seq) FROM audit_log); \
                   DELETE FROM ledger WHERE number = (SELECT MAX(number) FROM ledger);";
        database.run(cut).await;
        for (chain, last) in [("audit", audit), ("ledger", ledger)] {
            let said = database.verify(chain, &[]).expect_err("the state folder has anchors");
            assert!(said.contains(&format!("entry {last} was anchored and is not there")), "{said}");
        }
        // Whoever can write there as well leaves the log to tell.
        database.remove_own_anchors();
        for (chain, last) in [("audit", audit), ("ledger", ledger)] {
            assert_eq!(database.verify(chain, &[]), Ok(()), "the entries alone do not show it");
            let said = database.verify(chain, &["--anchors", &database.log()]).expect_err("it is found");
            assert!(said.contains(&format!("entry {last} was anchored and is not there")), "{said}");
        }
    }
}
