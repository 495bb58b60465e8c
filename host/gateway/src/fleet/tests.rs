use std::sync::atomic::{AtomicU32, Ordering};

use intent_gateway_domain::clock::{Clock, SystemClock, Timestamp};
use intent_gateway_domain::secret::Secret;
use intent_gateway_testing::entropy::NoRandomness;
use intent_gateway_testing::fleet::MemoryLeases;

use super::*;

const LEASE: Duration = Duration::from_secs(10);
const EVERY: Duration = Duration::from_secs(60);

/// The runtime's own time, in which tests pass it.
#[derive(Clone, Copy)]
struct RuntimeClock(Instant);

impl RuntimeClock {
    fn passed_ms(self) -> u64 {
        u64::try_from(self.0.elapsed().as_millis()).expect("a test is short")
    }
}

impl MonotonicClock for RuntimeClock {
    fn elapsed_ms(&self) -> u64 {
        self.passed_ms()
    }
}

impl Clock for RuntimeClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(1_000_000 + self.passed_ms())
    }
}

/// Numbers one after the other.
#[derive(Default)]
struct Counting(AtomicU32);

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        bytes.fill(u8::try_from(self.0.fetch_add(1, Ordering::Relaxed)).expect("a few"));
        Ok(())
    }
}

struct World {
    clock: RuntimeClock,
    leases: Arc<MemoryLeases>,
    vault: Vault,
}

impl World {
    fn new() -> Self {
        let clock = RuntimeClock(Instant::now());
        let vault = Vault::new(&Secret::new("a master key of more than 32 bytes"), &[], Arc::new(Counting::default()));
        Self { clock, leases: MemoryLeases::new(Arc::new(clock)), vault }
    }

    async fn begin(&self, name: &str) -> Membership {
        let entry = Entry { id: GatewayId::parse(name).expect("sound"), name: name.to_owned(), lease: LEASE };
        let fleet = Fleet::new(Arc::new(self.clock));
        Membership::begin(entry, self.leases.clone(), fleet, self.vault.clone()).await.expect("a lease")
    }
}

fn untold() -> TaskRounds {
    TaskRounds::untold(Arc::new(SystemClock))
}

/// Counts its rounds, each of which takes so long.
fn count_rounds(duties: Duties, takes: Duration) -> (Arc<[AtomicU32; 2]>, tokio::task::JoinHandle<()>) {
    let rounds = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let counted = rounds.clone();
    let task = tokio::spawn(duties.do_rounds(Duty::Sweep, EVERY, untold(), move |_| {
        let counted = counted.clone();
        async move {
            counted[0].fetch_add(1, Ordering::Relaxed);
            sleep(takes).await;
            counted[1].fetch_add(1, Ordering::Relaxed);
        }
    }));
    (rounds, task)
}

fn seen(rounds: &[AtomicU32; 2]) -> [u32; 2] {
    [0, 1].map(|at| rounds[at].load(Ordering::Relaxed))
}

#[tokio::test(start_paused = true)]
async fn a_duty_moves_when_its_holder_dies_and_at_once_when_it_leaves() {
    let world = World::new();
    let (mut one, mut other) = (world.begin("one").await, world.begin("other").await);
    let (first, first_task) = count_rounds(one.duties(), Duration::ZERO);
    let (second, _second_task) = count_rounds(other.duties(), Duration::ZERO);
    let keeping = tokio::spawn(async move {
        other.keep(untold()).await;
    });
    {
        let kept = one.keep(untold());
        let _ = timeout(2 * EVERY + LEASE, kept).await;
    }
    assert_eq!((seen(&first), seen(&second)), ([3, 3], [0, 0]));
    // It is not heard of any more, and its own work has ended when the other begins.
    sleep(LEASE + LEASE / 2).await;
    assert_eq!((seen(&first)[0], seen(&second)[0]), (3, 1));
    first_task.abort();
    let third = world.begin("third").await;
    let (rounds, _task) = count_rounds(third.duties(), Duration::ZERO);
    let mut third = third;
    let keeping_third = tokio::spawn(async move { third.keep(untold()).await });
    sleep(EVERY).await;
    assert_eq!(seen(&rounds)[0], 0);
    keeping.abort();
    world.leases.give_back(&world.leases.live().await.expect("readable")[0].gateway.run).await.expect("given back");
    sleep(LEASE / 2).await;
    assert_eq!(
        seen(&rounds)[0],
        1,
        "what was given back is taken at the next renewal, long before its lease would have ended"
    );
    keeping_third.abort();
}

#[tokio::test(start_paused = true)]
async fn work_is_cut_off_when_its_lease_ends() {
    let world = World::new();
    let one = world.begin("one").await;
    let (rounds, _task) = count_rounds(one.duties(), 3 * LEASE);
    sleep(4 * LEASE).await;
    assert_eq!(seen(&rounds), [1, 0], "begun, and not ended");
    one.fleet.end_duties();
    let steps = AtomicU32::new(0);
    let work = async {
        steps.fetch_add(1, Ordering::Relaxed);
    };
    assert_eq!((one.duties().while_held(Duty::Sweep, work).await, steps.into_inner()), (None, 0), "not one step");
}

#[tokio::test(start_paused = true)]
async fn a_copied_folder_gets_a_name_of_its_own() {
    let world = World::new();
    let mut one = world.begin("one").await;
    let twin = world.begin("one").await;
    let is_start = {
        let granted = one.ask(false).await.expect("answered");
        assert_eq!(granted.own, OwnLease::Replaced);
        one.note(&granted)
    };
    assert!(is_start);
    assert_eq!(one.ask(true).await.expect("answered").own, OwnLease::Begun);
    assert_eq!((twin.ask(false).await.expect("answered").live.len(), one.fleet.live()), (2, 2));
}

#[test]
fn a_folder_keeps_its_gateway() {
    let folder = tempfile::tempdir().expect("a folder");
    let entropy = Counting::default();
    let id = gateway_id(folder.path(), &entropy).expect("made");
    assert_eq!(gateway_id(folder.path(), &NoRandomness).expect("kept"), id);
    fs::write(folder.path().join(ID_FILE), "no identifier!").expect("writable");
    assert_ne!(gateway_id(folder.path(), &entropy).expect("made anew"), id);
    assert!(gateway_name("127.0.0.1:80").ends_with("127.0.0.1:80"));
    assert!(BootClock.elapsed_ms() > 0);
}
