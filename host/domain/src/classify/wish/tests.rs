use proptest::prelude::*;

use super::keep_wishes;
use crate::classify::words::words;

/// The words that are kept.
fn wishes(utterance: &str) -> String {
    words(&keep_wishes(utterance)).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn assert_left_out(utterances: &[&str]) {
    for utterance in utterances {
        assert_eq!(wishes(utterance), "", "{utterance}");
    }
}

#[track_caller]
fn assert_kept(utterances: &[&str]) {
    for utterance in utterances {
        assert_eq!(keep_wishes(utterance), *utterance);
    }
}

#[track_caller]
fn assert_keeps(utterances: &[(&str, &str)]) {
    for (utterance, rest) in utterances {
        assert_eq!(wishes(utterance), *rest, "{utterance}");
    }
}

#[test]
fn what_a_thing_is_or_does_is_information() {
    assert_left_out(&[
        "what is a samovar",
        "What's tea?",
        "whats tea",
        "what are teapots",
        "hey can you please tell me what is tea",
        "what is the purpose of a samovar",
        "what does a samovar do",
        "what does a tea policy cover",
        "what happens if tea boils over",
        "what causes bitter tea",
        "what kind of leaf is used in tea",
        "what should one eat with tea",
        "I was wondering what a samovar is",
        "explain what tea is all about",
    ]);
    assert_kept(&[
        "what is wrong with the samovar",
        "what is the cheapest samovar",
        "what is a good samovar",
        "what is needed to brew tea",
        "what does the samovar",
        "what do you cover",
        "what samovar fits a party",
        "the samovar is what is broken",
        "what should I do, the samovar is cold",
    ]);
}

#[test]
fn what_a_word_means_is_information_even_about_ones_own() {
    assert_left_out(&[
        "what does oolong mean",
        "what do the marks on my samovar mean",
        "what is the meaning of oolong",
        "what is the difference between my tea and coffee",
        "difference between my tea and coffee",
        "full form of my BOPF tea",
        "history of tea",
        "is it true that my tea cures colds",
        "how does my samovar work",
        "explain how my samovar works",
        "how is the age of my tea measured",
    ]);
    assert_kept(&["what does my samovar do", "explain my options for tea", "is my tea healthy"]);
}

#[test]
fn how_and_why_things_are_so_is_information() {
    assert_left_out(&[
        "how do samovars keep water hot",
        "how often should a samovar be cleaned",
        "how long does tea last",
        "how many types of tea are there",
        "how to descale a samovar yourself",
        "why do teapots drip",
        "why is tea so bitter",
        "who invented tea",
        "who was the founder of the tea house",
        "when was tea brought to India",
    ]);
    assert_kept(&[
        "how do I brew tea",
        "how do we brew tea",
        "how does Saturday work",
        "how does noon work for my tea",
        "how soon can a samovar be in work",
        "how long does a delivery take",
        "how many samovars are there",
        "how to brew tea",
        "how is the tea house",
        "why is the samovar cold",
        "why is samovar water not hot",
        "why does samovar water keep dripping",
        "why is samovar water dripping",
        "who is free for tea",
        "when did the samovar break",
    ]);
}

#[test]
fn whether_something_is_true_of_a_thing_is_information() {
    assert_left_out(&[
        "is tea healthy",
        "does tea really reduce stress",
        "can tea cure a cold",
        "are samovars mandatory in trains",
        "is it safe to drink tea at night",
        "is oolong the same as green tea",
        "oolong or green tea, which one is better",
        "oolong vs green tea",
        "benefits of tea",
        "tell me the pros and cons of tea",
        "define oolong",
    ]);
    assert_kept(&[
        "is there a healthy tea",
        "can you make tea",
        "does someone make tea",
        "is the tea house good",
        "is tea ready",
        "is it possible to brew tea",
        "my samovar does make noise",
        "a person with a history of colds",
        "the samovar is bad",
    ]);
}

#[test]
fn questions_in_hindi_are_information() {
    assert_left_out(&[
        "samovar kya hota hai",
        "samovar kya hai",
        "oolong ka matlab kya hai",
        "mere samovar ka matlab",
        "samovar kaise kaam karta hai",
        "chai kaise banti hai",
        "oolong aur green tea mein kya farak hai",
        "oolong aur chai mein antar samjhao",
        "chai kadwi kyun hoti hai",
        "chai ke fayde batao",
        "chai ke kitne types hote hain",
        "oolong samjhao",
        "oolong explain karo",
        "chai ke baare mein batao",
        "chai kise kehte hain",
        "chai kisne banayi",
        "kya ye sach hai ki chai garam hoti hai",
        "kya chai zaroori hai",
        "chai zaroori hai kya",
    ]);
    assert_kept(&[
        "samovar mein problem kya hai",
        "chai ka rate kya hai",
        "kya aap chai banate ho",
        "kya kal chai milegi",
        "koi chai hai kya",
        "chai kaise mangwaun",
        "samovar garam kyun nahi ho raha",
        "samovar thanda kyun ho gaya",
        "chai do, koi farak nahi padta",
        "samovar se farak hai",
        "matlab samovar thanda hai",
        "chai se koi fayda",
    ]);
}

#[test]
fn a_question_for_an_offer_is_a_wish() {
    for offer in ["near me", "tomorrow", "this weekend", "on Sunday", "at 7 pm", "cost", "for a new house"] {
        assert_kept(&[&format!("what is tea {offer}"), &format!("is tea healthy {offer}")]);
    }
    assert_kept(&[
        "why do I need tea",
        "why do people buy tea",
        "explain oolong chahiye",
        "what does oolong mean book it",
    ]);
    // Who wants to know wants nothing else.
    assert_left_out(&["I want to know what tea is", "I would like to learn about what tea is"]);
}

#[test]
fn a_question_reaches_to_the_end_of_its_sentence_or_to_a_wish() {
    assert_keeps(&[
        ("What is tea? Some biscuits please.", "Some biscuits please"),
        ("what is the difference between tea, coffee and cocoa", ""),
        ("what is tea, and book biscuits", "and book biscuits"),
        ("book biscuits, and what is tea", "book biscuits"),
        ("tea, coffee aur cocoa mein kya farak hai", ""),
        ("biscuits chahiye aur samovar kya hota hai", "biscuits chahiye"),
        ("what is tea, the oven does not heat", "the oven does not heat"),
        ("my oven is cold what does tea mean", "my oven is cold"),
        ("what is tea at 7 a.m. or so", ""),
        ("What is tea? Forget the coffee.", ""),
    ]);
}

#[test]
fn a_wish_may_refer_to_the_question_beside_it() {
    assert_kept(&[
        "What is hot tea? Book me one.",
        "Tell me what oolong is and then buy it.",
        "what is a samovar, mine is broken",
        "samovar kya hota hai, mera wala theek nahi hai",
    ]);
    // Nobody asks for it here.
    assert_keeps(&[("What is hot tea? It puzzled everybody.", "It puzzled everybody")]);
}

#[test]
fn what_is_not_wanted_is_left_out() {
    assert_keeps(&[
        ("I don't want tea, coffee please", "I coffee please"),
        ("i dont need tea i need coffee", "i i need coffee"),
        ("I do not want to drink", "I do not want to drink"),
        ("I do not want to buy tea", "I"),
        ("I don't want to go to a tea house", "I"),
        ("we don't really need any tea, just coffee", "we just coffee"),
        ("I'm not looking for a samovar", "I"),
        ("not interested in tea", ""),
        ("not here for tea, coffee", "coffee"),
        ("please don't show me tea, show coffee", "please show coffee"),
        ("they don't offer tea", "they don t offer tea"),
        ("I can't book tea", "I can t book tea"),
        ("never mind the tea", ""),
        ("there is no need for tea", "there is"),
        ("no interest in tea at all", ""),
        ("tea is not needed, only coffee", "only coffee"),
        ("tea is not needed hot", "tea is not needed hot"),
    ]);
}

#[test]
fn what_is_dismissed_is_left_out() {
    assert_keeps(&[
        ("forget the tea, coffee please", "coffee please"),
        ("forget about tea", ""),
        ("skip tea and bring coffee", "and bring coffee"),
        ("leave the tea", ""),
        ("stop offering me tea", ""),
        ("don't forget the tea", "don t forget the tea"),
        ("drop milk, not sugar", "drop milk not sugar"),
        ("stop the dripping", "stop the dripping"),
        ("drop in for tea", "drop in for tea"),
    ]);
}

#[test]
fn a_plain_no_declines_beside_what_is_wanted_instead() {
    assert_keeps(&[
        ("no tea please", ""),
        ("no tea for me, thanks", "thanks"),
        ("no tea thank you", ""),
        ("no tea questions, coffee", "coffee"),
        ("no tea, just make coffee", "just make coffee"),
        ("no tea, only the coffee", "only the coffee"),
        ("No tea. Just coffee, get it", "No tea Just coffee get it"),
        ("just the coffee, no tea", "just the coffee"),
        ("no tea, bas coffee chahiye", "bas coffee chahiye"),
        ("no tea, coffee instead", "coffee instead"),
        ("not the tea, the coffee", "the coffee"),
    ]);
    assert_kept(&[
        "no, need to buy tea",
        "no hot water, the samovar",
        "the samovar has no water please",
        "no hot water, just steam",
        "no hot water at all",
        "no hot water now",
        "no water in the samovar, just fix it",
        "not the tea",
        "not the first time the samovar breaks, mend it",
        "not quite cold, the tea",
    ]);
}

#[test]
fn what_is_declined_in_hindi_is_left_out() {
    assert_keeps(&[
        ("chai nahi chahiye, coffee lao", "coffee lao"),
        ("mujhe chai nahi chahiye", "mujhe"),
        ("chai ki zaroorat nahi hai", ""),
        ("chai nahi lena", ""),
        ("chai mat book karo", ""),
        ("chai mat karo", ""),
        ("chai rehne do, coffee lao", "coffee lao"),
        ("chai chhodo", ""),
        ("chai bhool jao", ""),
        ("chai nahi, coffee chahiye", "coffee chahiye"),
    ]);
    assert_kept(&[
        "subah wali chai nahi chahiye, shaam ki do",
        "thandi chai se nahi chahiye",
        "renew nahi karna",
        "chai mat",
        "paani garam nahi, theek karo",
        "paani nahi, thanda hai",
        "paani nahi hai",
        "chai thandi nahi, chahiye garam",
    ]);
}

#[test]
fn a_part_or_a_quality_that_is_declined_leaves_the_wish() {
    assert_kept(&[
        "I don't want tea at home",
        "I don't want tea in the morning",
        "I don't want just tea",
        "I don't want cheap tea",
        "I don't want tea that is cold",
        "I don't want the samovar to break",
        "not a tea with milk, black",
        "forget the tea in the kitchen",
        "I don't want one two three four five six seven eight nine",
    ]);
}

#[test]
fn what_is_left_out_leaves_a_joint() {
    assert_eq!(keep_wishes("green forget the tea, cups"), "green forget the tea, cups");
    assert_eq!(keep_wishes("cups, skip the TEA, saucers"), "cups, ,, saucers");
}

#[test]
fn letters_beyond_ascii_stay_in_place() {
    assert_eq!(keep_wishes("İÄ – skip the tea, ÇAY चाय!"), "İÄ – ,, ÇAY चाय!");
}

#[test]
fn what_comes_after_the_bound_is_left_as_it_is() {
    let filler = "so ".repeat(crate::classify::words::UTTERANCE_MAX_WORDS);
    let utterance = format!("{filler}what is tea");
    assert_eq!(keep_wishes(&utterance), utterance);
}

/// Words that rules look for, joints between them, and things.
const SAID: &[&str] = &[
    "what",
    "is",
    "how",
    "does",
    "why",
    "kya",
    "hai",
    "matlab",
    "no",
    "not",
    "don't",
    "want",
    "need",
    "to",
    "forget",
    "the",
    "nahi",
    "chahiye",
    "mat",
    "rehne",
    "do",
    "at",
    "all",
    "just",
    "it",
    "tea",
    "cups",
    ",",
    "?",
    ".",
    "and",
    "aur",
    "difference",
    "between",
    "baare",
    "mein",
    "who",
    "of",
    "thank",
    "you",
    "stop",
    "offering",
    "me",
    "work",
    "never",
    "mind",
];

proptest! {
    /// Whatever is said: what is kept was said, in the same order.
    #[test]
    fn only_words_that_were_said_are_kept(said in prop::collection::vec(prop::sample::select(SAID), 0..24), other in ".{0,40}") {
        for utterance in [said.join(" "), other] {
            let kept = keep_wishes(&utterance);
            let mut said = words(&utterance);
            for word in words(&kept) {
                prop_assert!(said.any(|one| one == word), "{}: {}", utterance, kept);
            }
        }
    }
}
