// Routes an utterance, searches, and books the best option: `npx tsx book.mts "my car's AC blows warm air"`.
//
// INTENT_GATEWAY_URL and INTENT_GATEWAY_TOKEN say where and as whom.

import { Gateway, Refused } from "@intent-gateway/client";

const { INTENT_GATEWAY_URL: url, INTENT_GATEWAY_TOKEN: token } = process.env;
const [utterance] = process.argv.slice(2);
if (!url || !token || !utterance) throw new Error('usage: INTENT_GATEWAY_URL=... INTENT_GATEWAY_TOKEN=... book.mts "UTTERANCE"');

const user = "user-17";
const details = {
  vehicle: { type: "car", year_of_manufacture: 2019, ac_system_type: "automatic" },
  ac_issue: { category: "not_cooling", user_description: utterance, last_serviced_months_ago: 14 },
};
const { orchestrator } = new Gateway({ url, token });

try {
  const { intent } = await orchestrator.classify({ utterance });
  if (!intent) throw new Error("nobody serves that");
  console.log(intent);

  const request = {
    intent,
    ...details,
    user_location: { lat: 12.9716, lng: 77.5946, max_radius_km: 25, city: "Bengaluru" },
    service_preferences: { doorstep_acceptable: true },
    ttbs_user_band: { budget: "good" },
  };
  let reference: string | undefined;
  for await (const event of orchestrator.streamSearch(intent, request, { user })) {
    if (event.event === "error") throw new Refused(event.data.error);
    if (event.event !== "snapshot") continue;
    const [best] = event.data.options;
    reference = best?.reference;
    console.log(`${event.data.options.length} options, ${event.data.awaited.length} partners awaited; best: ${best?.card["header"]}`);
  }
  if (!reference) throw new Error("nobody has anything to offer");

  const booking = { reference, arguments: { ...details, contact_phone: "+919876543210" } };
  const { order } = await orchestrator.callOnce(intent, "create_ac_service_booking", booking, { user });
  console.log(`${order?.id} is ${order?.state}`);
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  console.error(`refused: ${error.code}, request ${error.requestId}`);
  for (const { pointer, message } of error.violations) console.error(`  ${pointer}: ${message}`);
  process.exitCode = 1;
}
