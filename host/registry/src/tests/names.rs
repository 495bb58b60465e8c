use proptest::prelude::*;

use super::name;
use crate::{ArtifactName, InvalidName, Location, Reference, Tag};

const DIGEST: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

fn kind(text: &str) -> String {
    match text.parse::<ArtifactName>() {
        Ok(name) => format!("{name:?}"),
        Err(error) => format!("{error:?}").split('(').next().unwrap_or_default().to_owned(),
    }
}

#[test]
fn names_are_taken_apart_and_written_again() {
    for text in [
        "oci://registry.example/contracts",
        "oci://registry.example:5000/team/contracts/auto.fix:1.2.3",
        "oci://127.0.0.1:5000/a/b__c/d-e---f:v1.2.3_build.7",
        "oci://[::1]:5000/a:_tag",
        "oci-layout:/var/lib/contracts",
        "oci-layout:contracts/a b:1.2.3",
        "oci-layout:../contracts:latest",
        "oci-layout:C:/odd/path",
        &format!("oci://registry.example/contracts@sha256:{DIGEST}"),
        &format!("oci-layout:./contracts@sha256:{DIGEST}"),
    ] {
        assert_eq!(name(text).to_string(), text);
    }
    let name = name(&format!("oci://registry.example:5000/a/b@sha256:{DIGEST}"));
    let Location::Repository(repository) = name.location() else { panic!("it is in a registry") };
    assert_eq!((repository.host(), repository.path()), ("registry.example:5000", "a/b"));
    assert_eq!(name.reference(), Some(&Reference::Digest(DIGEST.parse().expect("a digest"))));
    assert_eq!(name.push_tag(), Err(InvalidName::PushToDigest(format!("sha256:{DIGEST}"))));
    let tag: Tag = "1.2.3".parse().expect("a tag");
    assert_eq!(name.with(Reference::Tag(tag.clone())).push_tag(), Ok(Some(&tag)));
}

#[test]
fn each_part_of_a_name_has_its_rule() {
    let (long_label, long_path, long_tag) = ("a".repeat(64), "a".repeat(256), "a".repeat(129));
    let many_labels = "abc.".repeat(64) + "de";
    for (host, bad) in [
        ("registry.example", false),
        ("registry.example:1", false),
        ("registry.example:65535", false),
        ("registry.example:65536", true),
        ("registry.example:0", true),
        ("registry.example:+80", true),
        ("registry.example:", true),
        ("", true),
        ("Registry.example", true),
        ("registry..example", true),
        ("-registry.example", true),
        ("registry-.example", true),
        ("user@registry.example", true),
        ("registry.example?x", true),
        ("[::1]", false),
        ("[::1", true),
        ("::1", true),
        (&long_label, true),
        (&long_label[1..], false),
        (&many_labels, true),
    ] {
        let found = kind(&format!("oci://{host}/a"));
        assert_eq!(found == "Host", bad, "{host}: {found}");
    }
    for (path, bad) in [
        ("a", false),
        ("a/b/c", false),
        ("a.b/c_d/e__f/g--h", false),
        ("", true),
        ("a/", true),
        ("/a", true),
        ("a//b", true),
        ("..", true),
        ("a/../b", true),
        ("a/./b", true),
        ("a..b", true),
        ("a___b", true),
        ("a/-b", true),
        ("a-/b", true),
        ("A", true),
        ("a%2fb", true),
        ("a?b", true),
        ("a#b", true),
        ("a b", true),
        (&long_path, true),
        (&long_path[1..], false),
    ] {
        let found = kind(&format!("oci://registry.example/{path}"));
        assert_eq!(found == "Repository", bad, "{path}: {found}");
    }
    for (tag, bad) in [
        ("latest", false),
        ("_", false),
        ("1.2.3-rc.1_build", false),
        ("", true),
        (".a", true),
        ("-a", true),
        ("a+b", true),
        ("a b", true),
        ("ä", true),
        (&long_tag, true),
        (&long_tag[1..], false),
    ] {
        for place in ["oci://registry.example/a", "oci-layout:a"] {
            let found = kind(&format!("{place}:{tag}"));
            assert_eq!(found == "Tag", bad, "{tag}: {found}");
        }
    }
    let upper = DIGEST.to_uppercase();
    for (digest, bad) in [
        (format!("sha256:{DIGEST}"), false),
        (format!("sha256:{upper}"), true),
        (format!("sha512:{DIGEST}{DIGEST}"), true),
        (format!("sha256:{}", &DIGEST[1..]), true),
        (DIGEST.to_owned(), true),
        (String::new(), true),
    ] {
        let found = kind(&format!("oci://registry.example/a@{digest}"));
        assert_eq!(found == "Digest", bad, "{digest}: {found}");
    }
    for bad in ["", "docker://a/b", "registry.example/a", "OCI://registry.example/a", "oci:/a/b"] {
        assert_eq!(kind(bad), "Scheme", "{bad}");
    }
    for bad in ["oci-layout:", "oci-layout::tag", "oci-layout:a\0b", &format!("oci-layout:{}", "a".repeat(4_097))] {
        assert_eq!(kind(bad), "Path", "{bad}");
    }
}

#[test]
fn a_version_has_one_tag() {
    for (version, tag) in [("1.2.3", "1.2.3"), ("1.2.3-rc.1+build.5", "1.2.3-rc.1_build.5")] {
        let version = version.parse().expect("a version");
        let made = Tag::of_version(&version).expect("a tag");
        assert_eq!((made.as_str(), made.version()), (tag, Some(version)));
    }
    let long = format!("1.2.3-{}", "a".repeat(128)).parse().expect("a version");
    assert!(matches!(Tag::of_version(&long), Err(InvalidName::Tag(_))));
}

#[test]
fn this_machine_is_known_by_its_names() {
    for (host, is_loopback) in [
        ("localhost", true),
        ("localhost:5000", true),
        ("127.0.0.1:5000", true),
        ("127.9.9.9", true),
        ("[::1]:5000", true),
        ("[::1]", true),
        ("localhost.example", false),
        ("127.0.0.1.example", false),
        ("10.0.0.1", false),
        ("[::2]:5000", false),
    ] {
        let name = name(&format!("oci://{host}/a"));
        let Location::Repository(repository) = name.location() else { panic!("it is in a registry") };
        assert_eq!(repository.is_loopback(), is_loopback, "{host}");
    }
}

proptest! {
    /// What is a name is written as it was read; and nothing is too strange to be read.
    #[test]
    fn any_text_is_a_name_or_is_not(start in "(oci://|oci-layout:|)", rest in "[a-zA-Z0-9:@/._\\[\\] -]{0,40}|\\PC{0,40}") {
        let text = start + &rest;
        if let Ok(name) = text.parse::<ArtifactName>() {
            prop_assert_eq!(name.to_string(), text);
        }
    }

    #[test]
    fn good_names_are_read(
        host in "[a-z][a-z0-9]{0,8}(\\.[a-z]{1,5}){0,3}(:[1-9][0-9]{0,3})?",
        path in "[a-z0-9]{1,5}([._-][a-z0-9]{1,5}){0,2}(/[a-z0-9]{1,5}(__[a-z0-9]{1,3})?){0,3}",
        tag in "[a-zA-Z0-9_][a-zA-Z0-9._-]{0,20}",
    ) {
        let text = format!("oci://{host}/{path}:{tag}");
        prop_assert_eq!(name(&text).to_string(), text);
    }
}
