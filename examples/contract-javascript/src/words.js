/** The words by which the contract knows its utterances: English and Hinglish, and a few in Devanagari. */

import { lexicon } from "./kit/lexicon.js";

/** One of these occurs in every utterance that may concern the contract; the host asks only then. */
export const CUES = [
  "puc", "pucc", "pollution", "polution", "emission", "emissions", "pradushan", "dhuan", "dhuaan", "smoke", "smog",
  "प्रदूषण", "पीयूसी",
];

const PUC = ["puc", "pucc", "पीयूसी"];
const POLLUTION = ["pollution", "polution", "emission", "emissions", "pradushan", "smog", "प्रदूषण"];
const SMOKE = ["dhuan", "dhuaan", "smoke"];
/** What is done to a certificate, in the words of people. */
const CHECK = [
  "check", "checked", "checkup", "test", "tested", "testing", "certificate", "certi", "paper", "slip", "centre",
  "center", "renew", "renewal", "expire", "expired", "expires", "expiring", "under control",
  "karana", "karwana", "karvana", "karao", "karwao", "karwani", "karani", "karwa do", "kara do", "banwana", "banwani",
  "banwao", "banwa do", "khatam", "jaanch", "janch", "जांच", "करवाना", "बनवाना",
];

const GENERAL_SERVICE = "auto.book_general_service";
const MAJOR_SERVICE = "auto.book_major_service";
const MOTOR_INSURANCE = "finance.buy_motor_insurance";

export const WORDS = lexicon({
  claims: [
    { name: "PUC", weight: 0.7, all: [PUC] },
    { name: "pollution check", weight: 0.8, all: [POLLUTION, CHECK] },
    { name: "smoke test", weight: 0.6, all: [SMOKE, ["test", "jaanch", "janch", "testing"]] },
  ],
  referrals: [
    {
      intent: MAJOR_SERVICE,
      reason: "Coloured or heavy smoke is a fault of the engine.",
      weight: 0.9,
      all: [["black smoke", "white smoke", "blue smoke", "kaala dhuan", "kala dhuan", "safed dhuan", "engine smoke"]],
      unless: PUC,
    },
    {
      reason: "The air of a place is no matter of a vehicle's certificate.",
      weight: 0.9,
      all: [["aqi", "air quality", "air pollution", "pollution level", "pollution mask", "smog level", "air purifier"]],
      unless: PUC,
    },
    {
      reason: "Paying a fine is no test.",
      weight: 0.7,
      all: [["challan", "fine"], ["pay", "bharna", "bharo", "jama", "payment"]],
    },
  ],
  pairs: [
    { intent: MOTOR_INSURANCE, any: ["insurance", "bima", "insurence", "बीमा"] },
    { intent: GENERAL_SERVICE, any: ["car service", "bike service", "servicing", "general service", "full service"] },
  ],
});

/** Intents that are proposed together with this one. */
export const PAIRS = [MOTOR_INSURANCE, GENERAL_SERVICE];
/** Intents to which utterances are sent that do not belong here. */
export const ELSEWHERE = [MAJOR_SERVICE];
