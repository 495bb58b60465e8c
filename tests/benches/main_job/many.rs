//! A thousand contracts against three: how long a start takes, what memory they need, and what a search costs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bytes::Bytes;
use test_servers::Server;

use crate::micro::us;
use crate::subject::{SUBJECTS, Subject};
use crate::{LOAD_TIME, json_headers, line, load, root, start_own, start_program, token_of, verdict, write_config};

/// Contracts, unless the command line says otherwise.
const CONTRACTS: usize = 1_000;
/// Rounds of both gateways, by turns; the median counts.
const ROUNDS: usize = 5;
const CLIENTS: usize = 32;
/// Compiling all of them may take so long.
const COMPILE_MAX: Duration = Duration::from_secs(3_600);
/// How much more a search may cost.
const COST_AIM: f64 = 1.1;
/// Letters at the end of a name by which those that are made up differ. With letters, no constant of the code changes its length.
const LETTERS: usize = 4;

/// A contract under a name of its own.
struct Named {
    intent: String,
    component: Vec<u8>,
    is_searched: bool,
}

/// The three that ship, and as many under other names as are missing.
fn contracts(count: usize) -> Vec<Named> {
    let shipped = SUBJECTS.iter().enumerate().map(|(number, subject)| Named {
        intent: subject.intent.to_owned(),
        component: subject.component(),
        is_searched: number == 0,
    });
    let subject = &SUBJECTS[0];
    let component = subject.component();
    let others = (0..count.saturating_sub(SUBJECTS.len())).map(|number| {
        let kept = &subject.intent[..subject.intent.len() - LETTERS];
        let letter = |place| char::from(b'a' + (number / 10_usize.pow(place) % 10) as u8);
        let intent = format!("{kept}{}", (0..LETTERS as u32).rev().map(letter).collect::<String>());
        Named { component: rename(&component, subject.intent, &intent), intent, is_searched: true }
    });
    shipped.chain(others).collect()
}

fn searched(contracts: &[Named]) -> impl Iterator<Item = &Named> {
    contracts.iter().filter(|contract| contract.is_searched)
}

/// A component that calls itself otherwise: in its data, and where its code compares the end of its name with a constant.
fn rename(component: &[u8], from: &str, to: &str) -> Vec<u8> {
    let renamed = replace(component, from.as_bytes(), to.as_bytes());
    let end = |name: &str| constant(&name.as_bytes()[name.len() - LETTERS..]);
    replace(&renamed, &end(from), &end(to))
}

/// `i64.const` of some bytes (WebAssembly core specification, 5.4.6), signed LEB128.
fn constant(bytes: &[u8]) -> Vec<u8> {
    let mut left = bytes.iter().rev().fold(0_i64, |number, byte| number << 8 | i64::from(*byte));
    let mut written = vec![0x42];
    loop {
        let (low, sign) = ((left & 0x7f) as u8, left >> 6);
        left >>= 7;
        if sign == 0 || sign == -1 {
            written.push(low);
            return written;
        }
        written.push(low | 0x80);
    }
}

/// Nothing else moves.
fn replace(component: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut replaced = component.to_vec();
    let mut at = 0;
    while let Some(found) = replaced[at..].windows(from.len()).position(|window| window == from) {
        replaced[at + found..at + found + to.len()].copy_from_slice(to);
        at += found + to.len();
    }
    replaced
}

/// A gateway with some contracts, which it has compiled.
struct Place {
    folder: PathBuf,
    config: PathBuf,
    contracts: Vec<Named>,
}

impl Place {
    /// What an earlier run has compiled is used again.
    fn make(folder: &Path, count: usize, partner: &Server) -> Self {
        let contracts = contracts(count);
        let components = folder.join("contracts");
        fs::create_dir_all(&components).expect("writable");
        for contract in &contracts {
            let path = components.join(format!("{}.wasm", contract.intent));
            if fs::read(&path).ok().as_deref() != Some(&contract.component) {
                fs::write(&path, &contract.component).expect("writable");
            }
        }
        let searched: Vec<&str> = searched(&contracts).map(|contract| contract.intent.as_str()).collect();
        let config = write_config(folder, partner, &searched);
        let place = Self { folder: folder.to_owned(), config, contracts };
        if place.count_compiled() < count {
            place.compile();
        }
        place
    }

