use proptest::prelude::*;
use semver::VersionReq;

use super::{tag, version};
use crate::{Chosen, Selector, Tag};

fn range(text: &str) -> Selector {
    Selector::Range(VersionReq::parse(text).expect("a range"))
}

fn choose(selector: &Selector, tags: &[&str]) -> Option<String> {
    let tags: Vec<Tag> = tags.iter().map(|text| tag(text)).collect();
    selector.choose(&tags).map(|chosen| chosen.tag.to_string())
}

#[test]
fn the_highest_version_of_a_range_is_followed() {
    let tags = ["1.9.0", "1.10.0", "v1.11.0", "2.0.0", "latest", "nightly", "1.12", "1.12.0-rc.1", "sha256-abc"];
    for (wanted, expected) in [
        ("^1", Some("v1.11.0")),
        ("~1.9", Some("1.9.0")),
        ("<1.11", Some("1.10.0")),
        ("*", Some("2.0.0")),
        ("^3", None),
        // A pre-release is followed by who names one of the same version.
        (">=1.12.0-alpha, <2", Some("1.12.0-rc.1")),
        (">=1.11.0-alpha, <2", Some("v1.11.0")),
    ] {
        assert_eq!(choose(&range(wanted), &tags).as_deref(), expected, "{wanted}");
    }
    assert_eq!(choose(&range("^1"), &["v1.2.3", "1.2.3"]).as_deref(), Some("1.2.3"));
    assert_eq!(choose(&range("^1"), &["1.2.3", "v1.2.3"]).as_deref(), Some("1.2.3"));
    assert_eq!(choose(&range("^1"), &["1.2.3_5", "1.2.3_7", "1.2.3_6"]).as_deref(), Some("1.2.3_7"));
    assert_eq!(choose(&range("^1"), &["vv1.2.3", "V1.2.3", "1.2.3_4_5", "01.2.3"]), None);
}

#[test]
fn a_tag_is_followed_by_its_name() {
    let tags = [tag("1.2.3"), tag("stable"), tag("latest")];
    let stable = Selector::Tag(tag("stable")).choose(&tags);
    assert_eq!(stable, Some(Chosen { tag: tag("stable"), version: None }));
    let exact = Selector::Tag(tag("1.2.3")).choose(&tags);
    assert_eq!(exact, Some(Chosen { tag: tag("1.2.3"), version: Some(version("1.2.3")) }));
    assert_eq!(Selector::Tag(tag("1.2")).choose(&tags), None);
}

proptest! {
    #[test]
    fn the_order_of_tags_makes_no_difference(
        tags in proptest::collection::vec("v?[0-2]\\.[0-3]\\.[0-3](-rc\\.[0-2])?(_[0-2])?", 0..12),
        wanted in "(\\^|~|>=|<)[0-2]\\.[0-3](\\.[0-3](-rc\\.[0-2])?)?",
        turn in 0_usize..12,
    ) {
        let selector = range(&wanted);
        let tags: Vec<Tag> = tags.iter().map(|text| tag(text)).collect();
        let mut turned = tags.clone();
        if !turned.is_empty() {
            turned.rotate_left(turn % tags.len());
        }
        turned.reverse();
        let chosen = selector.choose(&tags);
        prop_assert_eq!(&chosen, &selector.choose(&turned));
        let Selector::Range(range) = &selector else { unreachable!() };
        let highest = tags.iter().filter_map(Tag::version).filter(|version| range.matches(version)).max();
        prop_assert_eq!(chosen.and_then(|chosen| chosen.version), highest);
    }
}
