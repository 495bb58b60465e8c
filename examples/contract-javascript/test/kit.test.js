/** The kit's parts, each alone. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { described, telling } from "../src/kit/faults.js";
import { daysOf, instantMs, isHttpsUrl, isLocaleTag, isPhone, isPincode, paiseOf } from "../src/kit/formats.js";
import { parse } from "../src/kit/json.js";
import { classified, lexicon } from "../src/kit/lexicon.js";
import { blend, lowerIsBetter, rank, tieHash, unit, weighted, weightsFor } from "../src/kit/ranking.js";
import {
  MAX_DOCUMENT_CHARS, array, integer, integerOutOf, judge, name, number, object, optional, text, textOfLength,
} from "../src/kit/shape.js";
import { MAX_VIOLATIONS, Refusal, Violations, quoted } from "../src/kit/violations.js";

/** `[pointer, code]` of all that is wrong with a document. */
const wrong = (shape, json) => judge(shape, json).violations.map(({ pointer, code }) => [pointer, code]);

describe("datetimes and dates", () => {
  test("agree with the engine's own parser where that is strict", () => {
    for (const written of [
      "2026-05-04T10:00:00+05:30", "2024-02-29T23:59:59Z", "1970-01-01T00:00:00Z", "1969-12-31T23:59:59Z",
      "2000-02-29T00:00:00.5-11:00", "2100-03-01T00:00Z", "0099-12-31T00:00:00Z", "9999-12-31T23:59:59.999Z",
    ]) {
      assert.equal(instantMs(written), Date.parse(written), written);
    }
    assert.equal(instantMs("2026-05-04T10:00:00+0530"), Date.parse("2026-05-04T10:00:00+05:30"));
  });
  test("what is none is refused", () => {
    for (const written of [
      "", "2026-05-04", "2026-05-04T10:00:00", "2026-05-04t10:00:00Z", "2026-05-04 10:00:00Z", "2026-02-29T00:00:00Z",
      "2100-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-04-31T00:00:00Z",
      "2026-05-04T24:00:00Z", "2026-05-04T10:60:00Z", "2026-05-04T10:00:60Z", "2026-05-04T10:00:00+24:00", "x",
      "2026-05-04T10:00:00Z\n",
    ]) {
      assert.equal(instantMs(written), null, written);
    }
    assert.deepEqual(["2024-02-29", "2025-02-29", "2024-2-9"].map(daysOf), [19_782, null, null]);
  });
});

describe("texts", () => {
  const check = (sound, good, bad) => {
    for (const one of good) assert.ok(sound(one), one);
    for (const one of bad) assert.ok(!sound(one), one);
  };
  test("URLs", () =>
    check(isHttpsUrl,
      ["https://example.com", "https://example.com:8443/a?b=c#d", "https://bücher.example/ä",
        "https://[2001:db8::1]/", "https://user@example.com/a%20b", "https://example.com:65535"],
      ["", "http://example.com", "HTTPS://example.com", "https://", "https:///a", "https://a..b", "https://a b",
        "https://example.com/a b", "https://example.com:99999/", "https://example.com\\@evil.example"]));
  test("phones, postal codes, locale tags", () => {
    check(isPhone, ["+919812345678", "+12"], ["919812345678", "+0123", "+1", "+1234567890123456", "+91 98123"]);
    check(isPincode, ["411001"], ["011001", "41100", "4110011", "४११००१"]);
    check(isLocaleTag, ["en", "en-IN", "hi-Deva-IN"], ["", "e", "en_IN", "en-"]);
  });
});

test("amounts are read from their digits", () => {
  const cases = {
    0: 0, "-0.00": 0, 12: 1200, 12.5: 1250, "12.500": 1250, "1.25e1": 1250, "125000E-4": 1250, 0.29: 29, 1.15: 115,
    "4503599627.37": 450_359_962_737, "1e12": 1e14, "0e99999": 0, "1.10e2": 11_000,
  };
  for (const [digits, paise] of Object.entries(cases)) assert.deepEqual(paiseOf(digits), { paise }, digits);
  for (const digits of ["0.005", "10.000000000000000001", "1e-3", "1e-999999999999"]) {
    assert.equal(paiseOf(digits).outOfRange, false, digits);
  }
  for (const digits of ["-1", "-0.01", "1000000000000.01", "1e999999999999"]) {
    assert.equal(paiseOf(digits).outOfRange, true, digits);
  }
});

