//! What words do in a sentence, whatever it is about: English, and Hindi in Latin letters.

use std::collections::HashMap;
use std::ops::BitOr;
use std::sync::LazyLock;

/// What a word may do, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Roles(u16);

impl Roles {
    /// May begin or end a question.
    pub(super) const ASKING: Self = Self(1);
    /// May decline something.
    pub(super) const DECLINING: Self = Self(1 << 1);
    /// Asks for something to be done.
    pub(super) const REQUEST: Self = Self(1 << 2);
    /// Says that something is wanted or needed, if not of whom.
    pub(super) const WANT: Self = Self(1 << 3);
    /// Of the user's own, or about to be, or of whoever is asked.
    pub(super) const OWN: Self = Self(1 << 4);
    /// Of an offer: its price, its time, its place.
    pub(super) const OFFER: Self = Self(1 << 5);
    /// Says no.
    pub(super) const NEGATION: Self = Self(1 << 6);
    /// Joins a part of a sentence to another.
    pub(super) const JOINING: Self = Self(1 << 7);
    /// Begins anew after something that is declined.
    pub(super) const RESTART: Self = Self(1 << 8);
    /// Leads into a question or a refusal, and says nothing itself.
    pub(super) const LEAD_IN: Self = Self(1 << 9);
    /// Limits what is named to a part, a quality or a circumstance of it.
    pub(super) const LIMITING: Self = Self(1 << 10);
    /// Follows what is declined, out of courtesy or for emphasis.
    pub(super) const COURTESY: Self = Self(1 << 11);
    /// Is true of a thing or not.
    pub(super) const PREDICATE: Self = Self(1 << 12);
    /// Stands for what was named before.
    pub(super) const PRONOUN: Self = Self(1 << 13);
    /// What is done to get something.
    pub(super) const OBTAINING: Self = Self(1 << 14);
    /// Begins the name of a thing, or says what is to be done with it.
    pub(super) const TAKING: Self = Self(1 << 15);

    /// Whether the sets have a role in common.
    pub(super) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for Roles {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.with(other)
    }
}

