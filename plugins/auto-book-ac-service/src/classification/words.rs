//! The words of this contract, as tables: English, Hindi in Latin letters, and spellings that the tolerance for
//! misspelt words does not reach. Laid out by hand, several to a line.

use contract_sdk::any_of;
use contract_sdk::lexicon::{AnyOf, vehicles};

/// The air-conditioning, named outright. `hvac` is not here: see the referral to the major service.
pub(super) const AC: AnyOf = &[
    "ac", "a c", "air con", "aircon", "aircond", "air cond", "air conditioner", "air conditioning", "airconditioner",
    "airconditioning", "air conditoner", "air condition", "air condishner", "climate control", "acs", "a see", "एसी",
];

/// Parts that only the air-conditioning has.
pub(super) const PARTS: AnyOf = &[
    "evaporator", "condenser", "cooling coil", "vent", "vents", "blower", "bloower", "air duct", "air ducts", "duct",
    "ducts", "ducting", "a c", "ac pipe", "ac compressor",
];

/// A car, or that one is sat in.
pub(super) const CAR: AnyOf = any_of![
    vehicles::CAR,
    vehicles::CAR_MAKES,
    vehicles::CAR_MODELS,
    &[
        "dashboard", "while driving", "when driving", "driving", "drive", "cabin", "windscreen", "windshield",
        "workshop", "passenger", "highway", "traffic", "rear seat", "back seat", "rear passengers",
    ],
];

/// A car for certain: what makes a room's air-conditioning, or a bike, unlikely.
pub(super) const SURELY_CAR: AnyOf = any_of![vehicles::CAR, vehicles::CAR_MAKES, vehicles::CAR_MODELS];

/// Something is not as it was.
pub(super) const NEGATION: AnyOf = &[
    "not", "no", "isn t", "isnt", "doesn t", "doesnt", "won t", "wont", "can t", "cannot", "don t", "hardly",
    "barely", "stopped", "stop", "stops", "never", "fails", "failed", "failing", "nahi", "nahin", "nhi", "nai",
    "nahe", "less", "low", "kam", "weak", "poor", "poorly", "bad", "slow", "little", "insufficient", "without",
    "lost", "losing", "down", "band", "bandh", "khatam", "zero", "nothing", "koi", "gone", "reduced", "dropped",
    "takes forever", "takes ages", "zyada nahi", "thoda", "dead", "bilkul", "takes", "slowly",
];

/// It cools, blows or works: what a negation denies.
pub(super) const COOLING: AnyOf = &[
    "cool", "cools", "cooling", "cooled", "cooler", "colling", "kooling", "colder", "cold", "chill", "chilled",
    "chilling", "thanda", "thandi", "thande", "thnda", "thndi", "thandak", "tanda", "tandi", "hawa", "hava", "air",
    "airflow", "blow", "blowing", "blows", "working", "wroking", "workin", "work", "works", "turning on", "turn on",
    "switching on", "switch on", "starting", "start", "chal", "chalu", "chalta", "chalti", "chl", "kaam", "kam kar",
    "on ho", "temperature",
];

/// It blows warm air instead of cold.
pub(super) const WARM_AIR: AnyOf = &[
    "warm air", "hot air", "warm hawa", "garam hawa", "garm hawa", "garam air", "hawa garam", "hot hawa",
    "blows warm", "blows hot", "blowing warm", "blowing hot", "throwing hot", "throwing warm", "throws hot",
    "throws warm", "warm breeze", "hot breeze", "lukewarm", "ambient air", "garam deta", "garam de raha", "garam fek",
    "garam phek", "heater jaisi", "heater jaisa", "no cold air", "not cold", "isn t cold", "only fan", "just the fan",
    "like a heater", "like an oven", "air is warm", "air is hot", "air warm", "sweating", "pasina", "paseena", "oven",
    "furnace", "tandoor", "bhatti", "boiling", "garmi lag", "heater",
];

