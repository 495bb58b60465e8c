//! The words of this contract, as tables: English, Hindi in Latin letters, and spellings that the tolerance for
//! misspelt words does not reach. Laid out by hand, several to a line.

use contract_sdk::lexicon::AnyOf;

/// Yoga, named outright. "Yoga" is too short for the tolerance of misspellings, so its own are listed.
pub(super) const YOGA: AnyOf = &[
    "yoga", "yog", "yogaa", "yogha", "yooga", "yogga", "yga", "yoag", "ypga", "yogasan", "yogasana", "yogasanas",
    "yogabhyas", "योग", "योगा", "your ga", "yo ga", "surya namaskar", "suryanamaskar", "sun salutation",
    "sun salutations", "asana", "asanas", "aasan", "downward dog", "downward dogs", "headstand", "headstands",
    "pranayama", "pranayam", "shavasana", "savasana", "padmasana", "vajrasana", "shirshasana", "sirsasana",
    "bhujangasana", "tadasana", "trikonasana", "chakrasana", "warrior pose", "tree pose", "crow pose", "pigeon pose",
    "cobra pose", "lotus pose", "cat cow", "anulom vilom", "kapalbhati",
];

/// Styles whose names mean nothing else.
pub(super) const STYLE: AnyOf = &[
    "hatha", "vinyasa", "vinyas", "viniyasa", "iyengar", "iyenger", "iyangar", "ashtanga", "ashtnga", "astanga",
    "kundalini", "kundlini", "sivananda", "shivananda", "power yoga", "hot yoga", "bikram", "yin yoga", "yin",
    "aerial yoga", "arial yoga", "ariel yoga", "aqua yoga", "chair yoga", "prenatal yoga", "postnatal yoga",
    "postpartum yoga", "pregnancy yoga", "restorative yoga", "yoga nidra", "yognidra", "bhakti yoga", "mantra yoga",
    "face yoga", "kids yoga", "laughter yoga", "acro yoga", "yin restorative", "prenatal class", "prenatal classes",
    "prenatal session", "postnatal class", "postpartum class", "restorative class", "aerial class",
    "meditative class", "ashtang", "mysore style", "jivamukti", "acroyoga", "yoga flow", "nidra", "yoga therapy",
    "iyengar yoga", "sivananda yoga",
];

/// Words of styles that mean something beside yoga only, or beside a class.
pub(super) const LOOSE_STYLE: AnyOf = &[
    "restorative", "prenatal", "postnatal", "postpartum", "aerial", "meditative", "mantra", "bhakti", "hot", "power",
    "chair", "aqua", "flow", "gentle", "slow", "beginner", "beginners", "beginer", "begginer", "advanced",
    "intermediate", "silent", "private", "one to one", "one on one", "drop in", "trial", "trail", "certified",
    "prenatal class", "pregnant", "kids", "seniors", "ladies", "women", "props", "mat", "mats", "group",
];

/// A class and where it is held.
pub(super) const CLASS: AnyOf = &[
    "class", "classes", "classs", "clas", "clases", "klass", "klas", "batch", "batches", "bach", "session",
    "sessions", "sesion", "sesson", "studio", "studios", "centre", "center", "teacher", "teachr", "instructor",
    "guru", "drop in", "trial", "workshop", "workshops", "course", "lesson", "lessons", "group", "pass", "shala",
    "ashram", "one to one", "one on one", "slot", "slots", "spot", "practice", "flow", "event", "camp", "sequence",
    "kaksha", "shivir", "coaching", "training", "sitting",
];

