//! An entry of the audit log is removed, those after it move up, and all links are made anew.

use super::database::databases;

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_entry_is_found() {
    for database in databases().await {
        database.run("DELETE FROM audit_log WHERE seq = 1; UPDATE audit_log SET seq = seq - 1;").await;
        database.link_audit_anew().await;
        let said = database.verify("audit", &[]).expect_err("it is found");
        assert!(said.contains("has a link without a key"), "{said}");
    }
}
