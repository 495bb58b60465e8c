//! The command line holds together, and what its help and the pages show of it are commands.

use std::path::Path;

use clap::CommandFactory as _;

use super::*;

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}

/// Where the words of a command end: a pipe, what its output goes to, another command, a comment.
const ENDS: [&str; 8] = ["|", ">", "2>", "<", "&", "&&", "||", "#"];

/// The words of a command, as a shell would split them.
fn split_words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for character in line.chars().chain([' ']) {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (None, '\'' | '"') => quote = Some(character),
            (None, ' ') if ENDS.contains(&word.as_str()) => return words,
            (None, ' ' | ';' | ')') if word.is_empty() => {}
            (None, ' ') => words.push(std::mem::take(&mut word)),
            (None, ';' | ')') => {
                words.push(word);
                return words;
            }
            _ => word.push(character),
        }
    }
    // A text may go on in the next line.
    words.extend(quote.map(|_| word));
    words
}

/// The examples in the help of a command and of those below it.
fn list_examples(command: &clap::Command) -> Vec<String> {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let lines = help.lines().map(str::trim).filter(|line| line.starts_with("intent-gateway "));
    let mut examples: Vec<String> = lines.map(str::to_owned).collect();
    examples.extend(command.get_subcommands().flat_map(self::list_examples));
    examples
}

#[test]
fn every_example_of_the_help_is_a_command() {
    let examples = list_examples(&Cli::command());
    assert!(examples.len() > 30, "{examples:#?}");
    for example in examples {
        let words = split_words(&example);
        if let Err(error) = Cli::try_parse_from(&words) {
            panic!("{example}: {error}");
        }
    }
}

#[test]
fn what_contradicts_itself_is_no_command() {
    let kind = |line: &str| Cli::try_parse_from(split_words(line)).map(|_| ()).map_err(|error| error.kind());
    use clap::error::ErrorKind as E;
    for (line, expected) in [
        ("intent-gateway manifest check m.yaml --contracts c --gateway http://g", E::ArgumentConflict),
        ("intent-gateway manifest submit m.yaml --gateway http://g --review --draft", E::ArgumentConflict),
        ("intent-gateway manifest submit m.yaml --gateway http://g --account 'no id'", E::ValueValidation),
        ("intent-gateway partner test ptr_1 --intent auto.fix --gateway http://g", E::MissingRequiredArgument),
        ("intent-gateway partner suspend ptr_1 --gateway http://g", E::MissingRequiredArgument),
        ("intent-gateway partner list --state gone --gateway http://g", E::InvalidValue),
        ("intent-gateway partner list --limit 501 --gateway http://g", E::ValueValidation),
        ("intent-gateway review show ../x --gateway http://g", E::ValueValidation),
        ("intent-gateway review reject rev_1 --gateway http://g", E::MissingRequiredArgument),
        ("intent-gateway receipt show rev_1 --gateway http://g", E::ValueValidation),
        ("intent-gateway receipt list --gateway http://g", E::MissingRequiredArgument),
        ("intent-gateway audit show --limit 0", E::ValueValidation),
        ("intent-gateway ledger statement ptr_1 2026-05", E::InvalidSubcommand),
        ("intent-gateway statement 2026-5", E::ValueValidation),
        ("intent-gateway statement 2026-05 --partner 'no id'", E::ValueValidation),
        ("intent-gateway statement 2026-05 --format pdf", E::InvalidValue),
        ("intent-gateway ledger verify --expect-head 2", E::ValueValidation),
        ("intent-gateway store backup", E::MissingRequiredArgument),
        ("intent-gateway report sign r.json --key whsec_ab", E::UnknownArgument),
        ("intent-gateway report sign r.json --timestamp 1000000000000000", E::ValueValidation),
        ("intent-gateway report sign r.json --curl http://g --post http://g", E::ArgumentConflict),
        ("intent-gateway report verify r.json --timestamp 1", E::MissingRequiredArgument),
        ("intent-gateway contract activate xyz", E::ValueValidation),
        ("intent-gateway contract rollback auto", E::ValueValidation),
        ("intent-gateway search auto.fix", E::MissingRequiredArgument),
        ("intent-gateway search auto.fix --sample --request r.json", E::ArgumentConflict),
        ("intent-gateway search auto.fix --sample --json --best-reference", E::ArgumentConflict),
        ("intent-gateway search auto.fix --sample --user 'two words'", E::ValueValidation),
        ("intent-gateway call ../x opt_1", E::ValueValidation),
        ("intent-gateway findings ptr_1 --limit 0", E::ValueValidation),
        ("intent-gateway shell-completions cmd", E::InvalidValue),
    ] {
        assert_eq!(kind(line), Err(expected), "{line}");
    }
}