describe("reading JSON", () => {
  const read = (json) => {
    const found = new Violations();
    return { document: parse(json, found), codes: found.list().map(({ code }) => code) };
  };
  test("what occurs twice is found, however it is written", () => {
    for (const json of [
      '{"a":1,"a":2}', '{"a":1, "\\u0061":2}', '{"x":[{"b":"}","b":[]},{"b":1}],"b":1}', '{"a/b":1,"a/b":1}',
      '{"a" :1,\n"a"\t:1}', '{"__proto__":1,"__proto__":2}',
      // In these a string holds what looks like the end of a key once it is written without escapes.
      '{"s":"\\u0022:","a":1,"a":2}', '{"s":"\\"\\u003A","a":1,"a":2}', '{"s":"\\"\\u0020:","a":1,"a":2}',
      '{"a":"\\":","a":2}',
    ]) {
      assert.deepEqual(read(json).codes, ["DUPLICATE_KEY"], json);
    }
  });
  test("what occurs once is not, however it is written", () => {
    for (const json of [
      '{ "a" : { "c" : 1 }, "b" : { "c" : "a" } }', '[ {"a":1}, {"a":1}, "a", "a" ]', " 3.0",
      '{"s":"\\u0022:", "t":"\\"\\u003a", "u":"\\" :\\u0020:", "v":"\\\\u0022:", "w\\\\":1, "x\\u005c":2}',
      '{"\\u0022:":1, "\\":x":{"\\u003a":1}, "n":"\\n:\\u00a0\\u000a:"}',
    ]) {
      assert.deepEqual(read(json).codes, [], json);
      assert.deepEqual(read(json).document.value, JSON.parse(json));
    }
  });
  test("numbers keep their digits", () => {
    const { document } = read('{"a": [1.50, {"b": -2E+3}], "c": 0.10, "d": "7.0"}');
    const at = (pointer) => document.digits(pointer);
    assert.deepEqual(["/a/0", "/a/1/b", "/c", "/d"].map(at), ["1.50", "-2E+3", "0.10", undefined]);
    const deep = read('{"x":{"a~/b":[[],[0.0, {}]]}, "y":"\\"[{", "z" : 9.0}').document;
    assert.deepEqual([deep.digits("/x/a~0~1b/1/0"), deep.digits("/z")], ["0.0", "9.0"]);
    // A string that is a value is never taken for a key.
    assert.equal(read('{"a":"b", "c":["d", 1.0]}').document.digits("/c/1"), "1.0");
    assert.equal(read('{"a":10.005}').document.digits("/a", 10.005), "10.005");
    assert.equal(read(" 1.0 ").document.digits(""), "1.0");
  });
  test("what is no JSON has a code", () => {
    for (const json of [
      "", "{", "{a:1}", "[1,]", "01", "NaN", '"\\ud83d"', '{"\\ude00":1}', '{"a":"\\ud83dx"}', '"\\\\\\ud83d"',
    ]) {
      assert.deepEqual(read(json).codes, ["INVALID_JSON"], json);
    }
    for (const json of ['{"a":"\\ud83d\\ude00"}', '"\\\\ud83d"', '"\\\\\\\\ud83d"']) {
      assert.deepEqual(read(json).codes, [], json);
    }
  });
});