const WORDS: &[(Roles, &[&str])] = &[
    (
        Roles::ASKING,
        &[
            "what",
            "whats",
            "wat",
            "wats",
            "how",
            "hows",
            "why",
            "who",
            "which",
            "when",
            "is",
            "are",
            "does",
            "do",
            "did",
            "can",
            "could",
            "will",
            "should",
            "explain",
            "define",
            "meaning",
            "definition",
            "full",
            "history",
            "origin",
            "origins",
            "benefit",
            "benefits",
            "advantage",
            "advantages",
            "disadvantages",
            "pros",
            "difference",
            "differences",
            "diffrence",
            "diffrences",
            "diference",
            "vs",
            "versus",
            "kya",
            "kyu",
            "kyun",
            "kyon",
            "kaise",
            "matlab",
            "farak",
            "fark",
            "farq",
            "antar",
            "fayde",
            "faayde",
            "fayda",
            "nuksan",
            "nuksaan",
            "itihas",
            "itihaas",
            "prakar",
            "types",
            "samjhao",
            "samjha",
            "samjhaiye",
            "samjhaye",
            "baare",
            "kise",
            "kisne",
            "sach",
        ],
    ),
    (
        Roles::DECLINING,
        &[
            "no",
            "not",
            "t",
            "dont",
            "doesnt",
            "didnt",
            "never",
            "nevermind",
            "forget",
            "skip",
            "ignore",
            "scrap",
            "leave",
            "drop",
            "stop",
            "nahi",
            "nahin",
            "nhi",
            "mat",
            "rehne",
            "rehnedo",
            "chhodo",
            "chodo",
            "chhod",
            "chod",
            "hatao",
            "bhool",
        ],
    ),
    (
        Roles::REQUEST,
        &[
            "book",
            "boook",
            "booking",
            "reserve",
            "schedule",
            "arrange",
            "find",
            "quote",
            "quotes",
            "quotation",
            "chahiye",
            "chaiye",
            "chahie",
            "karwa",
            "karwao",
            "karwana",
            "karwani",
            "karwane",
            "karana",
            "karani",
            "karo",
            "kardo",
            "kijiye",
            "dilwa",
            "dila",
            "lagwa",
            "lagwana",
            "dikhao",
            "dhoondo",
            "dhundo",
            "bulao",
            "bhejo",
            "banwana",
        ],
    ),
    (
        Roles::WANT,
        &[
            "need", "needs", "want", "wants", "wanna", "buy", "get", "join", "enrol", "enroll", "register", "looking",
            "lena", "leni", "fix", "repair", "replace", "renew", "switch", "show", "give", "order",
        ],
    ),
    (
        Roles::OWN,
        &[
            "my", "mine", "our", "ours", "mera", "meri", "mere", "hamara", "hamari", "hamare", "apna", "apni", "apne",
            "your", "yours", "aap", "aapka", "aapki", "aapke", "tum", "new", "naya", "nayi", "naye",
        ],
    ),
    (
        Roles::OFFER,
        &[
            "price",
            "prices",
            "cost",
            "costs",
            "charge",
            "charges",
            "fee",
            "fees",
            "rate",
            "rates",
            "cheap",
            "cheaper",
            "cheapest",
            "affordable",
            "sasta",
            "sasti",
            "saste",
            "kitna",
            "kitne",
            "kitni",
            "paise",
            "rupees",
            "rs",
            "discount",
            "offer",
            "offers",
            "available",
            "availability",
            "slot",
            "slots",
            "timing",
            "timings",
            "open",
            "near",
            "nearby",
            "nearest",
            "close",
            "paas",
            "nazdeek",
            "nazdik",
            "here",
            "yahan",
            "wahan",
            "km",
            "today",
            "tonight",
            "tonite",
            "tomorrow",
            "tmrw",
            "weekend",
            "next",
            "aaj",
            "kal",
            "parso",
            "baje",
            "pm",
            "monday",
            "tuesday",
            "wednesday",
            "thursday",
            "friday",
            "saturday",
            "sunday",
        ],
    ),
    (
        Roles::NEGATION,
        &["no", "not", "t", "dont", "doesnt", "isnt", "wont", "cant", "never", "nahi", "nahin", "nhi", "stopped"],
    ),
    (Roles::JOINING, &["and", "aur", "but", "lekin", "magar", "then", "phir", "so", "plus", "because", "kyunki"]),
    (Roles::RESTART, &["i", "we", "just", "only", "sirf", "bas", "instead", "rather"]),
    (
        Roles::LEAD_IN,
        &[
            "hey",
            "hi",
            "hello",
            "ok",
            "okay",
            "so",
            "well",
            "please",
            "pls",
            "plz",
            "kindly",
            "sorry",
            "actually",
            "first",
            "quickly",
            "quick",
            "just",
            "question",
            "curious",
            "wondering",
            "i",
            "m",
            "am",
            "was",
            "d",
            "would",
            "like",
            "want",
            "love",
            "to",
            "know",
            "understand",
            "ask",
            "learn",
            "about",
            "can",
            "could",
            "will",
            "you",
            "u",
            "someone",
            "somebody",
            "anyone",
            "tell",
            "me",
            "us",
            "let",
            "do",
            "the",
            "a",
            "some",
            "all",
            "what",
            "whats",
            "wat",
            "s",
            "is",
            "are",
            "yaar",
            "bhai",
            "bhaiya",
            "sir",
            "madam",
            "accha",
            "acha",
            "haan",
            "batao",
            "bata",
            "bataiye",
            "mujhe",
            "humein",
            "hame",
            "koi",
            "abhi",
            "explain",
            "zara",
        ],
    ),
    (
        Roles::LIMITING,
        &[
            "at",
            "in",
            "on",
            "with",
            "from",
            "by",
            "only",
            "just",
            "that",
            "which",
            "who",
            "before",
            "after",
            "too",
            "very",
            "so",
            "enough",
            "of",
            "until",
            "unless",
            "because",
            "than",
            "like",
            "is",
            "are",
            "was",
            "has",
            "have",
            "had",
            "morning",
            "evening",
            "afternoon",
            "expensive",
            "pe",
            "par",
            "mein",
            "wala",
            "wali",
            "wale",
            "se",
            "tak",
            "to",
            "subah",
            "shaam",
            "itna",
            "itni",
        ],
    ),
    (
        Roles::COURTESY,
        &[
            "please",
            "pls",
            "thanks",
            "thank",
            "you",
            "needed",
            "required",
            "wanted",
            "question",
            "questions",
            "stuff",
            "talk",
            "now",
            "anymore",
            "more",
            "any",
            "yet",
            "hai",
            "all",
        ],
    ),
    (
        Roles::PREDICATE,
        &[
            "mandatory",
            "compulsory",
            "necessary",
            "obligatory",
            "legal",
            "illegal",
            "allowed",
            "safe",
            "dangerous",
            "harmful",
            "healthy",
            "good",
            "bad",
            "better",
            "worth",
            "worse",
            "than",
            "same",
            "useful",
            "important",
            "help",
            "helps",
            "cure",
            "cures",
            "heal",
            "cover",
            "covers",
            "include",
            "includes",
            "cause",
            "causes",
            "reduce",
            "reduces",
            "affect",
            "affects",
            "increase",
            "increases",
            "consume",
            "consumes",
            "use",
            "uses",
            "burn",
            "burns",
            "improve",
            "improves",
            "prevent",
            "prevents",
            "damage",
            "damages",
            "make",
            "makes",
            "zaroori",
            "jaroori",
            "zaruri",
            "jaruri",
            "anivarya",
            "faydemand",
            "nuksandayak",
            "jurm",
            "gunah",
        ],
    ),
    (
        Roles::PRONOUN,
        &[
            "it", "one", "ones", "mine", "them", "same", "wahi", "iska", "iski", "iske", "isko", "ise", "uska", "uski",
            "uske", "usko",
        ],
    ),
    (
        Roles::OBTAINING,
        &[
            "book",
            "buy",
            "do",
            "get",
            "join",
            "take",
            "have",
            "see",
            "hear",
            "purchase",
            "attend",
            "go",
            "try",
            "order",
            "insure",
            "schedule",
            "arrange",
            "offer",
            "suggest",
            "recommend",
            "sell",
            "show",
            "send",
        ],
    ),
    (
        Roles::TAKING,
        &[
            "a", "an", "the", "my", "our", "this", "that", "book", "fix", "repair", "service", "clean", "check",
            "renew", "insure", "give", "send", "show", "make", "need", "want", "buy", "get", "do", "find", "arrange",
            "order",
        ],
    ),
];

static ROLES: LazyLock<HashMap<&str, Roles>> = LazyLock::new(|| {
    let mut roles: HashMap<&str, Roles> = HashMap::new();
    for (role, words) in WORDS {
        for word in *words {
            let entry = roles.entry(word).or_default();
            *entry = *entry | *role;
        }
    }
    roles
});

/// What a word in lower case may do: nothing, if it is the name of something.
pub(super) fn roles_of(word: &str) -> Roles {
    ROLES.get(word).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_all_the_roles_that_it_is_listed_under() {
        assert_eq!(roles_of("just"), Roles::RESTART | Roles::LEAD_IN | Roles::LIMITING);
        assert_eq!(roles_of("condenser"), Roles::default());
        assert!(roles_of("just").without(Roles::LEAD_IN).meets(Roles::RESTART));
        assert!(!roles_of("just").without(Roles::LEAD_IN).meets(Roles::LEAD_IN | Roles::ASKING));
    }
}