/// It cools, stops, and cools again.
pub(super) const SOMETIMES: AnyOf = &[
    "on and off", "intermittent", "intermittently", "sometimes", "kabhi kabhi", "cools sometimes", "cuts off",
    "cuts out", "cut off", "goes off", "off ho jata", "band ho jata", "ruk jata", "after some time", "thodi der",
    "comes and goes", "off and on", "randomly",
];

pub(super) const NOISE: AnyOf = &[
    "noise", "noisy", "noises", "noice", "noize", "rattle", "rattles", "rattling", "grinding", "squeal", "squealing",
    "squeaking", "squeak", "clicking", "humming", "hums", "hum", "whining", "whine", "whines", "buzzing",
    "screeching", "knocking", "vibrating", "vibration", "loud", "strange sound", "weird sound", "sound", "sounds",
    "awaaz", "awaz", "aawaz", "aawaaz", "avaz", "shor", "khad khad", "khat khat", "ghar ghar", "tik tik",
];

pub(super) const SMELL: AnyOf = &[
    "musty", "smell", "smells", "smelly", "smelling", "smel", "stink", "stinks", "stinking", "stinky", "odour",
    "odor", "mouldy", "moldy", "mould", "mold", "damp", "foul", "badbu", "badboo", "badbo", "bu aa", "bu aati",
    "mehak", "gandi", "gandh", "fungus", "mildew", "fogging", "dhool", "wet socks", "sour",
];

pub(super) const LEAK: AnyOf = &[
    "leak", "leaking", "leaks", "leakage", "leek", "leeking", "lik", "leakej", "drip", "dripping", "drips", "water",
    "paani", "pani", "tapak", "oil stains", "gas keeps", "khatam ho jati", "nikal jati",
];

/// Its switches and wires, and the parts that they drive.
pub(super) const ELECTRICAL: AnyOf = &[
    "electrical", "fuse", "wiring", "wire", "relay", "switch", "button", "sensor", "panel", "knob", "control panel",
    "short circuit", "not turning on", "won t turn on", "doesn t turn on", "not switching on", "trips", "on nahi",
    "light bhi", "display", "clutch", "engaging", "belt",
];

/// The gas is to be filled up.
pub(super) const GAS: AnyOf = &[
    "gas", "gass", "gais", "recharge", "recharged", "recharging", "top up", "topup", "topped up", "refill",
    "refilled", "refilling", "regas", "regassed", "charging",
];

/// The refrigerant, by its names.
pub(super) const REFRIGERANT: AnyOf = &[
    "refrigerant", "refrigrant", "refrigerent", "ac gas", "a c gas", "ac ki gas", "ac mein gas", "ac me gas",
    "ac ka gas", "aircon gas", "regas", "regassing", "freon", "r134a", "r 134a", "r134", "r1234yf", "r 1234yf",
    "r1234 yf", "1234yf", "134a",
];

pub(super) const CABIN_FILTER: AnyOf = &[
    "cabin filter", "cabin air filter", "cabin filtr", "pollen filter", "ac filter", "a c filter", "ac ka filter",
    "aircon filter", "air con filter",
];

/// Before the summer, or a check.
pub(super) const SUMMER: AnyOf = &[
    "summer", "summers", "sumer", "pre summer", "garmi", "garmiyon", "garmiyan", "garmiya", "heat wave", "heatwave",
    "hot season", "april", "may heat", "checkup", "check up", "chekup", "checked", "inspection", "health check",
];

