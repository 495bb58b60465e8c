use super::*;
use intent_gateway_domain::user::{Orchestrator, Pseudonym};
use intent_gateway_testing::users::{asker, orchestrator};

fn reference() -> OptionReference {
    OptionReference {
        partner: "coolcar".to_owned(),
        intent: "auto.book_ac_service".to_owned(),
        contract: Digest::of(b"contract"),
        request_id: "r1".to_owned(),
        option_id: "slot-1".to_owned(),
        number: 3,
        receipt: Some("rank_1".to_owned()),
        asker: Some(AskerMark::of(&asker("user-1"))),
        result_token: Some("t".to_owned()),
        expires_at_ms: Timestamp::from_ms(1),
        answered_at_ms: Some(Timestamp::from_ms(0)),
        quoted: None,
    }
}

fn booking() -> BookingReference {
    let OptionReference { partner, intent, contract, asker, .. } = reference();
    let (booking_id, option) = ("BK-1".to_owned(), Some(("rank_1".to_owned(), 3)));
    let member = Some("booking_id".to_owned());
    BookingReference { partner, intent, contract, booking_id, member, asker, option, order: None }
}

#[test]
fn opens_only_what_it_sealed() {
    let sealer = ReferenceSealer::new(&Secret::new("k"));
    let sealed = [
        (sealer.seal(&reference()), Reference::Option(reference())),
        (sealer.seal_booking(&booking()), Reference::Booking(booking())),
    ];
    for (text, opened) in sealed {
        assert_eq!(sealer.open(&text), Ok(opened.clone()));
        let other = ReferenceSealer::new(&Secret::new("other"));
        assert_eq!(other.open(&text), Err(InvalidReference));
        assert_eq!(other.with_previous(&[Secret::new("k")]).open(&text), Ok(opened), "after a rotation");
        for at in 0..text.len() {
            let mut altered = text.clone().into_bytes();
            altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(altered).expect("ASCII");
            assert_eq!(sealer.open(&altered), Err(InvalidReference), "at {at}");
        }
    }
    for strange in ["", "opt_", "opt_auto.fix.", "opt_auto.fix.AAAA", "bkg_.", "x"] {
        assert_eq!(sealer.open(strange), Err(InvalidReference), "{strange}");
    }
}

#[test]
fn a_holder_reads_the_intent_alone() {
    let sealer = ReferenceSealer::new(&Secret::new("k"));
    let text = sealer.seal(&reference());
    assert_eq!(text, sealer.seal(&reference()), "the same reference has the same text");
    let tail = text.strip_prefix("opt_auto.book_ac_service.").expect("the intent");
    let bytes = URL_SAFE_NO_PAD.decode(tail).expect("URL-safe");
    let AskerMark(mark) = reference().asker.expect("one");
    let (written, contract) = (hex(&mark), Digest::of(b"contract"));
    let texts = ["coolcar", "slot-1", "rank_1", "book_ac_service", &written].map(str::as_bytes);
    for hidden in texts.into_iter().chain([&mark[..], &contract.as_bytes()[..]]) {
        assert!(!bytes.windows(hidden.len()).any(|window| window == hidden), "{hidden:?}");
    }
    let other = sealer.seal(&OptionReference { number: 4, ..reference() });
    let nonce = |text: &str| text["opt_auto.book_ac_service.".len()..][..sealing::NONCE_BYTES].to_owned();
    assert_ne!(nonce(&text), nonce(&other));
}

#[test]
fn a_reference_says_no_other_intent_than_it_is_of() {
    let sealer = ReferenceSealer::new(&Secret::new("k"));
    let other = sealer.seal(&reference()).replacen("auto.book_ac_service", "auto.book_wheel", 1);
    assert_eq!(sealer.open(&other), Err(InvalidReference));
}

#[test]
fn what_was_signed_before_references_were_sealed_still_opens() {
    let sealer = ReferenceSealer::new(&Secret::new("k"));
    for (text, opened) in [
        (include_str!("signed_option.txt"), Reference::Option(reference())),
        (include_str!("signed_booking.txt"), Reference::Booking(booking())),
    ] {
        let text = text.trim_end();
        assert_eq!(sealer.open(text), Ok(opened));
        let other = ReferenceSealer::new(&Secret::new("other"));
        assert_eq!(other.open(text), Err(InvalidReference));
        let (claims, mac) = text.rsplit_once('.').expect("signed");
        for altered in [format!("{claims}A.{mac}"), format!("{claims}.A{}", &mac[1..]), format!("{claims}.")] {
            assert_eq!(sealer.open(&altered), Err(InvalidReference), "{altered}");
        }
    }
}

