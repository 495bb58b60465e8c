//! A user's rankings: found by the user's mark, and erased so that no file has a trace of them.

use std::path::{Path, PathBuf};

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::findings::FindingQuery;
use intent_gateway_domain::order::{Opened, Order, OrderId, OrderedFrom, Owner};
use intent_gateway_domain::ports::{Evidence as _, Journal as _};
use intent_gateway_domain::receipt::{KeptReceipt, Receipt};
use intent_gateway_domain::store::{Change, Store as _, Versioned, load};
use intent_gateway_domain::user::User;
use intent_gateway_domain::user_data::{
    ERASED_AT_ONCE_MAX, ErasedEvidence, UserEvidence as _, UserRanking, ranking_mark, ranking_marks,
};
use intent_gateway_ledger::Books as _;
use intent_gateway_store::{Journal, SqlStore, compact};
use intent_gateway_testing::entropy::vault;
use intent_gateway_testing::users::{asker, user};
use serde_json::value::RawValue;

use crate::evidence::{NOW, finding, receipt};
use crate::ledger::{booking, posting, sound};
use crate::support::{Database, on_both_engines};

on_both_engines!(
    rankings_are_found_by_their_user_alone,
    an_erased_ranking_says_so_and_is_no_more,
    a_ranking_from_before_is_put_under_a_mark,
    a_backup_holds_whose_rankings_are,
    no_file_has_a_trace_of_who_was_erased,
    what_waits_is_kept_before_settling_ends,
);

const NAME: &str = "Arundhati Venkataraghavan";
const PHONE: &str = "+919812345670";

fn ranking(id: &str, request_id: &str) -> Receipt {
    let arguments = format!("{{\"name\":\"{NAME}\",\"phone\":\"{PHONE}\"}}");
    let arguments = RawValue::from_string(arguments).expect("JSON");
    Receipt { request_id: request_id.to_owned(), arguments, ..receipt(id, NOW) }
}

async fn found(store: &SqlStore, user: &User) -> Vec<UserRanking> {
    store.rankings_of(&ranking_mark(&vault(), user), None, 100).await.expect("it reads")
}

fn ids(rankings: &[UserRanking]) -> Vec<&str> {
    rankings.iter().map(|ranking| ranking.id.as_str()).collect()
}

async fn rankings_are_found_by_their_user_alone(database: Database) {
    let store = database.open_shared().await;
    let journal = Journal::open(store.clone(), vault());
    let (ann, bob) = (user("ann"), user("bob"));
    for (id, user) in [("rank_1", Some(&ann)), ("rank_2", Some(&bob)), ("rank_3", None), ("rank_4", Some(&ann))] {
        journal.keep(ranking(id, "r-1"), user);
    }
    journal.close().await;
    let of_ann = found(&store, &ann).await;
    assert_eq!((ids(&of_ann), ids(&found(&store, &bob).await)), (vec!["rank_4", "rank_1"], vec!["rank_2"]));
    assert_eq!(of_ann[0].request_id, "r-1");
    let mark = &ranking_marks(&vault(), &ann)[0];
    assert_eq!(ids(&store.rankings_of(mark, None, 1).await.unwrap()), ["rank_4"]);
    assert_eq!(ids(&store.rankings_of(mark, Some(of_ann[0].number), 9).await.unwrap()), ["rank_1"]);
    assert!(found(&store, &user("carl")).await.is_empty());
}