/// Work on it is asked for, or it is said to be broken.
pub(super) const SERVICE: AnyOf = &[
    "service", "services", "servicing", "serviced", "servis", "sarvis", "servising", "sarvice", "repair", "repaired",
    "repairs", "repairing", "ripair", "repare", "fix", "fixed", "fixing", "overhaul", "overhauled", "maintenance",
    "look at", "looked at", "take a look", "have a look", "diagnose", "diagnosed", "diagnosis", "diagnostic",
    "diagnostics", "problem", "problems", "issue", "issues", "trouble", "fault", "faulty", "work", "broken", "broke",
    "kharab", "khrab", "kharaab", "theek", "thik", "tik", "teek", "sahi", "banwana", "banwani", "banwa", "banana",
    "mechanic", "mechanik", "mechnic", "mistri", "mistry", "garage", "workshop", "check", "cheque", "clean",
    "cleaned", "cleaning", "saaf", "safai", "sanitise", "sanitize", "disinfect", "disinfected", "replace", "replaced",
    "replacement", "change", "changed", "badalna", "badalwana", "sorted", "wrong", "dikhana", "dikhani", "dikha",
    "technician", "specialist", "acting up", "died", "conked", "gone", "weird", "properly", "attention", "sort out",
    "performance", "stuck", "frozen", "freezing up", "freezes", "ice", "defogger", "defog", "demist", "not happy",
    "replacing", "install new", "opened up", "pressure", "vacuum", "flush", "flushing",
];

/// The periodic service of the whole car.
pub(super) const GENERAL_SERVICE: AnyOf = &[
    "general service", "general servicing", "genral service", "periodic service", "periodic servicing",
    "periodic maintenance", "periodical service", "full service", "full servicing", "full car service",
    "complete car service", "full vehicle service", "regular service", "regular servicing", "routine service",
    "routine servicing", "routine maintenance", "scheduled service", "scheduled maintenance", "annual service",
    "annual servicing", "yearly service", "yearly servicing", "car service", "car servicing", "service my car",
    "normal service", "normal servicing", "basic service", "first service", "1st service", "second service",
    "2nd service", "third service", "3rd service", "free service", "paid service", "pehli service", "pehli servicing",
    "doosri service", "dusri service", "teesri service", "poori service", "puri service", "poori servicing",
    "puri servicing", "oil change", "engine oil", "oil filter", "oil badalna", "oil badalwana", "oil badalni",
    "oil change karwana", "km service", "kms service", "000 service", "000 km", "10k service", "15k service",
    "20k service", "30k service", "40k service", "50k service", "60k service", "hazaar km", "hazar km", "service due",
    "servicing due", "due for service", "due for servicing", "due for its service", "due for a service",
    "due for its periodic", "gaadi ki service", "gaadi ki servicing", "gadi ki service", "gadi ki servicing",
    "gaadi ka service", "gaadi service", "gaadi servicing", "gadi service", "gadi servicing", "car ki service",
    "car ki servicing", "gaadi ki general", "gaadi ki full", "car ki full", "tune up", "spark plugs",
];

/// The same, if nothing else is to be serviced.
pub(super) const SERVICE_OF_CAR: AnyOf = &[
    "my car serviced", "car serviced", "service for my car", "servicing of my car", "service of my car",
    "gaadi serviced",
];

/// What the air-conditioning is called when the whole car is serviced: its own words, without which it is not meant.
pub(super) const AC_AT_ALL: AnyOf = any_of![AC, REFRIGERANT, CABIN_FILTER, &[
    "compressor", "vents", "evaporator", "condenser", "cooling",
]];

/// The compressor, also as it is misspelt in its first letter.
pub(super) const COMPRESSOR: AnyOf = &[
    "compressor", "compresser", "compresor", "compressr", "kompressor", "kampressor",
];

/// A car that does not start or move.
pub(super) const DEAD_CAR: AnyOf = &[
    "jump start", "jumpstart", "jump starting", "won t start", "wont start", "doesn t start", "not starting",
    "is not starting", "refuses to start", "start nahi", "start nhi", "start hi nahi", "roadside assistance",
    "road side assistance", "roadside help", "breakdown assistance", "breakdown help", "breakdown service", "towing",
    "tow truck", "tow my car", "tow it", "stranded", "car broke down", "broken down", "breakdown ho", "beech raste",
    "self nahi",
];

