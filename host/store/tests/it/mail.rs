//! Mail: each is given to one process at a time, when its time has come, until it is settled.

use std::collections::BTreeSet;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::store::{Change, MailFate, OutgoingMail};

use crate::support::{Place, on_every_store};

on_every_store!(mail_is_claimed_when_due_and_settled, each_mail_is_claimed_once);

fn of(times: &[u64]) -> Change {
    let mail = |(at, not_before_ms): (usize, &u64)| OutgoingMail {
        id: format!("mail_{at}"),
        sealed: format!("sealed {at}"),
        not_before: Timestamp::from_ms(*not_before_ms),
    };
    Change { mail: times.iter().enumerate().map(mail).collect(), ..Change::default() }
}

async fn mail_is_claimed_when_due_and_settled(place: impl Place) {
    let store = place.store().await;
    store.commit(of(&[100, 200, 300])).await.unwrap();
    let claim = async |now_ms, limit| {
        let mut claimed = store.claim_mail(Timestamp::from_ms(now_ms), 50, limit).await.expect("it claims");
        claimed.sort_by(|a, b| a.id.cmp(&b.id));
        claimed.into_iter().map(|mail| (mail.id, mail.sealed, mail.tries)).collect::<Vec<_>>()
    };
    let mail = |at: u32, tries| (format!("mail_{at}"), format!("sealed {at}"), tries);
    assert_eq!(claim(99, 10).await, []);
    assert_eq!(claim(250, 0).await, []);
    assert_eq!(claim(250, 1).await, [mail(0, 0)], "the one that waited longest");
    assert_eq!(claim(250, 10).await, [mail(1, 0)]);
    assert_eq!(claim(299, 10).await, [], "both are claimed until 300");
    store.settle_mail("mail_0", MailFate::Done).await.unwrap();
    store.settle_mail("mail_1", MailFate::Retry(Timestamp::from_ms(400))).await.unwrap();
    assert_eq!(claim(350, 10).await, [mail(2, 0)]);
    assert_eq!(claim(400, 10).await, [mail(1, 1), mail(2, 1)], "a claim that nobody settled ends");
    store.settle_mail("mail_9", MailFate::Done).await.expect("nobody's mail is settled already");
}

async fn each_mail_is_claimed_once(place: impl Place) {
    let stores = [place.store().await, place.store().await];
    stores[0].commit(of(&[1; 60])).await.unwrap();
    let claims = (0..20).map(|at| {
        let store = stores[at % 2].clone();
        tokio::spawn(async move { store.claim_mail(Timestamp::from_ms(1), 1_000, 3).await.expect("it claims") })
    });
    let mut seen = BTreeSet::new();
    for claim in claims.collect::<Vec<_>>() {
        for mail in claim.await.unwrap() {
            assert!(seen.insert(mail.id.clone()), "{} was claimed twice", mail.id);
        }
    }
    assert_eq!(seen.len(), 60);
}