    fn count_compiled(&self) -> usize {
        let entries = fs::read_dir(self.folder.join("state/compiled"));
        let is_kept = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|ending| ending == "compiled");
        entries.map_or(0, |entries| entries.filter_map(Result::ok).filter(is_kept).count())
    }

    fn compile(&self) {
        let (gateway, begun) = (self.start(), Instant::now());
        while self.count_compiled() < self.contracts.len() {
            assert!(
                begun.elapsed() < COMPILE_MAX,
                "{} of {} contracts are compiled",
                self.count_compiled(),
                self.contracts.len()
            );
            std::thread::sleep(Duration::from_secs(1));
        }
        line(
            &format!("  {} contracts, taken from a folder for the first time", self.contracts.len()),
            &format!("{:.0} s", begun.elapsed().as_secs_f64()),
            "",
        );
        gateway.stop().expect("it stops");
    }

    fn start(&self) -> Server {
        start_program(&self.config)
    }

    fn call(&self, gateway: &Server, token: &str, subject: &Subject, intents: usize) -> load::Call {
        let text = subject.request();
        let request = |contract: &Named| {
            let body = text.replace(subject.intent, &contract.intent);
            (format!("/api/v1/intents/{}/search", contract.intent), Bytes::from(body))
        };
        load::Call {
            address: gateway.address().to_owned(),
            requests: searched(&self.contracts).take(intents).map(request).collect(),
            headers: json_headers(Some(token)),
            processes: vec![gateway.id()],
        }
    }
}

/// Resident memory of a process that is its own, and that is of files, MB.
fn memory_of(process: u32) -> (u64, u64) {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("Linux tells");
    let read = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).expect("a line of the status");
        line.split_whitespace().nth(1).expect("a number").parse::<u64>().expect("a number") / 1_024
    };
    (read("RssAnon:") + read("RssShmem:"), read("RssFile:"))
}

fn show_memory(when: &str, gateway: &Server) {
    let (own, of_files) = memory_of(gateway.id());
    line(
        &format!("  memory {when}"),
        &format!("{own} MB"),
        &format!("and {of_files} MB of files, which the kernel can take back"),
    );
}

/// Starts both, and measures.
pub(crate) async fn run(count: Option<usize>) {
    let count = count.unwrap_or(CONTRACTS);
    println!("\n{count} contracts against {}", SUBJECTS.len());
    let subject = &SUBJECTS[0];
    let partner = start_own(&["serve-partner", subject.intent]);
    let few = tempfile::tempdir().expect("a temporary folder");
    let few = Place::make(few.path(), SUBJECTS.len(), &partner);
    let many = Place::make(&root().join(format!("target/bench/contracts-{count}")), count, &partner);
    let mut gateways = Vec::new();
    for place in [&few, &many] {
        let begun = Instant::now();
        let gateway = place.start();
        let of = place.contracts.len();
        line(&format!("  start with {of}, compiled before"), &format!("{:.2} s", begun.elapsed().as_secs_f64()), "");
        show_memory("after the start", &gateway);
        let files = fs::read_dir(format!("/proc/{}/fd", gateway.id())).expect("Linux tells").count();
        line("  open files", &files.to_string(), "");
        let token = token_of(&place.config);
        gateways.push((place, gateway, token));
    }
    let mut costs = vec![Vec::new(); 3];
    for _ in 0..ROUNDS {
        for (number, (place, gateway, token)) in gateways.iter().enumerate() {
            let run = load::run(&place.call(gateway, token, subject, 1), CLIENTS, LOAD_TIME).await;
            costs[number].push(us(run.cpu_per_call));
        }
        let (place, gateway, token) = &gateways[1];
        let run = load::run(&place.call(gateway, token, subject, usize::MAX), CLIENTS, LOAD_TIME).await;
        costs[2].push(us(run.cpu_per_call));
    }
    show_memory("after that", &gateways[1].1);
    let [few, many, spread] = [0, 1, 2].map(|number| {
        costs[number].sort_by(f64::total_cmp);
        costs[number][ROUNDS / 2]
    });
    line(&format!("  CPU of a search among {}", SUBJECTS.len()), &format!("{few:.0} us"), "");
    let ratio = many / few;
    line(
        &format!("  CPU of the same search among {count}"),
        &format!("{many:.0} us"),
        &format!("{ratio:.2} times, aim {COST_AIM}: {}", verdict(ratio <= COST_AIM)),
    );
    line(
        "  CPU of a search, each for the next intent",
        &format!("{spread:.0} us"),
        &format!("{:.2} times", spread / few),
    );
}
