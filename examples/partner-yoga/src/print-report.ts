// Prints the completion report of a booking, to be signed and posted: `npm run -s report -- --booking bk_... ...`.

import { parseArgs } from 'node:util';

import { CATALOGUE, loadCatalogue } from './catalogue.ts';
import { STATUSES, completionReport } from './report.ts';

const USAGE = `Prints the completion report of a booking.

  --booking REF       booking_ref
  --request-id ID     request_id of the search in which the class was offered
  --studio ID         yoga_studio_id
  --class ID          class_id
  --instructor ID     who taught
  --started-at TIME   when the class began, or was to begin, with its offset
  --status S          ${STATUSES.slice(0, 3).join(', ')},
                      ${STATUSES.slice(3).join(', ')} (default: completed)
  --ended-at TIME     default: by the duration of the class
  --closed-at TIME    default: when the class ended
  --charged-inr N     what was paid in the end, tax included (default: the price, or nothing if there was no class)
  --tip-inr N         default: 0
  --late-minutes N    by how much the user was late (default: 0)
  --prop P            a prop that was used; may be repeated
  --notes TEXT        default: empty
  --catalogue FILE    the business (default: catalogue.json of this folder)
`;

function main(): void {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      booking: text,
      'request-id': text,
      studio: text,
      class: text,
      instructor: text,
      'started-at': text,
      status: { ...text, default: 'completed' },
      'ended-at': text,
      'closed-at': text,
      'charged-inr': text,
      'tip-inr': { ...text, default: '0' },
      'late-minutes': { ...text, default: '0' },
      prop: { ...text, multiple: true, default: [] },
      notes: { ...text, default: '' },
      catalogue: { ...text, default: CATALOGUE },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const need = (name: 'booking' | 'request-id' | 'studio' | 'class' | 'instructor' | 'started-at'): string => {
    const value = values[name];
    if (value === undefined || value.trim() === '') throw new Error(`--${name} is missing`);
    return value;
  };
  const report = completionReport(loadCatalogue(values.catalogue), {
    bookingRef: need('booking'),
    requestId: need('request-id'),
    studioId: need('studio'),
    classId: need('class'),
    instructorId: need('instructor'),
    status: values.status,
    startedMs: time('started-at', need('started-at')),
    endedMs: values['ended-at'] === undefined ? undefined : time('ended-at', values['ended-at']),
    closedMs: values['closed-at'] === undefined ? undefined : time('closed-at', values['closed-at']),
    chargedInr: values['charged-inr'] === undefined ? undefined : number('charged-inr', values['charged-inr']),
    tipInr: number('tip-inr', values['tip-inr']),
    lateMinutes: number('late-minutes', values['late-minutes']),
    propsUsed: values.prop,
    notes: values.notes,
  });
  process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
}

function time(name: string, text: string): number {
  const ms = Date.parse(text);
  // Without an offset it would be this machine's time.
  if (Number.isNaN(ms) || !/T.*(Z|[+-]\d{2}:\d{2})$/.test(text)) {
    throw new Error(`--${name} takes a time with its offset, for example 2026-12-01T07:00:00+05:30`);
  }
  return ms;
}

function number(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} takes a whole number`);
  return Number(text);
}

try {
  main();
} catch (error) {
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
