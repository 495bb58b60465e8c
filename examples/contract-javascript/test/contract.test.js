/** The contract as the host sees it, run natively: its examples, its descriptor, its ranking. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { contract } from "../src/contract.js";
import {
  BOOKING_SAMPLE, BOOK_SAMPLE, CENTRE_SAMPLE, EXAMPLES, REPORT_SAMPLE, REQUEST_SAMPLE, changed,
} from "../src/examples.js";
import { judge } from "../src/kit/shape.js";
import { BOOK_ARGUMENTS, PUC_BOOKING, PUC_CENTRE, REPORT, REQUEST } from "../src/shapes.js";
import { CONTEXT, aboutQuote, holds, outcome } from "./run.js";

const UNDECLARED = { time: 0.5, taste: 0.5, budget: 0.5, safety: 0.5 };
const REQUEST_JSON = JSON.stringify(REQUEST_SAMPLE);

/** Evaluates options, all from one source. */
function evaluated(options, { requestId = "r", request = REQUEST_JSON, declared = UNDECLARED } = {}) {
  const candidates = options.map((option, number) => ({ number, json: JSON.stringify(option) }));
  return contract.evaluate({ ...CONTEXT, requestId }, request, [{ declared, candidates }], []);
}

const centre = (id, changes = {}) => changed(CENTRE_SAMPLE, { "/centre_id": id, ...changes });

describe("the contract's own examples", () => {
  for (const example of EXAMPLES) test(example.name, () => holds(example));
  const of = (example) => `${example.call.tag} ${example.expect.accepted}`;
  test("each function has an accepted one", () => {
    const seen = new Set(EXAMPLES.map(of));
    for (const tag of ["classify", "check-request", "evaluate", "check-response", "check-completion"]) {
      assert.ok(seen.has(`${tag} true`) && seen.has(`${tag} false`), tag);
    }
  });
});

describe("shapes", () => {
  const documents = [
    ["request", REQUEST, REQUEST_SAMPLE],
    ["centre", PUC_CENTRE, CENTRE_SAMPLE],
    ["booking arguments", BOOK_ARGUMENTS, BOOK_SAMPLE],
    ["booking", PUC_BOOKING, BOOKING_SAMPLE],
    ["report", REPORT, REPORT_SAMPLE],
  ];
  /** Every pointer to a member that the schema names, at any depth. */
  const members = (schema, at = "") =>
    Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [
      { at: `${at}/${name}`, required: schema.required.includes(name) },
      ...members(inner, `${at}/${name}`),
    ]);
  const found = (shape, value) => judge(shape, JSON.stringify(value)).violations;

  for (const [name, shape, sample] of documents) {
    test(`a sound ${name} passes, and each member is needed where it is required`, () => {
      assert.deepEqual(found(shape, sample), []);
      for (const { at, required } of members(shape.schema)) {
        const parents = at.split("/").slice(1, -1);
        const there = parents.reduce((inside, key) => inside?.[key], sample) !== undefined;
        if (!there) continue;
        const without = found(shape, changed(sample, { [at]: undefined }));
        const expected = required ? [[at, "REQUIRED"]] : [];
        assert.deepEqual(without.map(({ pointer, code }) => [pointer, code]), expected, at);
        // No member takes an array of arrays, so each member's type is judged.
        const wrong = found(shape, changed(sample, { [at]: [[]] }));
        assert.ok(wrong.some(({ pointer, code }) => pointer.startsWith(at) && code === "WRONG_TYPE"), at);
      }
    });
  }

  test("every member of an option and of a report is required", () => {
    for (const shape of [PUC_CENTRE, REPORT]) {
      assert.deepEqual(members(shape.schema).filter(({ required }) => !required), []);
    }
  });
});