pub(super) const BATTERY: AnyOf = &[
    "battery", "batteries", "batry", "battry", "batery", "betri", "batri",
];

/// What a major service takes apart.
pub(super) const ENGINE: AnyOf = &[
    "engine", "enjin", "engin", "injin", "gearbox", "gear box", "transmission", "clutch plate", "head gasket",
];

/// The major service, by name.
pub(super) const OVERHAUL: AnyOf = &[
    "overhaul", "overhauling", "overhauled", "overhol", "overhaal", "ovrhaul", "major service", "major servicing",
    "rebuild", "rebuilt", "rebuilding", "rebore",
];

/// Cold and warmth, which wake the contract beside its own words.
pub(super) const COOL_WORDS: AnyOf = &[
    "hvac", "musty", "cooling", "kooling", "cool", "cools", "cold", "colder", "thanda", "thandi", "thandak", "thnda",
    "warm air", "hot air", "garam hawa", "gas top up", "gas refill",
];

/// Wheels.
pub(super) const ALIGNMENT: AnyOf = &[
    "alignment", "allignment", "alinment", "alignmnt", "wheel alignment", "tyre alignment", "tire alignment",
    "wheel balancing", "tyre balancing", "balancing",
];

/// Getting cold, of the car itself.
pub(super) const COLD: AnyOf = &[
    "cooling", "cool", "cools", "cold", "colder", "thanda", "thandi", "thandak", "thnda", "thandi hawa", "cold air",
];

/// Cold air at the vents.
pub(super) const COLD_AIR: AnyOf = &[
    "cool", "cooling", "cold", "thanda", "thandi", "hawa", "air",
];

/// Out of charge.
pub(super) const FLAT: AnyOf = &[
    "dead", "died", "flat", "drained", "drain", "discharged", "discharge", "down", "khatam", "gone", "finished",
    "baith", "empty", "low", "dedh", "ded", "mar gayi", "weak",
];

/// A battery that is well.
pub(super) const BATTERY_WELL: AnyOf = &[
    "battery is fine", "battery is ok", "battery is okay", "battery is new", "new battery", "battery theek",
    "battery thik", "battery replaced", "not the battery", "battery nahi", "battery naya", "battery nayi",
    "no battery", "battery insurance", "battery protection", "mobile", "phone", "laptop", "inverter", "ups", "watch",
    "remote",
];

/// The air-conditioning that does not start, not the car.
pub(super) const AC_DOES_NOT_START: AnyOf = &[
    "ac won t start", "ac not starting", "ac doesn t start", "ac is not starting", "ac start nahi",
    "compressor not starting", "compressor won t start", "compressor doesn t start", "insurance", "policy",
];

/// What is done to a worn-out engine.
pub(super) const WORN_OUT: AnyOf = &[
    "overhaul", "rebuild", "rebuilt", "seized", "seize", "blown", "replace", "replacement", "repair", "kholna",
    "knocking", "ka kaam", "kharab", "smoke", "dhuan", "jam", "work",
];

/// A building, or the air-conditioning of one.
pub(super) const BUILDING: AnyOf = &[
    "home", "house", "room", "bedroom", "living room", "flat", "apartment", "office", "portable", "split ac",
    "split air conditioner", "split", "window ac", "window unit", "central air", "hotel", "hostel", "shop ac", "shop",
    "showroom ac", "ghar", "kamra", "kamre", "1 ton", "1 5 ton", "2 ton", "ton", "tonne", "inverter ac", "inverter",
    "hall", "restaurant", "theatre", "cinema", "mall", "school", "classroom", "gym", "server room", "factory",
    "studio", "voltas", "daikin", "blue star", "bluestar", "hitachi", "lloyd", "outdoor unit", "indoor unit",
];

