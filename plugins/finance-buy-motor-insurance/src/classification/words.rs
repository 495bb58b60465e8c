//! The words of this contract, as tables: English, Hindi in Latin letters, and spellings that the tolerance for
//! misspelt words does not reach. Laid out by hand, several to a line.

use contract_sdk::any_of;
use contract_sdk::lexicon::{AnyOf, vehicles};

/// Insurance, named outright.
pub(super) const INSURANCE: AnyOf = &[
    "insurance", "insurances", "insure", "insured", "insuring", "insurer", "insurers", "uninsured", "reinsure",
    "bima", "beema", "bimaa", "beemaa", "vima", "insu", "insur",
];

/// A policy, or what is paid for one.
pub(super) const POLICY: AnyOf = &[
    "policy", "policies", "palisi", "polisi", "premium", "premiums", "prmium",
];

/// Said of insurance, but of much else, too.
pub(super) const COVER: AnyOf = &["cover", "coverage", "covered", "covers"];

/// Kinds and parts of motor policies that no other insurance has.
pub(super) const MOTOR_TERMS: AnyOf = &[
    "third party", "3rd party", "third prty", "3rd prty", "thirdparty", "tp insurance", "tp cover", "tp policy",
    "tp only", "zero dep", "zero depp", "zero depreciation", "nil dep", "bumper to bumper", "own damage", "od cover",
    "od policy", "standalone od", "return to invoice", "rti cover", "cashless garage", "cashless garages",
    "engine protect", "engine protection", "comprehensive policy", "comprehensive insurance", "comprehensive cover",
    "first party insurance", "1st party insurance", "full insurance", "passenger cover", "key replacement",
];

/// A vehicle, by kind, or where one is bought.
pub(super) const VEHICLE_KIND: AnyOf = any_of![
    vehicles::CAR,
    vehicles::TWO_WHEELER,
    vehicles::COMMERCIAL,
    vehicles::ELECTRIC,
    &[
        "motor", "motar", "auto insurance", "showroom", "dealer", "dealership", "rto",
    ],
];

/// A vehicle, by kind, make or model.
pub(super) const VEHICLE: AnyOf = any_of![VEHICLE_KIND, vehicles::CAR_MAKES, vehicles::CAR_MODELS, vehicles::TWO_WHEELER_MODELS];

/// Something is to be bought, or is new.
pub(super) const PURCHASE: AnyOf = &[
    "buy", "buying", "by", "purchase", "get", "need", "want", "take", "new", "nw", "fresh", "bought", "brought",
    "quote", "quotes", "quotation", "lena", "leni", "lene", "chahiye", "chaiye", "chahie", "karwana", "karwani",
    "karana", "karani", "karwa", "kara", "dilwa", "dila", "nayi", "naya", "naye", "nai", "batao", "dikhao", "kharidi",
    "kharida", "kharidna", "li hai", "liya hai", "cheapest", "sasta", "sabse sasta", "issue", "issued", "arrange",
    "kitna", "kitne", "kitni", "price", "compare",
];

/// The policy before it has ended, so that nothing is left to renew.
pub(super) const LAPSED: AnyOf = &[
    "lapsed", "lapse", "lapsd", "lapsing", "expired", "expird", "expire ho gaya", "expire ho gayi", "expire ho chuka",
    "expire ho chuki", "expire hua", "expire hui", "expire huye", "khatam ho gaya", "khatam ho gayi", "khatam hue",
    "khatam hua", "khatam hui", "khatam ho chuka", "khatam ho chuki", "khatm ho gaya", "khatm ho gayi", "khatm hue",
    "ran out", "has run out", "run out months", "uninsured", "without insurance", "no insurance", "any insurance",
    "bina insurance", "months ago", "months back", "year ago", "years ago", "mahine pehle", "mahine ho gaye",
    "saal ho gaya", "break in", "not renewed", "never renewed", "didn t renew", "forgot to renew",
    "missed the renewal", "missed renewal", "renew nahi kiya", "renew nahi karaya", "renew nahi karwaya",
    "renewal miss",
];

/// The user leaves the insurer.
pub(super) const SWITCHING: AnyOf = &[
    "switch", "switching", "switched", "change insurer", "change insurers", "changing insurer", "change my insurer",
    "change the insurer", "change company", "change the company", "change insurance company", "other insurer",
    "other insurers", "another insurer", "different insurer", "new insurer", "other company", "other companies",
    "another company", "different company", "others would charge", "shift", "shifting", "port", "porting", "move to",
    "doosri company", "dusri company", "doosre company", "dusre company", "company badalni", "company badalna",
    "company badal", "insurer badal", "insurer badalna", "instead of renewing", "rather than renew",
    "rather than renewing", "not renew", "don t renew", "don t want to renew", "renew nahi karna",
    "renew nahi karani", "renew nahi karwana", "leave my insurer", "fed up", "elsewhere", "doosri jagah",
    "dusri jagah",
];

