//! What the store's logic relies on, whichever engine it meets.

use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use test_servers::postgres::Postgres;

use super::{Engine, Insert, Patience, Session as _};
use crate::error::EngineError;
use crate::location::Location;
use crate::value::{Column, Value};

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(60);
/// Short enough to wait for.
const SHORT: Duration = Duration::from_millis(300);

/// A database of each engine, with a table that holds nothing.
async fn engines(patience: Patience) -> Vec<(Engine, Option<TempDir>)> {
    let folder = tempfile::tempdir().unwrap();
    let mut engines = vec![(open(&Location::file(folder.path().join("x.db")), patience).await, Some(folder))];
    if let Some(postgres) = postgres(patience).await {
        engines.push((postgres, None));
    }
    engines
}

async fn postgres(patience: Patience) -> Option<Engine> {
    let server = Postgres::shared().unwrap_or_else(|error| panic!("{error}"))?;
    let location = Location::parse(&server.database().unwrap()).unwrap();
    Some(open(&location, patience).await)
}

async fn open(location: &Location, patience: Patience) -> Engine {
    let engine = Engine::open(location, patience).await.unwrap();
    let mut tx = engine.migrate().await.unwrap();
    tx.batch("CREATE TABLE things (name TEXT NOT NULL PRIMARY KEY, size BIGINT NOT NULL)").await.unwrap();
    tx.commit().await.unwrap();
    engine
}

const INSERT: Insert = insert!("things", ["name", "size"], "$1, $2");

fn thing(name: &str) -> Vec<Value> {
    vec![name.into(), i64::MIN.into()]
}

