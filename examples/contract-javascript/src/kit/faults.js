/**
 * Why a call fails: an exception that is no refusal ends the call in a trap. Before it does, its text and place are told,
 * for the platform team.
 */

/** The first place of a stack: `checkRequest (src/requests.js:12:5)`. */
const PLACE = /^\s*at\s+(.+)$/m;

/** What has the members of the WIT record `refusal` answers the error case of a `result`. */
const isRefusal = (thrown) => typeof thrown === "object" && thrown !== null && "code" in thrown && "violations" in thrown;

/** The text and the place of whatever was thrown. */
export function described(thrown) {
  if (!(thrown instanceof Error)) return { message: String(thrown), place: null };
  return { message: String(thrown), place: PLACE.exec(thrown.stack ?? "")?.[1] ?? null };
}

/** The same functions, each of which tells `report` of what it throws, unless that is a refusal. */
export function telling(functions, report) {
  const told = (call) => (...parameters) => {
    try {
      return call(...parameters);
    } catch (thrown) {
      if (!isRefusal(thrown)) {
        const { message, place } = described(thrown);
        report(message, place);
      }
      throw thrown;
    }
  };
  return Object.fromEntries(Object.entries(functions).map(([name, call]) => [name, told(call)]));
}
