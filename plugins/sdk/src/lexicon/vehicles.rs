//! How people in India name their vehicles, for the contracts that serve them: kinds, makes and models, in English
//! and in Hindi written in Latin letters.
//!
//! Makes and models are ordinary words as often as not ("City", "Access", "Passion"); they say something only
//! beside a word of the contract's own.

use super::AnyOf;

/// A car, by kind.
pub const CAR: AnyOf = &[
    "car", "cars", "gaadi", "gadi", "gaddi", "gari", "gaadiyon", "vehicle", "vahan", "suv", "sedan", "hatchback",
    "four wheeler", "4 wheeler", "muv", "mpv", "sportscar", "kaar",
];

pub const CAR_MAKES: AnyOf = &[
    "maruti", "suzuki", "hyundai", "hundai", "tata", "mahindra", "kia", "toyota", "honda", "renault", "nissan",
    "skoda", "volkswagen", "vw", "ford", "chevrolet", "jeep", "mg", "citroen", "audi", "bmw", "mercedes", "volvo",
    "lexus", "jaguar", "land rover", "fiat", "datsun", "mitsubishi", "isuzu", "byd", "porsche", "mini cooper",
];

pub const CAR_MODELS: AnyOf = &[
    "swift", "dzire", "swift desire", "baleno", "alto", "wagonr", "wagon r", "celerio", "ertiga", "brezza", "ciaz",
    "ignis", "s presso", "eeco", "fronx", "jimny", "grand vitara", "vitara", "xl6", "zen", "maruti 800", "omni",
    "invicto", "i10", "i20", "grand i10", "nios", "creta", "venue", "verna", "aura", "alcazar", "tucson", "santro",
    "exter", "xcent", "eon", "ioniq", "elantra", "kona", "nexon", "harrier", "safari", "punch", "tiago", "tigor",
    "altroz", "curvv", "indica", "indigo", "nano", "hexa", "sumo", "tiago ev", "punch ev", "thar", "scorpio",
    "bolero", "xuv", "xuv300", "xuv500", "xuv700", "xuv400", "3xo", "marazzo", "kuv100", "tuv300", "be 6", "seltos",
    "sonet", "carens", "carnival", "syros", "ev6", "innova", "crysta", "hycross", "fortuner", "glanza", "hyryder",
    "urban cruiser", "etios", "corolla", "camry", "taisor", "rumion", "yaris", "qualis", "hilux", "my city",
    "my rapid", "my zest", "my beat", "my spark", "city ka", "city ki", "city mein", "amaze", "jazz", "wr v", "wrv",
    "br v", "brv", "elevate", "civic", "brio", "mobilio", "cr v", "accord", "kwid", "triber", "kiger", "duster",
    "magnite", "terrano", "micra", "sunny", "slavia", "kushaq", "kylaq", "octavia", "superb", "kodiaq", "fabia",
    "polo", "vento", "virtus", "taigun", "tiguan", "ameo", "figo", "ecosport", "aspire", "endeavour", "fiesta",
    "ikon", "cruze", "hector", "astor", "gloster", "comet", "windsor", "zs ev", "compass", "meridian", "wrangler",
    "c3", "basalt", "punto", "linea", "redigo", "pajero", "d max", "5 series", "3 series", "e class", "c class", "a4",
    "q3", "x1",
];

/// A vehicle on two wheels, by kind.
pub const TWO_WHEELER: AnyOf = &[
    "bike", "bikes", "motorbike", "motorcycle", "motor cycle", "scooter", "scooters", "scooty", "scootie", "skooter",
    "moped", "two wheeler", "2 wheeler", "twowheeler", "two wheelers", "dopahiya", "superbike",
];

/// Makes and models of two-wheelers.
pub const TWO_WHEELER_MODELS: AnyOf = &[
    "activa", "jupiter", "access 125", "suzuki access", "my access", "new access", "access ka", "access ki",
    "splendor", "passion pro", "pulsar", "apache", "bullet", "classic 350", "meteor", "hunter 350", "himalayan",
    "interceptor", "royal enfield", "enfield", "ntorq", "dio", "fascino", "burgman", "pleasure plus", "destini",
    "maestro", "shine", "unicorn", "hornet", "cb350", "hness", "platina", "ct100", "bajaj discover", "avenger",
    "dominar", "chetak", "ather", "450x", "rizta", "ola s1", "s1 pro", "s1 x", "iqube", "vida", "raider", "xpulse",
    "hero bike", "hero motocorp", "tvs", "bajaj", "yamaha", "ktm", "duke", "r15", "mt 15", "fz", "gixxer", "vespa",
    "aprilia", "jawa", "yezdi", "triumph", "harley", "ninja", "xl100", "hf deluxe", "glamour", "ray zr", "grazia",
    "aviator", "revolt", "okinawa", "ampere", "simple one", "speed 400", "guerrilla", "continental gt", "thunderbird",
];

/// A vehicle that earns money, by kind, make or model.
pub const COMMERCIAL: AnyOf = &[
    "truck", "lorry", "tempo", "pickup", "pick up van", "goods carrier", "goods vehicle", "commercial vehicle",
    "commercial", "lcv", "hcv", "taxi", "cab", "auto", "auto rickshaw", "autorickshaw", "rickshaw", "e rickshaw",
    "toto", "school bus", "school van", "bus", "van", "tractor", "tipper", "trailer", "passenger carrier", "tata ace",
    "chota hathi", "chhota hathi", "bolero pickup", "ashok leyland", "dost van", "eicher", "bharatbenz",
    "force traveller", "tempo traveller", "bada dost", "yodha", "intra", "jcb", "ambulance", "fleet", "maxi cab",
    "three wheeler", "3 wheeler", "tempu", "tanker", "dumper", "minibus", "mini bus", "e loader", "yellow plate",
];

/// A vehicle with a battery, by kind.
pub const ELECTRIC: AnyOf =
    &[
        "ev", "electric car", "electric scooter", "electric bike", "electric vehicle", "e scooter", "e bike", "e car",
    ];