async fn names(engine: &Engine) -> Vec<String> {
    let rows = engine.query("SELECT name, size FROM things ORDER BY name", Vec::new()).await.unwrap();
    rows.iter().map(|row| row.text(0).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_rows_are_all_written_or_none() {
    for (engine, _folder) in engines(Patience::default()).await {
        let mut tx = engine.write().await.unwrap();
        tx.insert(INSERT, Vec::new()).await.unwrap();
        let many: Vec<String> = (100..400).map(|number| format!("thing {number}")).collect();
        tx.insert(INSERT, many.iter().map(|name| thing(name)).collect()).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(names(&engine).await, many);

        let mut tx = engine.write().await.unwrap();
        let twice = vec![thing("a"), thing("b"), thing("thing 200"), thing("c")];
        assert!(matches!(tx.insert(INSERT, twice).await, Err(EngineError::Taken)));
        tx.rollback().await;
        assert_eq!(names(&engine).await, many);
        engine.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_transaction_is_rolled_back() {
    for (engine, _folder) in engines(Patience::default()).await {
        let mut tx = engine.write().await.unwrap();
        assert_eq!(tx.execute(INSERT.row, thing("a")).await.unwrap(), 1);
        drop(tx);
        let mut tx = engine.write().await.unwrap();
        tx.execute(INSERT.row, thing("b")).await.unwrap();
        tx.rollback().await;
        let mut tx = engine.write().await.unwrap();
        tx.execute(INSERT.row, thing("c")).await.unwrap();
        assert_eq!(names(&engine).await, [""; 0], "nobody sees what does not hold yet");
        tx.commit().await.unwrap();
        assert_eq!(names(&engine).await, ["c"]);
        engine.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_transaction_is_rolled_back_for_those_that_wait() {
    for (engine, _folder) in engines(Patience { begin: LONG, statement: SHORT }).await {
        let mut silent = engine.write().await.unwrap();
        silent.execute(INSERT.row, thing("a")).await.unwrap();
        let mut tx = engine.write().await.expect("its turn comes");
        tx.execute(INSERT.row, thing("b")).await.unwrap();
        tx.commit().await.unwrap();
        let late = silent.execute(INSERT.row, thing("c")).await;
        // PostgreSQL ends the connection with it.
        assert!(matches!(late, Err(EngineError::Failed { .. } | EngineError::Unavailable { .. })), "{late:?}");
        assert!(silent.commit().await.is_err());
        assert_eq!(names(&engine).await, ["b"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_too_long_is_told_so() {
    for (engine, _folder) in engines(Patience { begin: SHORT, statement: LONG }).await {
        let holder = engine.write().await.unwrap();
        assert!(matches!(engine.write().await.err(), Some(EngineError::Unavailable { .. })));
        assert_eq!(names(&engine).await, [""; 0], "who reads does not wait for who writes");
        holder.commit().await.unwrap();
        engine.write().await.expect("its turn comes").commit().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_taken_name_is_told_from_other_failures() {
    for (engine, _folder) in engines(Patience::default()).await {
        let mut tx = engine.write().await.unwrap();
        tx.execute(INSERT.row, thing("a")).await.unwrap();
        assert!(matches!(tx.execute(INSERT.row, thing("a")).await, Err(EngineError::Taken)));
        drop(tx);
        let mut tx = engine.write().await.unwrap();
        let null = tx.execute(INSERT.row, vec![Value::Text(None), 1_u32.into()]).await;
        assert!(matches!(null, Err(EngineError::Failed { .. })), "{null:?}");
        drop(tx);
        assert!(matches!(engine.query("SELECT nonsense", Vec::new()).await, Err(EngineError::Failed { .. })));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_reads_sees_one_state() {
    for (engine, _folder) in engines(Patience::default()).await {
        let mut reader = engine.read().await.unwrap();
        assert_eq!(reader.query("SELECT name FROM things", Vec::new()).await.unwrap().len(), 0);
        let mut tx = engine.write().await.unwrap();
        tx.execute(INSERT.row, thing("a")).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(reader.query("SELECT name FROM things", Vec::new()).await.unwrap().len(), 0);
        assert!(reader.execute(INSERT.row, thing("b")).await.is_err(), "and changes nothing");
        drop(reader);
        assert_eq!(names(&engine).await, ["a"]);
    }
}

/// A restart of the server, as its clients see it.
async fn break_connections(engine: &Engine) {
    let sql = "SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity \
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    engine.query(sql, Vec::new()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_connections_are_replaced() {
    let Some(engine) = postgres(Patience::default()).await else { return };
    for round in 0..5 {
        // Several connections at once, so that several are broken.
        let readers = futures_util::future::join_all((0..6).map(|_| engine.read())).await;
        readers.into_iter().for_each(|reader| assert!(reader.is_ok()));
        let readers = futures_util::future::join_all((0..6).map(|_| names(&engine))).await;
        assert!(readers.iter().all(|names| names.len() == round));
        break_connections(&engine).await;
        let mut tx = engine.write().await.expect("a connection is made");
        tx.execute(INSERT.row, thing(&format!("{round}"))).await.unwrap();
        tx.commit().await.unwrap();
        break_connections(&engine).await;
        assert_eq!(names(&engine).await.len(), round + 1);
        break_connections(&engine).await;
        let Engine::Postgres(database) = &engine else { unreachable!("it is PostgreSQL") };
        let wanted = Column::of_rows(vec![vec!["0".into()], vec!["nothing".into()]]).unwrap();
        let sql = "SELECT name FROM things JOIN UNNEST($1) AS wanted ON name = wanted";
        let (one, other) = database.query_columns_of_two((sql, &wanted), (sql, &wanted)).await.unwrap();
        assert_eq!((one.len(), other.len()), (1, 1));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn announcements_are_heard_again_after_a_break() {
    let Some(engine) = postgres(Patience::default()).await else { return };
    let Engine::Postgres(database) = &engine else { unreachable!("it is PostgreSQL") };
    let mut listener = database.listener();
    let heard = async |listener: &mut crate::postgres::Listener| {
        tokio::time::timeout(LONG, listener.announcement()).await.expect("it is heard").expect("it listens");
    };
    // The first call connects.
    heard(&mut listener).await;
    for _ in 0..3 {
        let mut tx = engine.write().await.unwrap();
        tx.as_postgres().expect("it is PostgreSQL").notify().await.unwrap();
        tx.commit().await.unwrap();
        heard(&mut listener).await;
    }
    break_connections(&engine).await;
    // One call finds the connection broken, the next makes another.
    heard(&mut listener).await;
    heard(&mut listener).await;
    let mut tx = engine.write().await.unwrap();
    tx.as_postgres().expect("it is PostgreSQL").notify().await.unwrap();
    tx.commit().await.unwrap();
    heard(&mut listener).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_than_there_are_connections_wait_for_each_other() {
    for (engine, _folder) in engines(Patience { begin: LONG, statement: LONG }).await {
        let engine = Arc::new(engine);
        let tasks = (0..50).map(|at| {
            let engine = Arc::clone(&engine);
            tokio::spawn(async move {
                let mut tx = engine.write().await.unwrap();
                tx.execute(INSERT.row, thing(&format!("{at:02}"))).await.unwrap();
                tx.commit().await.unwrap();
                names(&engine).await.len()
            })
        });
        let counts = futures_util::future::join_all(tasks.collect::<Vec<_>>()).await;
        assert!(counts.into_iter().all(|count| count.unwrap() >= 1));
        assert_eq!(names(&engine).await.len(), 50);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_freezes_crashes_or_takes_reads_alone_is_unavailable_and_then_back() {
    let Some(server) = Postgres::start().unwrap() else { return };
    let location = Location::parse(&server.database().unwrap()).unwrap();
    let engine = open(&location, Patience { begin: SHORT, statement: SHORT }).await;
    let write = async |name: &str| {
        let mut tx = engine.write().await?;
        tx.execute(INSERT.row, thing(name)).await?;
        tx.commit().await
    };
    let is_unavailable = |outcome: Result<(), EngineError>| matches!(outcome, Err(EngineError::Unavailable { .. }));
    write("a").await.unwrap();

    server.freeze().unwrap();
    let begun = std::time::Instant::now();
    assert!(is_unavailable(write("frozen").await));
    assert!(is_unavailable(engine.query("SELECT name FROM things", Vec::new()).await.map(drop)));
    assert!(begun.elapsed() < LONG / 4, "nobody waits for a server that says nothing");
    server.thaw().unwrap();

    // What was sent before it froze may be carried out now; a new transaction has its turn in time.
    while write("b").await.is_err() {}
    server.crash().unwrap();
    assert!(is_unavailable(write("crashed").await));
    server.start_again().unwrap();
    write("c").await.unwrap();

    server.run_statement("ALTER SYSTEM SET default_transaction_read_only = on").unwrap();
    server.stop().unwrap();
    server.start_again().unwrap();
    assert!(is_unavailable(write("read-only").await));
    let kept = names(&engine).await;
    for name in ["a", "b", "c"] {
        assert!(kept.contains(&name.to_owned()), "what was acknowledged is there: {kept:?}");
    }
    assert!(!kept.contains(&"crashed".to_owned()) && !kept.contains(&"read-only".to_owned()), "{kept:?}");
}
