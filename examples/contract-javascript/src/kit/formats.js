/** How texts are written: datetimes, dates, URLs, phone numbers, locale tags. And amounts, exactly. */

const MS_PER_MINUTE = 60_000;
export const MS_PER_DAY = 24 * 60 * MS_PER_MINUTE;
/** Greatest amount in a report in paise: a million million INR. Its float is exact. */
const MAX_PAISE = 100_000_000_000_000n;
/** Characters of a number that is read as an amount; what is longer is no amount that anybody meant. */
const MAX_AMOUNT_CHARS = 40;
const MAX_PORT = 65_535;

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const DATE_TIME = /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:Z|([+-])(\d\d):?(\d\d))$/;
const PHONE = /^\+[1-9]\d{1,14}$/;
const PINCODE = /^[1-9]\d{5}$/;
const LOCALE = /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/;
const USER = "(?:[^\\s/?#@\\\\\\p{Cc}]*@)?";
const HOST = "(?:\\[[0-9A-Fa-f:.]+\\]|[\\p{L}\\p{N}_-]+(?:\\.[\\p{L}\\p{N}_-]+)*\\.?)";
const HTTPS_URL = new RegExp(`^https://${USER}${HOST}(?::(\\d{1,5}))?(?:[/?#][^\\s\\\\\\p{Cc}]*)?$`, "u");
const AMOUNT = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Days from 1970-01-01 to a date of the proleptic Gregorian calendar, or null if it is no date. */
export function daysOf(text) {
  const match = DATE.exec(text);
  if (!match) return null;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const length = month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
  if (month < 1 || month > 12 || day < 1 || day > length) return null;
  // Counted from March on, so that the leap day is the last of its year; `Date` misreads the years before 100.
  const y = month > 2 ? year : year - 1;
  const ofYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const days = 365 * y + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) + ofYear;
  return days - 719_468;
}

/** Instants that are kept: more than the datetimes of the options of one search. */
const KNOWN_INSTANTS_MAX = 4_096;
/** Instants read before. Shape, rules and ranking read the same ones; each call starts with an instance of its own. */
const knownInstants = new Map();

/** Milliseconds since the Unix epoch of an ISO 8601 datetime with a `T` and an offset, or null. */
export function instantMs(text) {
  const known = knownInstants.get(text);
  if (known !== undefined) return known;
  const instant = readInstant(text);
  if (knownInstants.size < KNOWN_INSTANTS_MAX) knownInstants.set(text, instant);
  return instant;
}

function readInstant(text) {
  const match = DATE_TIME.exec(text);
  if (!match) return null;
  const [, date, hour, minute, second = "0", fraction = "", sign, offsetHour = "0", offsetMinute = "0"] = match;
  const days = daysOf(date);
  const within = (text, end) => Number(text) < end;
  const sound = within(hour, 24) && within(minute, 60) && within(second, 60) && within(offsetHour, 24);
  if (days === null || !sound || !within(offsetMinute, 60)) return null;
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === "-" ? -1 : 1);
  const minutes = Number(hour) * 60 + Number(minute) - offset;
  const fractionMs = Number(fraction.padEnd(3, "0").slice(0, 3));
  return days * MS_PER_DAY + minutes * MS_PER_MINUTE + Number(second) * 1000 + fractionMs;
}

/** A URL with the scheme `https` and a host. */
export function isHttpsUrl(text) {
  const match = HTTPS_URL.exec(text);
  return match !== null && (match[1] === undefined || Number(match[1]) <= MAX_PORT);
}

/** A phone number by E.164. */
export const isPhone = (text) => PHONE.test(text);

/** An Indian postal code. */
export const isPincode = (text) => PINCODE.test(text);

/** A language tag by BCP 47. */
export const isLocaleTag = (text) => LOCALE.test(text);

/**
 * The paise of a JSON number of INR, exactly, from its digits: `12.5` and `1.25e1` are 1250.
 * Returns `{ paise }`, or `{ expected, outOfRange }` for what is no amount.
 */
export function paiseOf(digits) {
  const [, sign, whole, fraction = "", exponent = "0"] = AMOUNT.exec(digits);
  const significant = (whole + fraction).replace(/0+$/, "");
  if (/^0*$/.test(significant)) return { paise: 0 };
  if (sign) return { expected: "at least 0", outOfRange: true };
  // Paise are hundredths, so the point moves by two more than the exponent says.
  const point = whole.length + Number(exponent) + 2;
  if (point < significant.length) return { expected: "at most two decimals", outOfRange: false };
  const tooLarge = { expected: `at most ${MAX_PAISE / 100n}`, outOfRange: true };
  if (point > MAX_AMOUNT_CHARS) return tooLarge;
  const paise = BigInt(significant.padEnd(point, "0"));
  return paise > MAX_PAISE ? tooLarge : { paise: Number(paise) };
}
