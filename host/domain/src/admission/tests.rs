use super::*;

const MS: Duration = Duration::from_millis(1);

type Queue = AdmissionQueue<&'static str, u32>;

fn put(queue: &mut Queue, caller: &'static str, now: Instant, request: u32) -> Arrival {
    queue.arrive(caller, Patience::Short, now, || request)
}

fn entered(queue: &mut Queue, now: Instant) -> Vec<u32> {
    queue.turn(now, |_| false).entered.into_iter().map(|(request, _)| request).collect()
}

#[test]
fn so_many_enter_at_each_turn_and_the_others_wait() {
    let (mut queue, now) = (Queue::new(2), Instant::now());
    assert_eq!([1, 2, 3, 4, 5].map(|request| put(&mut queue, "a", now, request)), {
        use Arrival::{Enters, Waits};
        [Enters, Enters, Waits, Waits, Waits]
    });
    assert_eq!(entered(&mut queue, now), [3, 4]);
    let turn = queue.turn(now + 3 * MS, |_| false);
    assert_eq!(turn.entered, [(5, 3 * MS)], "with how long it has waited");
    assert_eq!(put(&mut queue, "a", now, 6), Arrival::Enters, "there is a place left in this turn");
    assert_eq!(put(&mut queue, "a", now, 7), Arrival::Waits);
}

#[test]
fn callers_take_turns() {
    let (mut queue, now) = (Queue::new(1), Instant::now());
    put(&mut queue, "greedy", now, 0);
    for request in 1..=30 {
        put(&mut queue, "greedy", now, request);
    }
    put(&mut queue, "modest", now, 100);
    put(&mut queue, "modest", now, 101);
    let served: Vec<u32> = (0..5).flat_map(|_| entered(&mut queue, now)).collect();
    assert_eq!(served, [1, 100, 2, 101, 3]);
}

#[test]
fn whoever_has_gone_takes_no_place() {
    let (mut queue, now) = (Queue::new(1), Instant::now());
    for request in 0..4 {
        put(&mut queue, "a", now, request);
    }
    let turn = queue.turn(now, |request| *request < 3);
    assert_eq!(turn.entered.first().map(|(request, _)| *request), Some(3));
    assert_eq!(queue.waiting(), 0);
}

#[test]
fn a_short_queue_refuses_nobody_and_serves_the_oldest_first() {
    let (mut queue, now) = (Queue::new(1), Instant::now());
    put(&mut queue, "a", now, 0);
    let short = u32::try_from(WAITING_SHORT).expect("few");
    for request in 1..=short {
        put(&mut queue, "a", now, request);
    }
    let turn = queue.turn(now + 60_000 * MS, |_| false);
    assert_eq!((turn.entered[0].0, turn.refused.len()), (1, 0));
}

#[test]
fn a_burst_is_borne_and_a_queue_that_stands_is_cut() {
    let (mut queue, now) = (Queue::new(1), Instant::now());
    put(&mut queue, "a", now, 0);
    for request in 1..=200 {
        put(&mut queue, "a", now, request);
    }
    let later = now + 50 * MS;
    let turn = queue.turn(later, |_| false);
    assert_eq!((turn.entered[0].0, turn.refused.len()), (200, 0), "the newest first, and nobody is refused yet");
    for request in 1_000..1_100 {
        put(&mut queue, "a", now + 95 * MS, request);
    }
    let turn = queue.turn(now + STANDING_AFTER, |_| false);
    assert_eq!(turn.refused.len(), 199, "all that has waited longer than 20 ms");
    assert_eq!((turn.entered[0].0, queue.waiting()), (1_000, 99));
}

#[test]
fn a_machine_is_patient() {
    let (mut queue, now) = (Queue::new(1), Instant::now());
    for request in 0..200 {
        queue.arrive("partner", Patience::Long, now, || request);
    }
    assert!(queue.turn(now + 500 * MS, |_| false).refused.is_empty());
    assert_eq!(queue.turn(now + 1_001 * MS, |_| false).refused.len(), 198);
}

#[test]
fn places_to_wait_are_bounded_and_one_caller_leaves_some() {
    let (mut queue, now) = (Queue::new(1), Instant::now());
    let waits =
        |queue: &mut Queue, caller| (0..).take_while(|n| put(queue, caller, now, *n) != Arrival::Refused).count();
    assert_eq!(waits(&mut queue, "greedy") - 1, WAITING_MAX * 4 / 5 + 1);
    assert!(waits(&mut queue, "other") > 500);
    for caller in ["c", "d", "e", "f", "g", "h"] {
        waits(&mut queue, caller);
    }
    assert!(queue.waiting() <= WAITING_MAX);
}