async fn an_erased_ranking_says_so_and_is_no_more(database: Database) {
    let store = database.open_shared().await;
    let journal = Journal::open(store.clone(), vault());
    journal.keep(ranking("rank_1", "r-1"), Some(&user("ann")));
    journal.keep(ranking("rank_2", "r-2"), Some(&user("bob")));
    for request_id in ["r-1", "r-2"] {
        let mut finding = finding("ptr_1", "BK-1");
        (finding.request_id, finding.excerpt) = (request_id.to_owned(), Some(format!("\"{NAME}\"")));
        journal.record(finding);
    }
    journal.settle().await;
    let rankings = found(&store, &user("ann")).await;
    let erased = store.erase_rankings(&rankings).await.unwrap();
    assert_eq!(erased, ErasedEvidence { receipts: 1, findings: 1, faults: 0 });
    assert!(matches!(store.receipt("rank_1").await.unwrap(), Some(KeptReceipt::Erased)));
    assert!(matches!(store.receipt("rank_2").await.unwrap(), Some(KeptReceipt::Whole(_))));
    assert!(found(&store, &user("ann")).await.is_empty());
    assert!(store.receipts_of("r-1", 9).await.unwrap().is_empty());
    let kept = store.findings(FindingQuery::all("ptr_1", None, 9)).await.unwrap();
    let excerpts: Vec<bool> = kept.iter().map(|kept| kept.finding.excerpt.is_some()).collect();
    assert_eq!(excerpts, [true, false], "newest first");
    assert_eq!(store.erase_found(&["r-1".to_owned()]).await.unwrap(), ErasedEvidence::default(), "it is done once");
    // The same ranking, come again, stays erased; nobody finds it by its request or as theirs.
    journal.keep(ranking("rank_1", "r-1"), Some(&user("ann")));
    journal.settle().await;
    store.mark_rankings(&["rank_1".to_owned()], &ranking_mark(&vault(), &user("ann"))).await.unwrap();
    assert!(found(&store, &user("ann")).await.is_empty());
    let many = vec![rankings[0].clone(); ERASED_AT_ONCE_MAX as usize + 1];
    assert!(store.erase_rankings(&many).await.is_err(), "more than one transaction bears");
    journal.close().await;
}

async fn a_ranking_from_before_is_put_under_a_mark(database: Database) {
    let store = database.open_shared().await;
    let journal = Journal::open(store.clone(), vault());
    journal.keep(ranking("rank_1", "r-1"), None);
    journal.keep(ranking("rank_2", "r-2"), Some(&user("bob")));
    journal.close().await;
    let both = ["rank_1".to_owned(), "rank_2".to_owned()];
    store.mark_rankings(&both, &ranking_mark(&vault(), &user("ann"))).await.unwrap();
    assert_eq!(ids(&found(&store, &user("ann")).await), ["rank_1"], "one that is somebody's stays so");
}

async fn a_backup_holds_whose_rankings_are(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gateway.backup");
    let store = database.open_shared().await;
    let journal = Journal::open(store.clone(), vault());
    for (id, name) in [("rank_1", Some("ann")), ("rank_2", None), ("rank_3", Some("bob"))] {
        journal.keep(ranking(id, id), name.map(user).as_ref());
    }
    journal.close().await;
    store.erase_rankings(&found(&store, &user("bob")).await).await.unwrap();
    store.backup(&file, Timestamp::EPOCH).await.unwrap();
    for other in [Some(Database::sqlite()), Database::postgres()].into_iter().flatten() {
        let restored = other.open_shared().await;
        restored.restore(&file, NOW).await.unwrap();
        assert_eq!(ids(&found(&restored, &user("ann")).await), ["rank_1"]);
        assert!(matches!(restored.receipt("rank_3").await.unwrap(), Some(KeptReceipt::Erased)));
    }
}

/// An order of the user's, with what the gateway keeps of it.
fn order(name: &str) -> Order {
    let opened = Opened {
        id: OrderId::new(&vault(), NOW).unwrap(),
        partner: posting("ptr_1", "BK-1", 1, true).order().partner,
        intent: posting("ptr_1", "BK-1", 1, true).order().intent,
        contract: intent_gateway_domain::digest::Digest::of(b"contract"),
        owner: Owner::of(&vault(), &asker(name)),
        from: OrderedFrom {
            option_id: "slot 2".to_owned(),
            receipt: Some("rank_1".to_owned()),
            number: 2,
            request_id: "r-1".to_owned(),
        },
        request_id: "r-9".to_owned(),
        is_sole: true,
    };
    let mut order = Order::open(opened, NOW);
    order.kept.insert("contact_phone".to_owned(), PHONE.into());
    order
}

