//! How many pages may be open and look: of one session, of one person, of all of a face. And how many look at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Semaphore, SemaphorePermit};

/// Streams of one session: as many pages as one looks at side by side. Pages in the background have none.
const OF_SESSION_MAX: usize = 4;
/// Streams of one person, over all their sessions.
const OF_PERSON_MAX: usize = 12;
/// The places of one face's streams. They are none of the places in which pages are made.
pub(crate) struct StreamPlaces {
    all_max: usize,
    open: Mutex<Open>,
    looks: Semaphore,
}

#[derive(Default)]
struct Open {
    all: usize,
    /// Only of those that have one.
    by_session: HashMap<String, usize>,
    by_person: HashMap<String, usize>,
}

/// A stream's place, until it is dropped.
pub(crate) struct StreamPlace {
    of: Arc<StreamPlaces>,
    session: String,
    person: String,
}

impl StreamPlaces {
    /// For so many streams, of which so many look at once. A look asks the API several things, whose places there are those of everybody
    /// else as well.
    pub(crate) fn new(all_max: usize, looks_at_once: usize) -> Arc<Self> {
        Arc::new(Self { all_max, open: Mutex::default(), looks: Semaphore::new(looks_at_once) })
    }

    /// A place for one more stream of a session; none where it, its person, or all of them have as many as they may.
    pub(crate) fn take(self: &Arc<Self>, session: &str, person: &str) -> Option<StreamPlace> {
        let mut open = self.open();
        let of = |counts: &HashMap<String, usize>, key: &str| counts.get(key).copied().unwrap_or_default();
        let has_room = open.all < self.all_max
            && of(&open.by_session, session) < OF_SESSION_MAX
            && of(&open.by_person, person) < OF_PERSON_MAX;
        if !has_room {
            return None;
        }
        open.all += 1;
        *open.by_session.entry(session.to_owned()).or_default() += 1;
        *open.by_person.entry(person.to_owned()).or_default() += 1;
        Some(StreamPlace { of: self.clone(), session: session.to_owned(), person: person.to_owned() })
    }

    /// Waits until one more look may be taken.
    pub(crate) async fn look(&self) -> Option<SemaphorePermit<'_>> {
        self.looks.acquire().await.ok()
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // Nothing panics while the lock is held, so a poisoned one still holds good numbers.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut open = self.of.open();
        open.all -= 1;
        give_back(&mut open.by_session, &self.session);
        give_back(&mut open.by_person, &self.person);
    }
}

fn give_back(counts: &mut HashMap<String, usize>, key: &str) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_people_and_faces_have_their_bounds() {
        let places = StreamPlaces::new(14, 1);
        let take = |session: &str, person: &str| places.take(session, person);
        let one: Vec<_> = (0..OF_SESSION_MAX).map(|_| take("s1", "asha").expect("there is room")).collect();
        assert!(take("s1", "asha").is_none(), "a session has its bound");
        let more: Vec<_> = ["s2", "s3"].into_iter().flat_map(|session| [session; 4]).map(|s| take(s, "asha")).collect();
        assert!(more.iter().all(Option::is_some));
        assert!(take("s4", "asha").is_none(), "a person has one over all sessions");
        let others = [take("s5", "ravi"), take("s5", "ravi")];
        assert!(others.iter().all(Option::is_some));
        assert!(take("s6", "lila").is_none(), "all of a face have one");
        drop(one);
        assert!(take("s1", "asha").is_some());
        drop((more, others));
        let open = places.open();
        assert!(open.all == 0 && open.by_session.is_empty() && open.by_person.is_empty(), "nobody is remembered");
    }
}
