//! Both chains are passed for ones that an older gateway has written, which had no keys: changed, linked anew without a key, and the
//! record of where links under a key begin removed.

use super::database::databases;

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_does_not_pass_for_an_old_one() {
    for database in databases().await {
        let database = database.anchored().await;
        database.run("UPDATE audit_log SET actor = 'somebody else' WHERE seq = 1;").await;
        database.run("UPDATE ledger SET status = 'cancelled' WHERE number = 1;").await;
        database.link_audit_anew().await;
        database.link_ledger_anew().await;
        database.run("DELETE FROM chain_starts;").await;
        for chain in ["audit", "ledger"] {
            let said = database.verify(chain, &[]).expect_err("it is found");
            assert!(said.contains("the record of where links under a key begin is missing"), "{said}");
        }
        // A gateway that starts takes them for old ones, and says so; what was anchored before knows better.
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = folder.path().join("gateway.log");
        let database = database.serve_again(&log);
        let told = std::fs::read_to_string(database.log()).expect("the log is there");
        assert!(told.contains("links are under a key from this entry on"), "{told}");
        for chain in ["audit", "ledger"] {
            let said = database.verify(chain, &["--anchors", &log.display().to_string()]).expect_err("it is found");
            assert!(said.contains("is not the one that was anchored"), "{said}");
        }
    }
}
