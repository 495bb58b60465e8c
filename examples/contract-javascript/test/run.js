/** Runs the contract's own examples as the host does, and asserts what each expects. */

import assert from "node:assert/strict";

import { contract } from "../src/contract.js";
import { Refusal } from "../src/kit/violations.js";

/** The context of every example, as the interface states it. */
export const CONTEXT = { requestId: "example", nowMs: 1_767_225_600_000 };

const codesOf = (violations) => violations.map(({ code }) => code);

/** What a call is about that belongs to no order. */
export const aboutQuote = (quoted) => ({ quoted, order: null });

/** How each function of an example is called, and which codes and order come out. */
const CALLS = {
  classify: (utterance) => ({ accepted: contract.classify(utterance, "en-IN").score >= 0.5 }),
  "check-request": ({ tool, arguments: json, about }) => ({
    codes: codesOf(contract.checkRequest(CONTEXT, tool, json, about).notes),
  }),
  evaluate: ({ request, payloads, history }) => {
    const { ranked, dropped, findings } = contract.evaluate(CONTEXT, request, payloads, history);
    const violations = [...dropped.flatMap((one) => one.violations), ...findings.map(({ violation }) => violation)];
    return { codes: codesOf(violations), order: ranked.map(({ id }) => id) };
  },
  "check-response": (exchange) => ({ codes: codesOf(contract.checkResponse(CONTEXT, exchange).findings) }),
  "check-completion": ({ report, about }) => {
    const { findings, strikes } = contract.checkCompletion(CONTEXT, report, about);
    return { codes: codesOf([...findings, ...strikes]) };
  },
};

/** The outcome of a call, a refusal included. What is no refusal is a fault and goes on up. */
export function outcome(call) {
  try {
    return { accepted: true, codes: [], order: [], ...call() };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    assert.notEqual(error.violations.length, 0, "a refusal has violations");
    return { accepted: false, codes: [error.code, ...codesOf(error.violations)], order: [] };
  }
}

/** Asserts that an example holds. */
export function holds({ call, expect }) {
  const { accepted, codes, order } = outcome(() => CALLS[call.tag](call.val));
  assert.equal(accepted, expect.accepted, codes.join(", "));
  for (const code of expect.codes) assert.ok(codes.includes(code), `${code} is not in ${codes.join(", ")}`);
  if (expect.order.length > 0) assert.deepEqual(order, expect.order);
}