describe("shapes", () => {
  const SHAPE = object({ a: integer({ min: 0, max: 9 }), "b/c": optional(name()), d: optional(textOfLength(2)) });
  test("every violation is told, with its place", () => {
    assert.deepEqual(wrong(SHAPE, "{}"), [["/a", "REQUIRED"]]);
    assert.deepEqual(wrong(SHAPE, '{"a":3.0,"more":true}'), []);
    assert.deepEqual(wrong(SHAPE, '{"a":10,"b/c":" ","d":"abc"}'),
      [["/a", "OUT_OF_RANGE"], ["/b~1c", "EMPTY"], ["/d", "WRONG_LENGTH"]]);
    assert.deepEqual(wrong(SHAPE, '{"a":3.5,"b/c":null}'), [["/a", "WRONG_TYPE"], ["/b~1c", "WRONG_TYPE"]]);
    assert.deepEqual(wrong(SHAPE, '{"a":1,"a":1}'), [["", "DUPLICATE_KEY"]]);
    assert.deepEqual(wrong(SHAPE, '{"a":9007199254740993}'), [["/a", "OUT_OF_RANGE"]]);
    assert.deepEqual(wrong(SHAPE, '{"a":1e999}'), [["/a", "OUT_OF_RANGE"]]);
    for (const json of ["[]", "null", "1", '"a"']) assert.deepEqual(wrong(SHAPE, json), [["", "WRONG_TYPE"]], json);
  });
  test("bounds are included, and messages name them", () => {
    const at = (shape, value) => judge(shape, String(value)).violations.map(({ message }) => message);
    const between = number({ min: 0, max: 5 });
    assert.deepEqual([0, 5].map((value) => at(between, value)), [[], []]);
    assert.deepEqual(at(between, 5.5), ["Found 5.5; expected at least 0 and at most 5."]);
    assert.deepEqual(at(number({ min: 1 }), 0), ["Found 0; expected at least 1."]);
    assert.deepEqual(at(number({ max: 1 }), 2), ["Found 2; expected at most 1."]);
    assert.deepEqual(at(number(), "1e999"), ["Found Infinity; expected a finite number."]);
    assert.deepEqual(at(number(), "null"), ["Found: null; expected: number."]);
    assert.deepEqual(at(number(), "{}"), ["Found: object; expected: number."]);
  });
  test("inherited members do not count as there", () => {
    assert.deepEqual(wrong(object({ constructor: name(), toString: name() }), "{}"),
      [["/constructor", "REQUIRED"], ["/toString", "REQUIRED"]]);
  });
  test("lengths are counted in characters, not in units of UTF-16", () => {
    assert.deepEqual(wrong(textOfLength(2), '"😀😀"'), []);
    assert.deepEqual(wrong(text({ maxLength: 2 }), '"😀😀"'), []);
    assert.deepEqual(wrong(text({ maxLength: 2 }), '"😀😀😀"'), [["", "TOO_LONG"]]);
  });
  test("an array has so many entries, and one that has more is not looked into", () => {
    const shape = array(integer(), { minItems: 1, maxItems: 2 });
    assert.deepEqual(["[1]", "[1,true]", "[]", "[true,true,true]", "{}"].map((json) => wrong(shape, json)), [
      [], [["/1", "WRONG_TYPE"]], [["", "TOO_FEW_ITEMS"]], [["", "TOO_MANY_ITEMS"]], [["", "WRONG_TYPE"]],
    ]);
  });
  test("short lists of integers", () => {
    assert.deepEqual([6, 7, 6.5].map((value) => wrong(integerOutOf([6, 12]), String(value))[0]?.[1]),
      [undefined, "NOT_IN_VOCABULARY", "WRONG_TYPE"]);
  });
  test("a document of any size costs no more than one of the greatest", () => {
    assert.deepEqual(wrong(name(), JSON.stringify("x".repeat(MAX_DOCUMENT_CHARS - 2))), []);
    assert.deepEqual(wrong(name(), JSON.stringify("x".repeat(MAX_DOCUMENT_CHARS - 1))), [["", "TOO_LONG"]]);
  });
});

describe("violations", () => {
  test("a bounded number is kept, and the rest counted", () => {
    const found = new Violations();
    for (let index = 0; index < MAX_VIOLATIONS + 3; index += 1) found.add(`/${index}`, "REQUIRED", "Missing.");
    const list = found.list();
    assert.equal(list.length, MAX_VIOLATIONS);
    assert.equal(list.at(-1).message, "Missing. (3 more violations are not listed.)");
  });
  test("found texts are cut at a character and escaped", () => {
    assert.equal(quoted("a\nb"), '"a\\nb"');
    assert.equal(quoted("x".repeat(60)), `"${"x".repeat(60)}"`);
    assert.equal(quoted("😀".repeat(61)), `"${"😀".repeat(60)}"...`);
  });
});