/// All that the database holds, as its files or its tables have it. SQLite's own copies of what was written before are among it.
async fn everything(database: &Database) -> Vec<u8> {
    if let Some(file) = database.file() {
        let read = |file: &Path, suffix: &str| std::fs::read(format!("{}{suffix}", file.display())).unwrap_or_default();
        let all_of = |file: &Path| ["", "-wal", "-shm", "-journal"].map(|suffix| read(file, suffix)).concat();
        return database.segment_files().iter().map(PathBuf::as_path).chain([file]).flat_map(all_of).collect();
    }
    let tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'";
    let mut all = String::new();
    for table in database.lines(tables).await {
        let rows = format!("SELECT convert_from(convert_to(t::text, 'UTF8'), 'UTF8') FROM {table} AS t");
        all.extend(database.lines(&rows).await);
    }
    all.into_bytes()
}

/// Which of the texts the bytes hold. PostgreSQL writes bytes as hexadecimal digits.
fn traces<'a>(bytes: &[u8], texts: &[&'a str]) -> Vec<&'a str> {
    let holds = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    let hexadecimal = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    texts.iter().copied().filter(|text| holds(text.as_bytes()) || holds(hexadecimal(text).as_bytes())).collect()
}

async fn no_file_has_a_trace_of_who_was_erased(database: Database) {
    let store = database.open_shared().await;
    let journal = Journal::open(store.clone(), vault());
    journal.keep(ranking("rank_1", "r-1"), Some(&user("ann")));
    let mut said = finding("ptr_1", "BK-1");
    (said.request_id, said.violation.message) = ("r-1".to_owned(), format!("{NAME} is no customer."));
    journal.record(said);
    journal.settle().await;
    let mut change = Change::default();
    let mut kept = Versioned::new(order("ann"));
    change.put(&kept);
    store.commit(change).await.unwrap();
    store.book(vec![booking(posting("ptr_1", "BK-1", 7, true))]).await.unwrap();

    let ranking = ranking_mark(&vault(), &user("ann"));
    let owner = Owner::of(&vault(), &asker("ann")).asker;
    let texts = [NAME, PHONE, ranking.as_str(), owner.as_str()];
    assert_eq!(traces(&everything(&database).await, &texts), texts, "they are found where they stand");

    store.erase_rankings(&found(&store, &user("ann")).await).await.unwrap();
    kept = load::<Order>(&*store, kept.value.id.as_str()).await.unwrap().expect("it is kept");
    let mut change = Change::default();
    change.delete(&kept);
    kept.value.forget_person(&vault(), None);
    change.put(&Versioned::new(kept.value));
    store.commit(change).await.unwrap();

    journal.close().await;
    match compact(&database.location).await.unwrap() {
        Some(compacted) => assert!(compacted.is_log_empty, "nobody reads"),
        None => database.run("VACUUM").await.unwrap(),
    }
    assert_eq!(traces(&everything(&database).await, &texts), Vec::<&str>::new());
    assert_eq!(sound(&*store).await.len(), 1, "the ledger verifies");
    assert!(matches!(store.receipt("rank_1").await.unwrap(), Some(KeptReceipt::Erased)));
}

async fn what_waits_is_kept_before_settling_ends(database: Database) {
    let store = database.open_shared().await;
    let journal = Journal::open(store.clone(), vault());
    for at in 0..40 {
        journal.keep(ranking(&format!("rank_{at}"), "r-1"), Some(&user("ann")));
    }
    journal.settle().await;
    assert_eq!(found(&store, &user("ann")).await.len(), 40);
    journal.close().await;
    journal.settle().await;
}
