//! Sends what partners are told: mail, and events to their webhooks.

use std::sync::Arc;
use std::time::Duration;

use intent_gateway_domain::error::chain;
use intent_gateway_onboarding::Postman;
use intent_gateway_onboarding::events::{Courier, StatementNews};
use intent_gateway_onboarding::notices::Notices;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::background::STORE_PAUSE;
use crate::readiness::TaskRounds;

/// How often the store is asked for mail that is due.
const MAIL_POLL: Duration = Duration::from_millis(500);
/// Partners whose events are sent at once.
const EVENT_TURNS_MAX: usize = 32;

/// Sends the mail that is due, again and again.
pub(crate) async fn send_mail(postman: Arc<Postman>, rounds: TaskRounds) {
    loop {
        let delivered = postman.deliver().await;
        rounds.note_result(&delivered);
        match delivered {
            Ok(0) => tokio::time::sleep(MAIL_POLL).await,
            Ok(_) => {}
            Err(error) => {
                tracing::error!(error = %chain(&error), "mail could not be read from the store");
                tokio::time::sleep(STORE_PAUSE).await;
            }
        }
    }
}

/// Begins the turns of partners that have events due, and does not wait for them: a slow webhook holds up its own alone.
pub(crate) async fn send_events(courier: Arc<Courier>, turns: Arc<Mutex<JoinSet<()>>>, rounds: TaskRounds) {
    let mut under_way = turns.lock().await;
    while under_way.try_join_next().is_some() {}
    let taken = courier.take_turns(EVENT_TURNS_MAX.saturating_sub(under_way.len())).await;
    rounds.note_result(&taken);
    match taken {
        Ok(turns) => turns.into_iter().for_each(|turn| drop(under_way.spawn(turn.run()))),
        Err(error) => tracing::error!(error = %chain(&error), "events could not be read from the store"),
    }
}

pub(crate) async fn tell_of_statements(statements: Arc<StatementNews>, rounds: TaskRounds) {
    let told = statements.tell().await;
    rounds.note_result(&told);
    match told {
        Ok(0) => {}
        Ok(told) => tracing::info!(told, "partners were told of their statements"),
        Err(error) => tracing::error!(error = %chain(&error), "partners could not be told of their statements"),
    }
}

pub(crate) async fn tell_of_notices(notices: Arc<Notices>, rounds: TaskRounds) {
    let told = notices.tell().await;
    rounds.note_result(&told);
    match told {
        Ok(0) => {}
        Ok(told) => tracing::info!(told, "partners were told of notices"),
        Err(error) => {
            tracing::error!(error = %chain(&error), "partners could not be told of notices; it is tried again")
        }
    }
}