/// Motor insurance in so many words.
pub(super) const NAMED: AnyOf = &[
    "motor insurance", "motor policy", "motor policies", "car insurance", "car policy", "bike insurance",
    "bike policy", "vehicle insurance", "vehicle policy", "two wheeler insurance", "2 wheeler insurance",
    "scooter insurance", "scooty insurance", "auto insurance", "gaadi ka insurance", "gadi ka insurance",
    "gaadi ka bima", "gadi ka bima", "car ka insurance", "car ka bima", "bike ka insurance", "bike ka bima",
    "ev insurance", "truck insurance", "taxi insurance", "commercial vehicle insurance", "insurance of my car",
    "insurance for my car", "insurance for my bike", "insure my car", "insure my bike",
];

/// Health insurance, by name.
pub(super) const HEALTH: AnyOf = &[
    "health insurance", "helth insurance", "medical insurance", "mediclaim", "medi claim", "health policy",
    "health cover", "health plan", "medical cover", "medical policy", "family floater", "floater policy",
    "hospital cover", "hospitalisation cover", "hospitalization cover", "critical illness", "maternity cover",
    "maternity insurance", "maternity policy", "swasthya bima", "sehat bima", "health bima", "health ka insurance",
    "health ka bima", "insurance health", "cashless hospital", "cashless hospitals", "arogya", "ayushman",
];

/// Life insurance, by name.
pub(super) const TERM_LIFE: AnyOf = &[
    "term insurance", "term plan", "term plans", "term policy", "term cover", "term life", "term life insurance",
    "life insurance", "life cover", "life policy", "jeevan bima", "jeevan beema", "lic policy", "lic ki policy",
    "lic plan", "endowment", "ulip", "life ka insurance", "term wala", "life bima",
];

/// The user has a loss and wants it settled.
pub(super) const CLAIMS_FILED: AnyOf = &[
    "file a claim", "file claim", "file the claim", "filing a claim", "file my claim", "file an insurance claim",
    "file the insurance claim", "file insurance claim", "raise a claim", "raise claim", "make a claim",
    "make an insurance claim", "lodge a claim", "lodge claim", "register a claim", "register claim",
    "register my claim", "start a claim", "submit a claim", "put in a claim", "claim my insurance",
    "claim my car insurance", "claim my bike insurance", "claim the insurance", "claim insurance", "insurance claim",
    "own damage claim", "accident claim", "theft claim", "claim form", "claim status", "status of my claim",
    "claim number", "claim karna", "claim karni", "claim kar", "claim karwana", "claim karwani", "claim daalna",
    "claim dalna", "claim daal", "claim dal", "claim lena", "claim chahiye", "claim kaise", "claim file",
    "claim lagana", "claim lagwana", "claim process", "claim on my", "claim for the", "claim for my", "claim pass",
    "claim leni", "claim bharna", "claim intimation", "claim mil", "motor claim", "car claim", "bike claim",
    "insurance ka claim", "bima claim",
];

/// Claims that are only spoken of, or that never were.
pub(super) const CLAIM_AS_PROPERTY: AnyOf = &[
    "claim settlement", "settlement ratio", "settles claims", "settle claims", "settling claims",
    "claims are settled", "claims paid", "no claim", "no claims", "claim nahi", "claim nahin", "claim nhi",
    "claim koi nahi", "koi claim nahi", "never claimed", "claim free", "claims free", "claim process is easy",
    "claim experience", "claim record", "claims record", "good claim", "claim accha", "claim jaldi", "fast claim",
    "quick claim", "easy claim", "without any claim", "haven t claimed", "not claimed", "zero claims",
];