/// The air-conditioning of a building for certain.
pub(super) const BUILDING_AC: AnyOf = &[
    "portable ac", "portable air conditioner", "portable a c", "home ac", "home a c", "home air conditioner",
    "split ac", "window ac", "room ac", "bedroom ac", "ghar ka ac", "ghar ke ac", "ghar wala ac", "ghar ki ac",
    "office ac", "office ka ac", "office ke ac", "kamre ka ac", "room ka ac", "ac of my room", "ac in my room",
    "ac in my bedroom", "ac in my flat", "ac in my house", "ac at home", "ac at my home",
];

/// A car all the same.
pub(super) const CAR_TOO: AnyOf = &[
    "car ac", "car s ac", "car ka ac", "gaadi ka ac", "gadi ka ac", "ac of my car", "car too",
];

pub(super) const NO_CAR: AnyOf = &[
    "truck", "bus", "lorry", "tractor", "train", "coach", "sleeper", "metro", "flight", "auto rickshaw",
];

/// What else is called AC, and what else cools.
pub(super) const OTHER_AC: AnyOf = &[
    "ac adapter", "ac adaptor", "ac charger", "ac power", "ac current", "ac motor", "ac supply", "ac voltage",
    "fridge", "refrigerator", "freezer", "air compressor", "ac bus", "ac coach", "ac cab", "ac taxi", "ac train",
    "ac ticket", "ac tickets", "ac sleeper", "ac tier", "ac hotel", "ac hall", "ac restaurant", "2 tier", "3 tier",
    "2ac", "3ac", "bank ac", "ac number", "ac milan", "ac remote", "electricity bill", "bijli ka bill",
    "water cooler", "air cooler", "desert cooler", "coolant", "radiator", "overheating", "overheats", "laptop",
    "computer", "cpu",
];

/// Trouble with air-conditioning after all.
pub(super) const CAR_AC_AFTER_ALL: AnyOf = &[
    "car ac", "car s ac", "ac not cooling", "ac isn t cooling", "ac repair", "ac service", "gaadi ka ac",
    "ac compressor", "a c compressor", "ac s compressor", "ac ka compressor", "car compressor", "car s compressor",
    "compressor of the ac", "compressor of my ac", "compressor of my car",
];

/// Air-conditioning that is well, already seen to, or only mentioned.
pub(super) const AC_WELL: AnyOf = &[
    "in for ac", "in for its ac", "in for an ac", "ac is fine", "ac is working fine", "ac works fine",
    "ac works well", "ac works perfectly", "ac theek hai", "ac thik hai", "ac sahi hai", "ac badhiya", "ac is okay",
    "ac is ok", "ac is good", "ac got fixed", "ac got repaired", "ac is fixed", "ac already", "ac ho gaya",
    "after the ac service", "ac and everything else", "studio with ac", "with ac for", "ac wala studio",
    "ac wali class", "ac studio", "ac room", "sell my car", "selling my car", "buy a car", "rent a car",
    "car on rent", "with ac on rent",
];

/// The air-conditioning of the user's own car, which is rarely named for nothing.
pub(super) const AC_OF_MY_CAR: AnyOf = &[
    "car ac", "cars ac", "car s ac", "car a c", "car air con", "car aircon", "car air conditioner",
    "car air conditioning", "car s air con", "car s air conditioning", "car s aircon", "car s a c", "my ac", "my a c",
    "my aircon", "my air con", "ac of my", "ac in my", "ac on my", "a c of my", "a c in my", "a c on my",
    "air con in my", "air con of my", "air con on my", "aircon in my", "aircon of my", "aircon on my",
    "air conditioning in my", "air conditioning of my", "air conditioner of my", "air conditioner in my",
    "gaadi ka ac", "gadi ka ac", "gaadi ke ac", "gadi ke ac", "gaadi ki ac", "car ka ac", "car ke ac", "car ki ac",
    "gaadi mein ac", "gaadi me ac", "mera ac", "meri car ka ac",
];
