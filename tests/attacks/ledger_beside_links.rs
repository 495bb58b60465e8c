//! Columns of the ledger that an entry does not use, and which its link does not cover, are changed: with them an order could be hidden,
//! and booked a second time.

use super::database::databases;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_beside_the_links_is_found() {
    for database in databases().await {
        database
            .run("UPDATE ledger SET reason = 'forged' WHERE number = 1; UPDATE ledger SET turn = 8 WHERE number = 2;")
            .await;
        let said = database.verify("ledger", &[]).expect_err("it is found");
        assert!(said.contains("OTHER_VALUES") && said.contains("WRONG_TURN"), "{said}");
        database.run("UPDATE ledger SET judge = 'no version' WHERE number = 3;").await;
        let said = database.verify("ledger", &[]).expect_err("it is found");
        assert!(said.contains("ENTRY_UNREADABLE"), "{said}");
        database.assert_found_by_gateway("ledger").await;
    }
}
