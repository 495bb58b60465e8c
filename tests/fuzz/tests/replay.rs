//! Tries every target on its corpus and on edits of it: the same ones in each run. What finds new inputs is
//! `cargo xtask fuzz`, for which this sees to it that the targets work and that nothing comes back.

use std::path::{Path, PathBuf};

use fuzz_targets::{TARGETS, Target};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// Edited inputs of each target.
const EDITED_INPUTS: u32 = 10_000;
/// Edits of one input.
const EDITS_MAX: usize = 6;
/// Any number will do, as long as it stays: a failure comes back with the next run.
const SEED: u64 = 15;

fn corpus_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

fn read_corpus(target: &Target) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = corpus_folder().join(target.name);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut inputs: Vec<(PathBuf, Vec<u8>)> = files
        .map(|file| file.expect("a file").path())
        .map(|path| (path.clone(), std::fs::read(path).expect("a readable file")))
        .collect();
    inputs.sort();
    assert!(!inputs.is_empty(), "{} has no input", target.name);
    inputs
}

#[derive(Clone, Debug)]
enum Edit {
    Replace(Index, u8),
    Insert(Index, u8),
    Remove(Index, Index),
    Repeat(Index, Index),
    /// What another input has there.
    Splice(Index, Index, Index),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let place = any::<Index>;
    let edit = prop_oneof![
        (place(), any::<u8>()).prop_map(|(at, byte)| Edit::Replace(at, byte)),
        (place(), any::<u8>()).prop_map(|(at, byte)| Edit::Insert(at, byte)),
        (place(), place()).prop_map(|(from, to)| Edit::Remove(from, to)),
        (place(), place()).prop_map(|(from, to)| Edit::Repeat(from, to)),
        (place(), place(), place()).prop_map(|(input, from, to)| Edit::Splice(input, from, to)),
    ];
    prop::collection::vec(edit, 1..=EDITS_MAX)
}

/// A part of a text that has as many bytes, at most a few.
fn part(length: usize, from: Index, to: Index) -> std::ops::Range<usize> {
    let from = from.index(length + 1);
    from..from + to.index((length - from).min(64) + 1)
}

fn apply(edit: &Edit, input: &mut Vec<u8>, corpus: &[(PathBuf, Vec<u8>)]) {
    let length = input.len();
    match edit {
        Edit::Replace(at, byte) if length > 0 => input[at.index(length)] = *byte,
        Edit::Replace(_, byte) => input.push(*byte),
        Edit::Insert(at, byte) => input.insert(at.index(length + 1), *byte),
        Edit::Remove(from, to) => drop(input.drain(part(length, *from, *to))),
        Edit::Repeat(from, to) => {
            let repeated = input[part(length, *from, *to)].to_vec();
            input.splice(from.index(length + 1)..from.index(length + 1), repeated);
        }
        Edit::Splice(other, from, to) => {
            let other = &corpus[other.index(corpus.len())].1;
            let at = from.index(length + 1);
            input.splice(at..at, other[part(other.len(), *from, *to)].iter().copied());
        }
    }
}

fn try_target(name: &str) {
    let target = fuzz_targets::find(name).expect("a target");
    let corpus = read_corpus(target);
    for (path, input) in &corpus {
        let tried = std::panic::catch_unwind(|| (target.run)(input));
        assert!(tried.is_ok(), "{name} fails on {}", path.display());
    }
    let config =
        Config { cases: EDITED_INPUTS, rng_seed: RngSeed::Fixed(SEED), failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let tried = runner.run(&(any::<Index>(), edits()), |(chosen, edits)| {
        let mut input = corpus[chosen.index(corpus.len())].1.clone();
        edits.iter().for_each(|edit| apply(edit, &mut input, &corpus));
        // The bytes themselves, for a file in the corpus.
        let tried = std::panic::catch_unwind(|| (target.run)(&input));
        prop_assert!(tried.is_ok(), "{name} fails on \"{}\"", input.escape_ascii());
        Ok(())
    });
    tried.unwrap_or_else(|failure| panic!("{failure}"));
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            try_target(stringify!($name));
        })*

        #[test]
        fn each_target_is_tried_and_has_a_corpus() {
            let tried = [$(stringify!($name)),*];
            assert_eq!(TARGETS.map(|target| target.name), tried);
            let folders = std::fs::read_dir(corpus_folder()).expect("the corpus");
            let mut folders: Vec<String> =
                folders.map(|folder| folder.expect("a folder").file_name().to_string_lossy().into_owned()).collect();
            folders.sort();
            let mut names = tried.map(str::to_owned);
            names.sort();
            assert_eq!(folders, names);
        }
    };
}

targets! {
    answer_scan
    search_payload
    reference
    manifest
    yaml
    report_signature
    completion_report
    oauth_answer
    event_stream
    component
    signed_component
    oci_manifest
}