describe("describe", () => {
  const descriptor = contract.describe();
  test("weights sum to 1", () => {
    const sum = (list) => list.reduce((total, weight) => total + weight, 0);
    assert.ok(Math.abs(sum(Object.values(descriptor.ranking.weights)) - 1) < 1e-9);
    for (const axis of ["time", "taste", "budget", "safety"]) {
      const own = descriptor.ranking.signals.filter((signal) => signal.axis === axis);
      assert.ok(Math.abs(sum(own.map(({ weight }) => weight)) - 1) < 1e-9, axis);
    }
  });
  test("the codes that the search names are in the error table", () => {
    const known = descriptor.errors.map(({ code }) => code);
    assert.ok(known.includes(descriptor.search.emptyCode) && known.includes(descriptor.search.goneCode));
  });
  test("a card has the slots that the widget declares", () => {
    const [{ card }] = evaluated([centre("a")]).ranked;
    assert.deepEqual(Object.keys(JSON.parse(card)), descriptor.widget.slots.map(({ name }) => name));
  });
  test("every cue is in lower case", () => {
    for (const cue of descriptor.cues) assert.equal(cue, cue.toLowerCase());
  });
});

describe("check-request", () => {
  const check = (text) => contract.checkRequest({ ...CONTEXT, requestId: 'r"1' }, "search_puc_centres", text);
  test("the request identifier is filled in, and nothing else changes", () => {
    const { arguments: sent } = check(` ${REQUEST_JSON}`);
    assert.equal(sent, ` {"request_id":"r\\"1",${REQUEST_JSON.slice(1)}`);
    const own = JSON.stringify({ request_id: "mine", ...REQUEST_SAMPLE });
    assert.equal(check(own).arguments, own);
  });
  test("place and time are told to the host", () => {
    assert.deepEqual(check(REQUEST_JSON).need, {
      city: "Pune", postalCode: "411001",
      fromMs: Date.parse("2026-01-02T09:00:00+05:30"), untilMs: Date.parse("2026-01-02T19:00:00+05:30"),
    });
  });
  test("a band that is the name of an inherited member is unknown, and counts as neutral", () => {
    const request = JSON.stringify({ ...REQUEST_SAMPLE, ttbs_user_band: { time: "constructor" } });
    assert.deepEqual(check(request).notes.map(({ pointer, code }) => [pointer, code]),
      [["/ttbs_user_band/time", "UNKNOWN_BAND"]]);
    const totalFor = (one) => evaluated([centre("a")], { request: one }).ranked[0].total;
    assert.equal(totalFor(request), totalFor(REQUEST_JSON));
  });
});

describe("evaluate", () => {
  test("each option is mentioned once, by its number", () => {
    const { ranked, dropped } = evaluated([centre("a"), centre("a"), {}, centre("b")]);
    assert.deepEqual([...ranked, ...dropped].map(({ number }) => number).sort(), [0, 1, 2, 3]);
    assert.deepEqual(dropped.map(({ id }) => id), ["a", null]);
  });
  test("a broken option still holds its identifier", () => {
    const { dropped } = evaluated([{ centre_id: "a" }, centre("a")]);
    assert.deepEqual(dropped[1].violations.map(({ code }) => code), ["DUPLICATE_OPTION"]);
  });
  test("the order does not depend on the order of the options, ties included", () => {
    const options = ["a", "b", "c", "d", "e"].map((id) => centre(id));
    const orders = [options, [...options].reverse()].map((list) => evaluated(list).ranked.map(({ id }) => id));
    assert.deepEqual(orders[0], orders[1]);
    assert.equal(new Set(evaluated(options).ranked.map(({ total }) => total)).size, 1);
  });
  test("ties fall differently for different requests", () => {
    const options = [centre("a"), centre("b")];
    const winners = Array.from({ length: 64 }, (_, n) => evaluated(options, { requestId: `r-${n}` }).ranked[0].id);
    assert.ok(winners.includes("a") && winners.includes("b"));
  });
  test("declared signals weigh a fifth of each axis", () => {
    const none = { time: 0, taste: 0, budget: 0, safety: 0 };
    const all = { time: 1, taste: 1, budget: 1, safety: 1 };
    const [low, high] = [none, all].map((declared) => evaluated([centre("a")], { declared }).ranked[0]);
    for (const axis of Object.keys(none)) assert.ok(Math.abs(high.axes[axis] - low.axes[axis] - 0.2) < 1e-9, axis);
  });
  for (const [axis, worse] of [
    ["time", { "/provider/distance_from_user_km": 9 }],
    ["time", { "/slot_window/start": "2026-01-02T09:00:00+05:30" }],
    ["time", { "/slot_window/typical_duration_minutes": 60 }],
    ["taste", { "/ratings/avg_rating": 2 }],
    ["taste", { "/ratings/review_count": 1 }],
    ["taste", { "/provider/provider_type": "mobile_unit" }],
    ["budget", { "/price/test_fee_inr": 200, "/price/total_inr": 218 }],
    ["budget", { "/price/test_fee_inr": 90, "/price/convenience_fee_inr": 10 }],
    ["safety", { "/test/uploads_to_vahan": false }],
    ["safety", { "/test/equipment_calibrated_on": "2025-03-01" }],
    ["safety", { "/certificate/issued_same_visit": false }],
  ]) {
    test(`${Object.keys(worse)[0]} counts for ${axis}, and for nothing else`, () => {
      const { ranked } = evaluated([centre("worse", worse), centre("better")]);
      assert.deepEqual(ranked.map(({ id }) => id), ["better", "worse"]);
      for (const other of ["time", "taste", "budget", "safety"]) {
        const [better, lesser] = ranked.map(({ axes }) => axes[other]);
        assert.ok(other === axis ? better > lesser : better === lesser, other);
      }
    });
  }
  test("a band shifts the order", () => {
    const near = centre("near", { "/price/test_fee_inr": 400, "/price/total_inr": 418 });
    const slow = { "/provider/distance_from_user_km": 10, "/slot_window/typical_duration_minutes": 60 };
    const first = (bands) => {
      const request = JSON.stringify({ ...REQUEST_SAMPLE, ttbs_user_band: bands });
      return evaluated([near, centre("cheap", slow)], { request }).ranked[0].id;
    };
    assert.equal(first({ budget: "ok", time: "flexible" }), "cheap");
    assert.equal(first({ budget: "great", time: "fast" }), "near");
  });
});

