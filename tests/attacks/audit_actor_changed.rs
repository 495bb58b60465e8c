//! Who did something is changed in the audit log, and all links are made anew.

use super::database::databases;

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_actor_is_found() {
    for database in databases().await {
        database.run("UPDATE audit_log SET role = 'admin', actor = 'somebody else' WHERE seq = 1;").await;
        let said = database.verify("audit", &[]).expect_err("it is found");
        assert!(said.contains("entry 1 or the one before it was changed"), "{said}");
        database.link_audit_anew().await;
        let said = database.verify("audit", &[]).expect_err("it is found");
        assert!(said.contains("has a link without a key"), "{said}");
        database.assert_found_by_gateway("audit").await;
    }
}