/// Something is wanted.
pub(super) const WISH: AnyOf = &[
    "book", "booking", "boook", "buk", "reserve", "find", "join", "enrol", "enroll", "register", "sign", "want",
    "wanna", "need", "looking", "like", "try", "start", "learn", "do", "put", "get", "give", "arrange", "schedule",
    "search", "suggest", "recommend", "show", "karna", "karni", "karne", "karo", "kar", "karwao", "karwa", "chahiye",
    "chaiye", "chahie", "seekhna", "sikhna", "seekhni", "sikhni", "batao", "bata", "dhoondo", "dhundo", "dhoond",
    "dikhao", "laga", "lagao", "jaana", "jana", "join karna", "shuru", "dekho", "dekh", "milega", "milegi", "hai kya",
    "available", "hota", "hoti", "likhwa", "nearby", "near", "paas",
];

/// What people do yoga for.
pub(super) const PURPOSE: AnyOf = &[
    "back pain", "back pane", "backpain", "backache", "back ache", "kamar dard", "kamar", "peeth dard", "posture",
    "stress", "tension", "anxiety", "flexibility", "flexible", "stiff", "sleep", "neend", "weight loss", "weight",
    "pet kam", "vajan", "wajan", "motapa", "pregnant", "pregnancy", "trimester", "garbhvati", "baby", "postpartum",
    "knee", "ghutne", "recovery", "calm", "relax", "relaxation", "shanti", "strength", "breathing", "diabetes", "bp",
    "blood pressure", "thyroid", "pcos", "pcod", "arthritis", "slip disc", "slipped disc", "sciatica", "cervical",
    "shoulder", "migraine", "immunity", "digestion",
];

/// When it is to be.
pub(super) const WHEN: AnyOf = &[
    "today", "tonight", "tonite", "tomorrow", "tmrw", "morning", "mornning", "evening", "afternoon", "weekend",
    "weekends", "weakend", "weekday", "weekdays", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    "sunday", "aaj", "kal", "parso", "subah", "shaam", "sham", "dopahar", "raat", "baje", "bje", "am", "pm",
    "o clock", "hafte", "itwar", "shanivar", "somvar", "dawn", "noon", "daily", "roz", "week", "early",
];

/// The user's home as the place; not as the way there or what it is near to.
pub(super) const AT_HOME: AnyOf = &[
    "at home", "at my home", "at our home", "at my house", "at our house", "at my place", "at our place",
    "to my home", "to my house", "to our house", "to our home", "to my place", "to our place", "come home",
    "comes home", "coming home", "home visit", "home visits", "visit home", "visits home", "visit my home",
    "visit my house", "visit me at", "visit my apartment", "visit my flat", "visits my", "visit us",
    "at my residence", "at residence", "my residence", "at my apartment", "to my apartment", "in my apartment",
    "at my flat", "to my flat", "in my flat", "in my living room", "my living room", "at my doorstep", "doorstep",
    "at home yoga", "home yoga", "home tutor", "home session", "home sessions", "home class", "home classes",
    "in home", "in my home", "in my house", "in our house", "in our home", "my terrace", "our terrace", "ghar pe",
    "ghar par", "ghar pr", "ghar p", "ghar aake", "ghar aakar", "ghar aa kar", "ghar aa ke", "ghar aaye",
    "ghar aayein", "ghar aye", "ghar a kar", "ghar mein", "ghar me", "mere ghar", "hamare ghar", "ghar aana",
    "ghar aane", "ghar bula", "ghar bulana", "ghar bulwana", "ghar bhej", "ghar bhejo", "ghar baithe", "ghar tak",
    "ghar ke andar", "घर पर", "घर पे", "visits homes", "visiting homes", "house visit", "house visits", "house call",
];