#[test]
fn a_command_takes_its_configuration_where_it_has_one() {
    let file = |line: &str| {
        let cli = Cli::try_parse_from(split_words(line)).expect(line);
        cli.command.config_file().map(|path| path.display().to_string())
    };
    assert_eq!(file("intent-gateway store check --config g.toml").as_deref(), Some("g.toml"));
    assert_eq!(file("intent-gateway audit verify --config g.toml").as_deref(), Some("g.toml"));
    assert_eq!(file("intent-gateway audit verify --config g.toml --gateway http://g"), None);
    assert_eq!(file("intent-gateway ledger balance --config g.toml").as_deref(), Some("g.toml"));
    assert_eq!(file("intent-gateway ledger balance --config g.toml --gateway http://g"), None);
    assert_eq!(file("intent-gateway statement 2026-05 --config g.toml").as_deref(), Some("g.toml"));
    assert_eq!(file("intent-gateway statement 2026-05 --config g.toml --profile p"), None);
    assert_eq!(file("intent-gateway partner list --gateway http://g"), None);
}

#[test]
fn lives_of_tokens() {
    assert_eq!(parse_ttl("90s"), Ok(Duration::from_secs(90)));
    assert_eq!(parse_ttl("2h"), Ok(Duration::from_secs(7_200)));
    assert_eq!(parse_ttl("7d"), Ok(Duration::from_secs(604_800)));
    for bad in ["", "h", "1", "1w", "-1h", "1.5h", "99999999999999999999h", "1hh", "0s", "31d"] {
        assert!(parse_ttl(bad).is_err(), "{bad}");
    }
}

/// What the pages write in the place of a value, and a value of the kind.
const STAND_INS: [(&str, &str); 8] = [
    ("$ACCOUNT", "ptr_0123456789abcdef"),
    ("$partner", "garage-nine"),
    ("$REVIEW", "rev_1763715600000_0123456789abcdef"),
    ("REVIEW", "rev_1763715600000_0123456789abcdef"),
    ("$DOCUMENT", "doc_0123456789abcdef"),
    ("INTENT", "auto.book_ac_service"),
    ("$1", "admin"),
    ("$(TZ=Asia/Kolkata date +%Y-%m)", "2026-11"),
];

/// The pages that people read.
fn list_pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages_in = |folder: &str| {
        let entries = std::fs::read_dir(root.join(folder)).expect("the folder is there");
        let paths = entries.map(|entry| entry.expect("it can be read").path());
        paths.filter(|path| path.extension().is_some_and(|end| end == "md")).collect::<Vec<_>>()
    };
    let mut pages: Vec<_> =
        [".", "docs", "docs/runbooks", "examples", "deploy"].into_iter().flat_map(pages_in).collect();
    pages.sort();
    pages
}

/// The commands in the code of a page, each in one line.
fn read_commands(page: &str) -> Vec<String> {
    let (mut is_code, mut goes_on) = (false, false);
    let mut commands: Vec<String> = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            (is_code, goes_on) = (!is_code, false);
        }
        let code = if is_code { line } else { line.strip_prefix("    ").unwrap_or_default() };
        let (text, continues) = code.trim().strip_suffix('\\').map_or((code.trim(), false), |text| (text, true));
        match text.match_indices("intent-gateway ").find(|(at, _)| begins_command(&text[..*at])) {
            _ if goes_on => commands.last_mut().expect("one goes on").push_str(text),
            Some((at, _)) => commands.push(text[at..].to_owned()),
            None => continue,
        }
        goes_on = continues;
    }
    commands
}

/// Whether what comes behind this in a line of a shell is a command.
fn begins_command(before: &str) -> bool {
    let last = before.split_whitespace().next_back().unwrap_or_default();
    before.is_empty()
        || before.ends_with('(')
        || ["$", "if", "{"].contains(&last)
        || last.split_once('=').is_some_and(|(name, _)| !name.starts_with('-'))
}

#[test]
fn every_command_of_the_pages_is_one() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for path in list_pages() {
        let page = std::fs::read_to_string(&path).expect("it can be read");
        for command in read_commands(&page) {
            count += 1;
            let stand_in = |word: String| {
                let known = STAND_INS.iter().find(|(name, _)| *name == word);
                known.map_or(word, |(_, value)| (*value).to_owned())
            };
            let words: Vec<String> = split_words(&command).into_iter().map(stand_in).collect();
            if let Err(error) = Cli::try_parse_from(&words) {
                wrong.push(format!(
                    "{}: {command}\n  {}",
                    path.display(),
                    error.to_string().lines().next().unwrap_or_default()
                ));
            }
        }
    }
    assert!(count > 200, "only {count} commands were found");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}