describe("the edges of rules", () => {
  const { start, end } = REQUEST_SAMPLE.service_preferences.preferred_window;
  const slot = (from, to) => ({ "/slot_window/start": from, "/slot_window/end": to });
  /** What an option is dropped for, and what is found of it. */
  const judged = (changes, request) => {
    const { dropped, findings } = evaluated([centre("a", changes)], request ? { request } : {});
    return [...dropped.flatMap(({ violations }) => violations), ...findings.map(({ violation }) => violation)]
      .map(({ code }) => code);
  };
  for (const [changes, expected] of [
    [{}, []],
    [{ "/provider/distance_from_user_km": 10 }, []],
    [{ "/provider/distance_from_user_km": 30 }, ["OUTSIDE_RADIUS"]],
    [{ "/provider/distance_from_user_km": 30.1 }, ["OUT_OF_RANGE"]],
    [slot(start, end), []],
    [slot(end, "2026-01-02T19:00:01+05:30"), []],
    [slot("2026-01-02T08:59:59+05:30", end), ["OUTSIDE_WINDOW"]],
    [slot("2026-01-02T19:00:01+05:30", "2026-01-02T20:00:00+05:30"), ["OUTSIDE_WINDOW"]],
    [slot(start, start), ["WINDOW_ORDER"]],
    [{ "/price/total_inr": 119 }, []],
    [{ "/price/total_inr": 117 }, []],
    [{ "/price/total_inr": 120 }, ["PRICE_SUM"]],
    [{ "/price/total_inr": 116 }, ["PRICE_SUM"]],
    [{ "/price/convenience_fee_inr": 20, "/price/total_inr": 138 }, []],
    [{ "/test/equipment_calibrated_on": "2026-01-02" }, []],
    [{ "/test/equipment_calibrated_on": "2026-01-03" }, ["CALIBRATION_DATE"]],
    [{ "/test/equipment_calibrated_on": "2025-01-02" }, []],
    [{ "/test/equipment_calibrated_on": "2025-01-01" }, ["CALIBRATION_DATE"]],
  ]) {
    const name = `${JSON.stringify(changes)}: ${expected.join(", ") || "nothing"}`;
    test(name, () => assert.deepEqual(judged(changes), expected));
  }
  test("only an overstated validity is a strike", () => {
    const bs3 = JSON.stringify(changed(REQUEST_SAMPLE, { "/vehicle/emission_norm": "bs3" }));
    const unknown = JSON.stringify(changed(REQUEST_SAMPLE, { "/vehicle/emission_norm": undefined }));
    assert.equal(evaluated([centre("a")], { request: bs3 }).dropped[0].strike, true);
    assert.equal(evaluated([centre("a", { "/provider/state_authorised": false })]).dropped[0].strike, false);
    assert.equal(evaluated([{}]).dropped[0].strike, false);
    assert.deepEqual(judged({}, unknown), []);
    assert.deepEqual(judged({ "/certificate/validity_months": 6 }, bs3), []);
  });
  test("a window of no length is none", () => {
    const request = changed(REQUEST_SAMPLE, { "/service_preferences/preferred_window/end": start });
    const { codes } = outcome(() => contract.checkRequest(CONTEXT, "search_puc_centres", JSON.stringify(request)));
    assert.ok(codes.includes("WINDOW_ORDER"));
  });
  test("the numbers of one option, by hand", () => {
    const [{ axes, total }] = evaluated([centre("a")]).ranked;
    const near = (found, expected) => assert.ok(Math.abs(found - expected) < 1e-9, `${found} for ${expected}`);
    const days = 48; // from 2025-11-15 to 2026-01-02
    const rules = {
      time: 0.35 * (1 - 2.5 / 10) + 0.4 * 1 + 0.25 * (1 - 10 / 115),
      taste: 0.5 * 1 + 0.5 * ((4.5 * 120 + 3 * 10) / 130 / 5),
      budget: 1,
      safety: 0.5 + 0.3 * (1 - days / 365) + 0.2,
    };
    for (const [axis, value] of Object.entries(rules)) near(axes[axis], 0.8 * value + 0.2 * 0.5);
    const sum = 0.3 * axes.time + 0.1 * axes.taste + 0.25 * axes.budget + 0.35 * axes.safety;
    near(total, 0.9 * sum + 0.1);
  });
});