/// A used vehicle is still to be found.
pub(super) const USED_CAR: AnyOf = &[
    "looking for a used", "looking for used", "looking for a second hand", "looking for second hand", "buy a used",
    "buy used", "buy a second hand", "buying a used", "buying a second hand", "want a used", "want a second hand",
    "need a used car", "find me a used", "find a used", "find me a second hand", "find a second hand", "find used",
    "get me a used", "used car search", "second hand car leni", "second hand gaadi leni", "second hand bike leni",
    "second hand scooty leni", "second hand leni", "second hand car lena", "second hand gaadi lena",
    "purani car leni", "purani gaadi leni", "purani gadi leni", "purani bike leni", "used car leni",
    "used gaadi leni", "second hand car kharidni", "second hand gaadi kharidni", "second hand bike kharidni",
    "purani gaadi kharidni", "purani car kharidni", "used car kharidni", "second hand car dhoond",
    "second hand gaadi dhoond", "purani car dhoond", "purani gaadi dhoond", "second hand car dilwa",
    "second hand gaadi dilwa", "used cars", "second hand cars", "pre owned car",
];

/// The registration is to change hands.
pub(super) const RC_TRANSFER: AnyOf = &[
    "rc transfer", "rc transfr", "rc tranfer", "rc trnsfer", "r c transfer", "transfer the rc", "transfer of rc",
    "transfer rc", "transfer of the rc", "rc ka transfer", "rc name", "rc mere naam", "rc apne naam", "rc change",
    "rc badalna", "ownership transfer", "transfer of ownership", "transfer ownership", "transfer the ownership",
    "registration transfer", "transfer the registration", "rc in my name", "rc to my name", "rc naam",
];

/// A charger is to be installed; cover for one is an addon.
pub(super) const EV_CHARGER: AnyOf = &[
    "wall charger", "wallbox", "charger install", "charger installed", "charger installation", "install a charger",
    "install charger", "install the charger", "installing a charger", "install a home charger", "home charger",
    "charger lagwana", "charger lagwani", "charger bhi lagwana", "charger lagana", "charger lagwa",
    "charger bhi lagwa", "charger fit", "charger bhi fit", "charging point", "charging station at", "ev charger",
    "charger at home", "charger set up", "charging socket", "charger fitted", "ac charger at",
];

/// The pollution certificate.
pub(super) const POLLUTION_CHECK: AnyOf = &[
    "pollution", "polution", "puc", "p u c", "pucc", "emission test", "emission check",
];

/// A policy that is still live is to go on.
pub(super) const RENEWAL: AnyOf = &[
    "renew", "renews", "renewal", "renewals", "renewing", "renewed", "rinew", "renu", "renewel", "renual", "rinual",
    "extend", "extension", "same insurer", "same company", "wahi company", "usi company", "before it expires",
    "before expiry", "before it runs out", "about to expire", "going to expire", "expiring", "expires on",
    "expires next", "expires this", "expires in", "expires tomorrow", "expire hone", "expire ho raha",
    "expire ho rahi", "expire hoga", "expire hogi", "khatam hone", "khatam ho raha", "khatam ho rahi", "khatam hoga",
    "khatam hogi", "din bache", "next year ke liye", "continue my", "continue the", "aage badhana", "aage badhani",
    "phir se same",
];

/// A first policy, so nothing to renew.
pub(super) const FIRST_POLICY: AnyOf = &[
    "new car", "new bike", "new scooter", "new vehicle", "brand new", "just bought", "not a renewal", "not renewal",
    "renewal nahi",
];

/// Other things that can be insured.
pub(super) const OTHER_THINGS: AnyOf = &[
    "travel insurance", "travel policy", "trip insurance", "flight insurance", "visa insurance", "overseas insurance",
    "baggage insurance", "insurance for my trip", "insurance for a trip", "student insurance", "home insurance",
    "house insurance", "home policy", "property insurance", "flat insurance", "insurance for my house",
    "insurance for my home", "insurance for my flat", "insure my house", "insure my home", "insure my flat",
    "insure the house", "ghar ka insurance", "ghar ka bima", "makaan ka bima", "makan ka bima", "makaan ka insurance",
    "ghar ki policy", "ghar ke liye insurance", "fire insurance", "pet insurance", "dog insurance", "cat insurance",
    "insurance for my dog", "insurance for my cat", "phone insurance", "mobile insurance", "laptop insurance",
    "gadget insurance", "insure my phone", "insurance for my phone", "phone ka insurance", "mobile ka insurance",
    "crop insurance", "fasal bima", "fasal ka bima", "shop insurance", "dukaan ka bima", "dukaan ka insurance",
    "business insurance", "marine insurance", "cyber insurance", "wedding insurance", "liability insurance",
    "jewellery insurance", "cattle insurance", "cycle insurance", "bicycle insurance", "yatra bima", "safar ka bima",
    "safar ka insurance", "event insurance",
];

