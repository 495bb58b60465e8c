//! What it costs to choose the partners of a search among ten thousand that list its intent.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Axes, Need};
use intent_gateway_domain::endpoint::{Endpoint, Mappings};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::limits::FAN_OUT_MAX;
use intent_gateway_domain::partner::{Listing, Partner};
use intent_gateway_domain::ports::PartnerDirectory as _;
use intent_gateway_routing::selection::Directory;

use crate::micro::{measure, us};
use crate::{line, verdict};

/// Partners that list the intent.
const PARTNERS: usize = 10_000;
/// What a choice may cost, microseconds.
const AIM_US: f64 = 50.0;
const INTENT: &str = "auto.book_ac_service";
/// Saturday, 21 November 2026, 12:10 in India: within a quarter of an hour, where an edge is looked at closely.
const NOON_MS: u64 = 1_795_243_200_000;
const HOUR_MS: u64 = 60 * 60 * 1_000;
/// Ways in which people write their hours.
const HOURS: [&str; 6] = [
    "24x7",
    "Mon-Sat 08:00-22:00 IST",
    "Mon-Fri 09:30-18:30; Sat 10:00-14:00 IST",
    "Daily 07:00-21:00",
    "Mon,Wed,Fri,Sat 10:00-13:00, 16:00-20:30 IST",
    "Tue-Sun 18:00-02:00",
];

/// One set of partners and one question.
struct Case {
    what: &'static str,
    area: fn(usize) -> Vec<String>,
    hours: fn(usize) -> String,
    need: Need,
    chosen: usize,
}

fn mixed_hours(number: usize) -> String {
    HOURS[number % HOURS.len()].to_owned()
}

/// The whole country in one of ten, else a city of two hundred with a postal code of its own.
fn spread(number: usize) -> Vec<String> {
    match number % 10 {
        0 => vec!["IN_ALL".to_owned()],
        _ => vec![format!("City {}", number % 199), format!("{}", 560_000 + number % 199)],
    }
}

fn cases() -> [Case; 6] {
    let city = |name: &str| Some(name.to_owned());
    let window =
        |from_ms, hours| Need { from_ms: Some(from_ms), until_ms: Some(from_ms + hours * HOUR_MS), ..Need::default() };
    let whole_country = |_| vec!["IN_ALL".to_owned()];
    [
        Case {
            what: "50 of them serve the city, all day",
            area: |number| vec![format!("City {}", number % 200)],
            hours: |_| String::new(),
            need: Need { city: city("City 7"), ..Need::default() },
            chosen: 50,
        },
        Case {
            what: "one in ten serves the country, now",
            area: spread,
            hours: mixed_hours,
            need: Need { city: city("City 7"), postal_code: city("560 007"), ..Need::default() },
            chosen: FAN_OUT_MAX,
        },
        Case {
            what: "all in two cities and codes, a window of 3 hours",
            area: |number| vec![["Bengaluru", "Mysuru"][number % 2].to_owned(), "560001".to_owned()],
            hours: mixed_hours,
            need: Need { city: city("Bangalore"), postal_code: city("560001"), ..window(NOON_MS, 3) },
            chosen: FAN_OUT_MAX,
        },
        Case {
            what: "all serve the country, a window of 6 days",
            area: whole_country,
            hours: mixed_hours,
            need: Need { city: city("Pune"), ..window(NOON_MS, 6 * 24) },
            chosen: FAN_OUT_MAX,
        },
        Case {
            what: "all serve the country, all closed",
            area: whole_country,
            hours: |number| format!("Mon-Fri 09:{:02}-18:00", number % 60),
            need: Need { city: city("Pune"), ..Need::default() },
            chosen: 0,
        },
        Case {
            what: "all serve the country, all close within the quarter",
            area: whole_country,
            hours: |number| format!("Sat {:02}:{:02}-12:{:02}", number % 11, number / 11 % 60, number % 10 + 1),
            need: Need { city: city("Pune"), ..Need::default() },
            chosen: 0,
        },
    ]
}

fn partner(number: usize, case: &Case) -> Arc<Partner> {
    Arc::new(Partner {
        id: PartnerId::parse(&format!("ptr_{number:016x}")).expect("well formed"),
        name: format!("Partner {number}"),
        endpoint: Endpoint::mcp("https://partner.example/mcp"),
        mappings: Mappings::new(),
        listings: vec![Listing {
            intent: IntentId::parse(INTENT).expect("well formed"),
            service_area: (case.area)(number),
            availability: (case.hours)(number),
            declared: Axes::UNDECLARED,
            prices: None,
        }],
        token: None,
        sign_in: None,
    })
}

/// Measures each question.
pub(crate) fn run() {
    println!("\nA choice among {PARTNERS} partners\n");
    for case in cases() {
        let partners: Vec<_> = (0..PARTNERS).map(|number| partner(number, &case)).collect();
        let start = Instant::now();
        let directory = Directory::new(partners);
        let built = start.elapsed();
        let selection = directory.select(INTENT, &case.need, Timestamp::from_ms(NOON_MS));
        assert_eq!(selection.chosen.len(), case.chosen, "{}", case.what);
        assert_eq!(selection.chosen.len() + selection.left_out.len() + selection.left_out_more, PARTNERS);
        let choice = measure(|| {
            black_box(directory.select(INTENT, black_box(&case.need), Timestamp::from_ms(NOON_MS)));
        });
        line(
            case.what,
            &format!("{:.1} us", us(choice)),
            &format!("aim {AIM_US:.0} us: {}; index built in {:.0} ms", verdict(us(choice) <= AIM_US), us(built) / 1e3),
        );
    }
}