/// A home that is not the place.
pub(super) const NOT_AT_HOME: AnyOf = &[
    "near my home", "near home", "near my house", "near my place", "near my apartment", "near my flat",
    "near my residence", "close to my home", "close to home", "close to my house", "close to my place",
    "from my home", "from my house", "from my place", "from home", "back home", "ghar ke paas", "ghar ke pass",
    "ghar ke nazdeek", "ghar ke nazdik", "ghar ke kareeb", "ghar ke aas paas", "mere ghar ke paas",
    "mere ghar ke pass", "mere ghar ke nazdeek", "mere ghar se", "ghar se", "not at home", "can t do it at home",
    "can t practise at home", "can t practice at home", "ghar pe nahi", "ghar par nahi", "ghar pe nhi",
    "ghar mein nahi", "ghar pe man nahi", "instead of at home", "instead of home", "rather than at home", "no home",
    "don t want it at home", "tired of", "videos", "video", "youtube", "been practising", "been practicing",
    "been doing", "been trying", "alone at home", "space at home", "no space", "not enough space",
    "get out of the house", "out of the house", "home by", "be home", "reach home", "go home", "way home",
    "home after", "work from home", "working from home", "bored", "bore ho", "akele", "ghar mein baithe",
    "ghar mein baith", "ghar pe baithe", "ghar pe akele", "ghar pe time nahi", "ghar pe nahi hota", "distractions",
    "at home i can t", "kids at home", "outside", "bahar jaake", "bahar jaakar", "studio jaana", "studio mein",
    "studio me",
];

/// A gym, and what is done there.
pub(super) const GYM: AnyOf = &[
    "gym", "gyms", "jim", "gymm", "gymnasium", "gim", "workout", "work out", "treadmill", "crossfit", "cross fit",
    "lift weights", "weight lifting", "weightlifting", "weight training", "weights", "dumbbell", "dumbbells",
    "bench press", "deadlift", "kasrat", "vyayamshala", "cardio", "hiit", "fitness centre", "fitness center",
    "bodybuilding", "body building",
];

/// A personal trainer.
pub(super) const TRAINER: AnyOf = &[
    "personal trainer", "personal trainr", "personl trainer", "personal traner", "personal training",
    "personal coach", "pt session", "pt sessions", "fitness trainer", "fitness coach", "fitness instructor",
    "gym trainer", "private trainer", "strength coach", "strength trainer", "body transformation",
    "trainer for weight", "trainer for fat", "trainer chahiye", "personal gym", "weight loss coach",
    "weight loss trainer", "workout trainer", "a pt", "muscle gain", "muscle building", "pt at", "pt for", "pt in",
];

/// A spa, and what is done there.
pub(super) const SPA: AnyOf = &[
    "spa", "spaa", "massage", "masage", "massag", "massages", "maalish", "malish", "facial", "body scrub", "abhyanga",
    "shirodhara", "panchakarma", "aromatherapy", "body wrap", "hammam", "reflexology",
];

/// A stay of some days.
pub(super) const RETREAT: AnyOf = &[
    "retreat", "retreats", "retrete", "retreet", "retreatt", "ritreat", "wellness resort", "wellness holiday",
    "wellness getaway", "wellness trip", "wellness stay", "yoga holiday", "yoga vacation", "yoga getaway",
    "yoga resort", "residential yoga", "residential program", "residential programme", "detox stay", "detox resort",
    "detox getaway", "detox program", "detox programme", "wellness package", "wellness weekend", "naturopathy",
    "ashram stay", "stay at an ashram", "stay in an ashram", "yoga stay", "yoga trip",
];

/// Meals that come every day.
pub(super) const TIFFIN: AnyOf = &[
    "tiffin", "tiffins", "tifin", "tiffen", "tifffin", "dabba", "dabbe", "meal subscription", "meal plan",
    "lunch subscription", "dinner subscription", "lunch box", "lunchbox", "ghar ka khana", "home cooked meals",
    "home cooked food", "meals delivered", "food subscription", "daily lunch", "daily meals", "subscribe to meals",
    "healthy meals",
];

/// A way to get there or back.
pub(super) const RIDE: AnyOf = &[
    "cab", "cabs", "kab", "taxi", "taxy", "a ride", "ride to", "ride back", "ride home", "ride there", "ride bhi",
    "ride book", "book a ride", "ride for", "uber", "ola", "rapido", "rickshaw", "riksha", "autorickshaw", "an auto",
    "auto bhi", "auto book", "auto chahiye", "auto kar", "auto bula", "bike taxi", "drop me", "pick me up",
    "pick up and drop", "pickup and drop", "gaadi bhi book", "gaadi book", "gaadi bhej", "gaadi bula", "gadi bhi",
    "drop chahiye", "lift to", "drive me", "sawari",
];