/// A policy that the user has, policies of another kind, the trade.
pub(super) const NO_PURCHASE: AnyOf = &[
    "cancel my policy", "cancel my insurance", "cancel my car insurance", "cancel my bike insurance",
    "cancel the policy", "cancel policy", "download my policy", "download policy", "policy pdf", "policy document",
    "policy documents", "policy copy", "copy of my policy", "policy number", "lost my policy", "insurance agent job",
    "insurance job", "insurance jobs", "job in", "share price", "shares", "privacy policy", "return policy",
    "refund policy", "leave policy", "government policy", "foreign policy", "monetary policy", "cancellation policy",
    "hr policy", "insurance won t pay", "insurance won t cover", "insurance doesn t cover",
    "insurance does not cover", "insurance refused", "not covered by insurance", "insurance exam", "insurance sector",
    "insurance fraud", "police complaint", "police station", "police", "insurance is done", "insurance done",
    "insurance is active", "have insurance already", "insurance ho gaya", "already insured", "insurance is valid",
    "insured already", "insurance is sorted", "insurance sorted", "insurance already", "insurance hai already",
    "insurance pehle se",
];

/// A policy is to be bought after all.
pub(super) const PURCHASE_AFTER_ALL: AnyOf = &[
    "buy", "new policy", "fresh", "naya", "nayi", "switch", "lapsed",
];

/// What a policy pays for if it is one for health.
pub(super) const HEALTH_MATTERS: AnyOf = &[
    "health", "helth", "medical", "hospital", "hospitals", "hospitalisation", "hospitalization", "surgery",
    "maternity", "illness", "disease", "cancer", "treatment", "doctor", "medicines", "delivery expenses", "opd",
    "swasthya", "sehat", "bimari", "ilaaj", "aspatal", "pre existing", "diabetic",
];

/// What a policy pays for if it is one for life.
pub(super) const LIFE_MATTERS: AnyOf = &[
    "term plan", "term life", "term wala", "life insurance", "life cover", "life policy", "jeevan", "death benefit",
    "death cover", "if i die", "after i die", "after me", "mere baad", "sum assured", "maturity", "non smoker",
    "smoker",
];

/// A claim, as the word for it.
pub(super) const CLAIM: AnyOf = &[
    "claim", "claims", "clam", "claiming", "claimed", "kleim", "klem",
];

/// What a claim is made for, or how.
pub(super) const LOSS: AnyOf = &[
    "accident", "accidents", "crash", "crashed", "damaged", "damage", "stolen", "theft", "hit", "dent", "dented",
    "dents", "scratch", "scratched", "broken", "broke", "collided", "collision", "rear ended", "toot", "tut", "thuk",
    "thok", "thoka", "takkar", "chori", "flood", "flooded", "waterlogged", "hail", "fell", "tree", "surveyor",
    "total loss", "totalled", "reimbursement", "reimburse", "bumper", "windshield", "windscreen", "how do i",
    "how to", "kaise", "status", "settle", "raise", "file", "filed", "register", "lodge", "submit", "documents",
    "reject", "rejected",
];

/// The insurer is to pay, not the user.
pub(super) const PAYS: AnyOf = &[
    "pay for", "pays for", "paisa", "paise", "reimburse", "reimbursement", "settle", "compensation", "compensate",
    "claim", "repair", "muavza", "bharpai",
];

/// A loss that has happened.
pub(super) const ACCIDENT: AnyOf = &[
    "accident", "accident ho gaya", "crash", "crashed", "stolen", "theft", "chori", "collision", "collided",
    "rear ended", "thuk gayi", "thok di", "thok diya", "takkar", "total loss", "totalled", "flood", "flooded",
];

/// Somebody to be insured.
pub(super) const PERSON: AnyOf = &[
    "husband", "wife", "parents", "mother", "father", "mom", "dad", "mummy", "papa", "maa", "family", "son",
    "daughter", "kids", "children", "spouse", "self", "driver", "myself", "biwi", "pati", "bachche", "bacchon",
    "maid", "brother", "sister", "senior citizen", "senior citizens",
];

/// A policy that the user has and does not ask for.
pub(super) const HELD: AnyOf = &[
    "already have", "have already", "already got", "is covered", "le chuka", "le chuki", "pehle se hai", "also sells",
    "not health", "not life", "not term", "not a term", "health nahi", "life nahi", "term nahi",
];

/// What the law asks of a vehicle on the road.
pub(super) const LEGAL: AnyOf = &[
    "legal minimum", "minimum legal cover", "legal cover", "road legal", "legally on the road", "legally required",
    "legal on the road", "mandatory cover", "compulsory cover",
];