#[test]
fn a_reference_is_for_one_asker_and_one_from_before_for_the_heir_alone() {
    let made_for = |mark| Reference::Option(OptionReference { asker: mark, ..reference() });
    let of = |orchestrator, name: Option<&str>| {
        Asker::new(orchestrator, name.map(|name| Pseudonym::parse(name).expect("sound")).as_ref())
    };
    let heir = || orchestrator().with_unassigned();
    let other = || Orchestrator::new("test-issuer", "another");
    let now = made_for(Some(AskerMark::of(&asker("user-1"))));
    assert!(now.is_of(&asker("user-1")) && now.is_of(&of(heir(), Some("user-1"))));
    for stranger in [of(other(), Some("user-1")), asker("user-2"), of(heir(), None), of(orchestrator(), None)] {
        assert!(!now.is_of(&stranger), "{stranger:?}");
    }
    let before = made_for(Some(AskerMark::of_text("user-1")));
    assert!(before.is_of(&of(heir(), Some("user-1"))));
    for stranger in [asker("user-1"), of(other(), Some("user-1")), of(heir(), Some("user-2")), of(heir(), None)] {
        assert!(!before.is_of(&stranger), "{stranger:?}");
    }
    let for_nobody = made_for(None);
    assert!(for_nobody.is_of(&of(heir(), None)));
    for stranger in [of(heir(), Some("user-1")), of(orchestrator(), None), asker("user-1")] {
        assert!(!for_nobody.is_of(&stranger), "{stranger:?}");
    }
}

#[test]
fn one_kind_is_never_taken_for_the_other() {
    let sealer = ReferenceSealer::new(&Secret::new("k"));
    let as_booking = sealer.seal(&reference()).replacen(OPTION, BOOKING, 1);
    assert_eq!(sealer.open(&as_booking), Err(InvalidReference));
}

#[test]
fn an_option_that_was_sealed_as_json_still_opens() {
    let key = KindKeys::of("option-reference", &Secret::new("k"));
    let quoted = OptionReference { quoted: Some(Quote::of("{\"price\":1}")), ..reference() };
    let bare = OptionReference { receipt: None, asker: None, result_token: None, answered_at_ms: None, ..reference() };
    let sealer = ReferenceSealer::new(&Secret::new("k"));
    for option in [reference(), quoted, bare] {
        let before = key.seal(OPTION, &option.intent, &option);
        let now = sealer.seal(&option);
        assert_eq!(sealer.open(&before), Ok(Reference::Option(option.clone())));
        assert_eq!(sealer.open(&now), Ok(Reference::Option(option)));
        assert!(now.len() * 3 < before.len() * 2, "{} and {} bytes", now.len(), before.len());
    }
}

#[test]
fn options_of_one_answer_are_sealed_as_each_by_itself() {
    let sealer = ReferenceSealer::new(&Secret::new("k"));
    let of_answer = sealer.of_answer(&reference());
    let too_long = Quote::of(&format!("\"{}\"", "x".repeat(QUOTE_MAX_BYTES)));
    assert_eq!(too_long, Quote::TooLong);
    for (option_id, number, quoted) in
        [("slot-1", 3, None), ("", 0, None), ("slot-2", u32::MAX, Some(Quote::of("{}"))), ("slot-3", 4, Some(too_long))]
    {
        let text = of_answer.seal(option_id, number, quoted.as_ref());
        let option = OptionReference { option_id: option_id.to_owned(), number, quoted, ..reference() };
        assert_eq!(text, sealer.seal(&option));
        assert_eq!(sealer.open(&text), Ok(Reference::Option(option)));
    }
}

#[test]
fn an_option_that_does_not_fit_a_reference_is_not_quoted() {
    let sealer = ReferenceSealer::new(&Secret::new("k"));
    let long = OptionReference {
        option_id: "o".repeat(3 * 1024),
        quoted: Some(Quote::of(&"1".repeat(QUOTE_MAX_BYTES))),
        ..reference()
    };
    let text = sealer.seal(&long);
    assert!(text.len() <= REFERENCE_MAX_BYTES, "{}", text.len());
    assert_eq!(sealer.open(&text), Ok(Reference::Option(OptionReference { quoted: Some(Quote::TooLong), ..long })));
}

#[test]
fn the_cipher_is_the_one_that_others_call_by_its_name() {
    use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
    use chacha20poly1305::{XChaCha20Poly1305, XNonce};

    let keys = KindKeys::of("option-reference", &Secret::new("k"));
    let other = XChaCha20Poly1305::new(&keys.sealing.into());
    for length in [0, 1, 15, 16, 17, 63, 64, 65, 300, 5_000] {
        let claims: Vec<u8> = (0..length).map(|at: u32| at.to_le_bytes()[0]).collect();
        let room = [&[0; sealing::NONCE_BYTES][..], &claims].concat();
        let sealed = keys.encrypt_anew("auto.book_ac_service", room);
        let nonce: [u8; sealing::NONCE_BYTES] = *sealed.first_chunk().expect("a nonce");
        let payload = Payload { msg: &claims, aad: b"auto.book_ac_service" };
        let expected = other.encrypt(&XNonce::from(nonce), payload).expect("short enough");
        assert_eq!(sealed[sealing::NONCE_BYTES..], expected, "{length} bytes");
        assert_eq!(keys.decrypt("auto.book_ac_service", &sealed), Some(claims));
    }
}