describe("ranking", () => {
  test("signals are clamped, and weights that do not sum to 1 do not load", () => {
    assert.equal(blend({ a: 0.25, b: 0.75 }, { a: 2, b: Number.NaN }), 0.25);
    assert.throws(() => weighted({ a: 0.5, b: 0.4 }));
    assert.deepEqual([unit(-1), unit(2), unit(Number.NaN)], [0, 1, 0]);
  });
  test("scales are relative to the pool", () => {
    const scale = lowerIsBetter([10, 20, 40]);
    assert.deepEqual([scale(10), scale(40), lowerIsBetter([5, 5])(5)], [1, 0, 1]);
  });
  test("bands shift weights and keep their sum", () => {
    const factors = { time: { fast: 2 }, taste: {}, budget: {}, safety: {} };
    const plain = { time: 0.25, taste: 0.15, budget: 0.25, safety: 0.35 };
    const { time, budget } = weightsFor(plain, factors, { time: "fast", budget: "?" });
    assert.deepEqual([time, budget], [0.5 / 1.25, 0.25 / 1.25]);
  });
  test("options are ranked by total, then by hash, and never by their place", () => {
    const option = (id, total) => ({ total, json: JSON.stringify({ id }) });
    const all = [option("a", 0.5), option("b", 0.5), option("c", 0.5), option("best", 0.6), option("last", 0.4)];
    const ranked = (list) => {
      const copy = [...list];
      rank("r", copy);
      return copy;
    };
    assert.deepEqual(ranked(all), ranked([...all].reverse()));
    assert.deepEqual([ranked(all)[0], ranked(all)[4]], [all[3], all[4]]);
  });
  test("equal hashes are decided by the text", () => {
    // Found by search: the two texts have the same hash under this request.
    const [first, second] = ["329599", "532382"].map((json) => ({ total: 1, json }));
    assert.equal(tieHash("r", first.json), tieHash("r", second.json));
    for (const list of [[first, second], [second, first]]) {
      rank("r", list);
      assert.deepEqual(list, [first, second]);
    }
  });
});

describe("classification", () => {
  const words = lexicon({
    claims: [{ name: "tea", weight: 0.8, all: [["tea", "cup of char"], ["brew"]] }],
    referrals: [
      { intent: "food.milk", reason: "Milk is not tea.", weight: 0.3, all: [["milk"]] },
      { intent: "food.coffee", reason: "Coffee is not tea.", weight: 0.9, all: [["coffee"]], unless: ["no coffee"] },
    ],
    pairs: [{ intent: "food.biscuit", any: ["biscuits"] }],
  });
  test("every group must occur, in whole words", () => {
    assert.equal(classified(words, "Tea?").score, 0);
    assert.equal(classified(words, "team brewery").score, 0);
    const found = classified(words, "Please BREW a cup-of-char, and biscuits!");
    assert.ok(found.score > 0.79);
    assert.deepEqual([found.evidence, found.also], [["tea: cup of char + brew"], ["food.biscuit"]]);
  });
  test("a referral takes away unless it is excepted", () => {
    const found = classified(words, "brew tea or coffee");
    assert.ok(found.score < 0.5);
    assert.equal(found.elsewhere[0].intent, "food.coffee");
    const both = classified(words, "coffee with milk").elsewhere.map(({ intent }) => intent);
    assert.deepEqual(both, ["food.coffee", "food.milk"]);
    assert.deepEqual(classified(words, "brew tea, no coffee").elsewhere, []);
  });
});

describe("exceptions", () => {
  const thrownBy = (thrown) => {
    const reports = [];
    const functions = telling({ brew: (cup) => { if (thrown) throw thrown; return cup; } }, (...said) => reports.push(said));
    let caught = null;
    try {
      assert.equal(functions.brew("green"), "green");
    } catch (error) {
      caught = error;
    }
    return { caught, reports };
  };
  test("are told with their place and thrown on", () => {
    const error = new TypeError("no tea");
    error.stack = "    at brew (src/tea.js:3:5)\n    at <anonymous> (src/contract.js:9:1)\n";
    const { caught, reports } = thrownBy(error);
    assert.equal(caught, error);
    assert.deepEqual(reports, [["TypeError: no tea", "brew (src/tea.js:3:5)"]]);
    assert.deepEqual(described("just a text"), { message: "just a text", place: null });
    assert.match(described(new Error("here")).place, /kit\.test\.js:\d+:\d+/);
  });
  test("refusals and answers are nobody's affair", () => {
    const refusal = new Refusal("INVALID_REQUEST", []);
    const { caught, reports } = thrownBy(refusal);
    assert.equal(caught, refusal);
    assert.deepEqual(reports, []);
    assert.deepEqual(thrownBy(null), { caught: null, reports: [] });
  });
});