/// Yoga by name, or a trainer that is not wanted.
pub(super) const NO_TRAINER: AnyOf = &[
    "yoga class", "yoga classes", "yoga batch", "yoga studio", "yoga session", "yoga sessions", "group yoga",
    "yoga trainer", "yoga instructor", "yoga teacher", "instead of a personal trainer", "not a personal trainer",
    "instead of personal trainer", "personal trainer nahi", "no personal trainer", "didn t work",
];

/// A retreat that is not wanted.
pub(super) const NO_RETREAT: AnyOf = &[
    "not a retreat", "no retreat", "instead of a retreat", "retreat nahi", "retreat intro",
    "introduction to the retreat", "can t afford a retreat", "after the retreat", "after my retreat",
    "back from a retreat", "rather than a retreat", "skip the retreat", "before the retreat", "before my retreat",
];

/// A spa that is not wanted.
pub(super) const NO_SPA: AnyOf = &[
    "not a spa", "not the spa", "no spa", "no massage", "not a massage", "skip the spa", "skip the massage",
    "instead of a spa", "instead of spa", "instead of a massage", "instead of massage", "without spa",
    "without the spa", "spa nahi", "spa nhi", "massage nahi", "massage nhi", "rather than a spa",
    "rather than a massage", "near the spa", "next to the spa", "above the spa", "after the spa", "after my massage",
    "after the massage", "after my spa",
];

/// Things, media and professions of yoga.
pub(super) const THINGS_AND_MEDIA: AnyOf = &[
    "yoga mat", "yoga mats", "yoga pants", "yoga pant", "yoga wear", "yoga dress", "yoga clothes", "yoga leggings",
    "yoga block", "yoga blocks", "yoga ball", "yoga wheel", "yoga strap", "yoga book", "yoga books", "yoga dvd",
    "yoga video", "yoga videos", "yoga app", "yoga apps", "yoga music", "yoga channel", "yoga quotes", "yoga images",
    "yoga teacher training", "teacher training", "ttc", "become a yoga", "yoga teacher job", "yoga job", "yoga jobs",
    "hire yoga", "youtube", "kharidna", "kharidni", "who invented", "history of", "benefits of", "ke fayde", "fayde",
    "online video", "lenovo", "laptop", "hathi", "baba ramdev", "netflix", "what is yoga", "meaning of yoga",
    "yoga song", "lenovo yoga",
];

/// A class is wanted all the same.
pub(super) const CLASS_AFTER_ALL: AnyOf = &[
    "yoga class", "yoga classes", "yoga session", "yoga sessions", "yoga batch", "yoga studio", "hot yoga class",
    "drop in", "trial", "mat included", "mat provided", "mat bhi", "book a class", "class book", "studio", "batch",
];

/// Yoga that is over, on the way, or the user's trade.
pub(super) const YOGA_ELSEWHERE: AnyOf = &[
    "after the yoga class", "after my yoga class", "after yoga class", "after yesterday s yoga",
    "yoga class yesterday", "yoga yesterday", "on the way to yoga", "on my way to yoga", "going to yoga",
    "to my yoga class", "from my yoga class", "from yoga class", "from the yoga class", "cancel my yoga",
    "cancel the yoga", "cancel yoga", "yoga class cancel", "yoga se aate", "i teach yoga", "my yoga studio",
    "own a yoga studio", "run a yoga studio", "yoga class se",
];

/// What a spa has and a gym may have, too.
pub(super) const AMENITY: AnyOf = &[
    "steam bath", "steem bath", "steam", "sauna", "jacuzzi",
];