describe("check-completion", () => {
  const check = (changes) => contract.checkCompletion(CONTEXT, JSON.stringify(changed(REPORT_SAMPLE, changes)), aboutQuote(null));
  test("amounts become paise, and only a completed check is charged", () => {
    assert.deepEqual([check({}).amountPaise, check({}).charged], [8550, true]);
    const cancelled = check({ "/status": "cancelled", "/test_result": null, "/certificate_number": null });
    assert.deepEqual([cancelled.status, cancelled.charged], ["cancelled", false]);
  });
  test("lateness is stated as unknown, with and without a quote", () => {
    const report = JSON.stringify(REPORT_SAMPLE);
    for (const quoted of [null, JSON.stringify(CENTRE_SAMPLE)]) {
      const passed = contract.checkCompletion(CONTEXT, report, aboutQuote(quoted));
      assert.ok(Object.hasOwn(passed, "lateMinutes") && passed.lateMinutes === null);
    }
  });
  for (const [changes, code] of [
    [{ "/test_result": null, "/certificate_number": null }, "RESULT_MISSING"],
    [{ "/test_result": "fail" }, "CERTIFICATE_WITHOUT_PASS"],
    [{ "/amount_inr": -1 }, "OUT_OF_RANGE"],
    [{ "/intent": "auto.book_ac_service" }, "UNEXPECTED_VALUE"],
    [{ "/closed_at": "2026-01-02T14:20:00" }, "BAD_FORMAT"],
  ]) {
    test(`${JSON.stringify(changes)} is ${code}`, () => {
      const { accepted, codes } = outcome(() => void check(changes));
      assert.ok(!accepted && codes.includes(code), codes.join(", "));
    });
  }
  test("revenue up to the whole price is no finding", () => {
    const report = JSON.stringify(changed(REPORT_SAMPLE, { "/amount_inr": 118 }));
    assert.deepEqual(contract.checkCompletion(CONTEXT, report, aboutQuote(JSON.stringify(CENTRE_SAMPLE))).findings, []);
  });
  test("a quoted option that cannot be read is a finding", () => {
    const { findings } = contract.checkCompletion(CONTEXT, JSON.stringify(REPORT_SAMPLE), aboutQuote("{}"));
    assert.deepEqual(findings.map(({ code }) => code), ["QUOTE_UNREADABLE"]);
  });
});
