// The rules of the desk: who is shown what, and what becomes of a booking.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { loadCatalogue, type JsonObject } from '../src/catalogue.ts';
import { Desk, remember } from '../src/desk.ts';
import { Refusal } from '../src/refusal.ts';
import { openingTimes, slotsOf } from '../src/timetable.ts';
import { searchRequest } from './sample.ts';

// A Monday, 11:30 in Bengaluru.
const NOW_MS = Date.parse('2026-11-30T06:00:00Z');
const MINUTE_MS = 60_000;
const STUDIO = 'banyan-indiranagar';
const TUESDAY_7 = '2026-12-01T07:00:00+05:30';
const WEDNESDAY_7 = '2026-12-02T07:00:00+05:30';

function newDesk(): Desk {
  return new Desk(loadCatalogue());
}

function search(desk: Desk, patch: JsonObject = {}, nowMs = NOW_MS): any {
  return desk.answer('search_providers', searchRequest(patch), nowMs);
}

/** The classes that have slots in an answer, in order. */
function classesOf(slots: any[]): string[] {
  return [...new Set<string>(slots.map((slot) => slot.class_id))].sort();
}

function found(patch: JsonObject): string[] {
  return classesOf(search(newDesk(), patch).options.flatMap((option: any) => option.available_slots));
}

function slots(desk: Desk, more: JsonObject = {}): any[] {
  const args = { request_id: 'other', yoga_studio_id: STUDIO, ...more };
  return (desk.answer('get_available_slots', args, NOW_MS) as any).slots;
}

function book(desk: Desk, requestId: string, more: JsonObject = {}, nowMs = NOW_MS): any {
  const args = {
    request_id: requestId,
    yoga_studio_id: STUDIO,
    class_id: 'indiranagar-morning-hatha',
    instructor_id: 'asha-rao',
    scheduled_for_iso: TUESDAY_7,
    ...more,
  };
  return desk.answer('book_slot', args, nowMs);
}

function cancel(desk: Desk, ref: string, nowMs = NOW_MS): any {
  return desk.answer('cancel_booking', { request_id: 'c1', booking_ref: ref, reason_code: 'changed_plans' }, nowMs);
}

function modify(desk: Desk, ref: string, to: JsonObject, nowMs = NOW_MS): any {
  return desk.answer('modify_booking', { request_id: 'm1', booking_ref: ref, ...to }, nowMs);
}

function deskWithSlots(): Desk {
  const desk = newDesk();
  search(desk);
  return desk;
}

const refused =
  (code: string, field: string) =>
  (error: unknown): boolean =>
    error instanceof Refusal && error.code === code && error.field === field;
const invalid = (field: string) => refused('INVALID_REQUEST', field);

const MALLESHWARAM = ['malleshwaram-gentle-hatha', 'malleshwaram-women-yin', 'malleshwaram-yin'];

const USERS: [string, JsonObject, string[]][] = [
  [
    'in the second trimester: friendly classes, and prenatal ones though they were not thought of',
    { user_yoga_profile: { pregnant_or_postpartum: 'pregnant_t2' } },
    [
      'indiranagar-morning-hatha',
      'indiranagar-prenatal-hatha',
      'indiranagar-women-hatha',
      'jayanagar-iyengar-general',
      'jayanagar-prenatal',
      ...MALLESHWARAM,
    ],
  ],
  [
    'in the third trimester: prenatal classes and no others',
    { user_yoga_profile: { pregnant_or_postpartum: 'pregnant_t3' } },
    ['indiranagar-prenatal-hatha', 'jayanagar-prenatal'],
  ],
  [
    'in the third trimester who is far on',
    { user_yoga_profile: { pregnant_or_postpartum: 'pregnant_t3', yoga_experience_level: 'advanced' } },
    ['indiranagar-prenatal-hatha', 'jayanagar-prenatal'],
  ],
  [
    'who has given birth lately',
    {
      user_yoga_profile: { pregnant_or_postpartum: 'postpartum_under_6mo' },
      yoga_intent: { yoga_styles_acceptable: ['postpartum', 'vinyasa'], yoga_style_preferred: 'postpartum' },
    },
    ['jayanagar-postpartum', 'koramangala-slow-flow'],
  ],
  [
    'with back pain',
    {
      user_yoga_profile: { medical_conditions_disclosed: ['mild_back_pain'] },
      yoga_intent: { yoga_styles_acceptable: ['vinyasa', 'power_yoga', 'iyengar'], yoga_style_preferred: 'vinyasa' },
    },
    ['jayanagar-foundations', 'jayanagar-iyengar-general', 'koramangala-slow-flow'],
  ],
  [
    'who is new',
    {
      user_yoga_profile: { yoga_experience_level: 'novice' },
      yoga_intent: { yoga_styles_acceptable: ['ashtanga', 'vinyasa'], yoga_style_preferred: 'vinyasa' },
    },
    ['koramangala-slow-flow', 'koramangala-vinyasa-flow'],
  ],
  [
    'who is far on',
    {
      user_yoga_profile: { yoga_experience_level: 'teacher_level' },
      yoga_intent: { yoga_styles_acceptable: ['ashtanga', 'vinyasa'], yoga_style_preferred: 'vinyasa' },
    },
    ['koramangala-advanced-flow', 'koramangala-ashtanga', 'koramangala-vinyasa-flow'],
  ],
  [
    'who wants to be among men',
    { user_yoga_profile: { gender: 'male' }, preferences: { single_gender_class_required: true } },
    ['jayanagar-men'],
  ],
  [
    'who wants to be among women',
    { preferences: { single_gender_class_required: true } },
    ['indiranagar-women-hatha', 'malleshwaram-women-yin'],
  ],
];

for (const [who, patch, expected] of USERS) {
  test(`a user ${who}`, () => assert.deepEqual(found(patch), expected));
}

test('a class for those who have given birth is for nobody else', () => {
  const postpartum = {
    yoga_styles_acceptable: ['postpartum'],
    yoga_style_preferred: 'postpartum',
    class_kind_acceptable: ['postpartum_class'],
  };
  assert.deepEqual(found({ yoga_intent: postpartum }), []);
  const months = { pregnant_or_postpartum: 'postpartum_over_6mo' };
  assert.deepEqual(found({ yoga_intent: postpartum, user_yoga_profile: months }), ['jayanagar-postpartum']);
});

test('classes for one gender are shown to nobody else', () => {
  const women = ['indiranagar-women-hatha', 'malleshwaram-women-yin'];
  const shown = (gender: string | null) => found({ user_yoga_profile: { gender } });
  assert.deepEqual(shown('female').filter((id) => women.includes(id)), women);
  assert.deepEqual(shown('male').filter((id) => women.includes(id)), []);
  assert.deepEqual(shown(null).filter((id) => women.includes(id)), []);
});

test('what is required leaves out what lacks it', () => {
  const inStudios = (patch: JsonObject) => [...new Set(found(patch).map((id) => id.split('-')[0]))];
  const all = ['indiranagar', 'jayanagar', 'koramangala', 'malleshwaram'];
  assert.deepEqual(inStudios({}), all);
  const cases: [JsonObject, string[]][] = [
    [{ preferences: { shower_required: true } }, all.slice(0, 3)],
    [{ preferences: { parking_required: true } }, ['jayanagar', 'koramangala']],
    [{ preferences: { studio_kind_acceptable: ['wellness_center'] } }, ['jayanagar']],
    [{ preferences: { budget_max_inr_total: 600 } }, ['jayanagar', 'malleshwaram']],
    [{ preferences: { instructor_min_experience_years: 17 } }, ['jayanagar', 'koramangala']],
    [
      {
        preferences: {
          instructor_certifications_required: true,
          instructor_certification_authority_acceptable: ['iyengar_body'],
        },
      },
      ['jayanagar'],
    ],
    [{ search_area: { max_radius_km: 5 } }, ['indiranagar', 'koramangala']],
    [{ search_area: { city: 'Mysuru' } }, []],
    [{ search_area: { city: 'bengaluru' } }, all],
    [{ yoga_intent: { props_required: ['wall_ropes'] } }, ['jayanagar']],
    [{ yoga_intent: { max_class_size: 11 } }, ['indiranagar', 'jayanagar']],
    [{ yoga_intent: { min_instructor_skill: 5 } }, []],
    [{ yoga_intent: { temperature_kind_acceptable: ['hot_yoga_40c'] } }, ['koramangala']],
    [{ yoga_intent: { class_kind_acceptable: ['silent_class'] } }, ['indiranagar', 'malleshwaram']],
    [{ duration_minutes: 20 }, []],
  ];
  for (const [patch, expected] of cases) assert.deepEqual(inStudios(patch), expected, JSON.stringify(patch));
});

test('lockers and cool air are looked for where they are required', () => {
  const catalogue = loadCatalogue();
  const [first, second] = catalogue.studios;
  first!.amenities.lockers_count = 0;
  second!.amenities.air_conditioning = false;
  const inStudios = (preferences: JsonObject) =>
    search(new Desk(catalogue), { preferences }).options.map((option: any) => option.yoga_studio.identity.id);
  const all = ['banyan-indiranagar', 'banyan-koramangala', 'banyan-malleshwaram', 'banyan-jayanagar'];
  assert.deepEqual(inStudios({}).sort(), [...all].sort());
  assert.equal(inStudios({ locker_required: true }).includes(first!.identity.id), false);
  assert.equal(inStudios({ ac_or_fan_required: true }).includes(second!.identity.id), false);
  assert.equal(inStudios({ locker_required: true, ac_or_fan_required: true }).length, 2);
});

test('the style that is liked best counts, also where it is not repeated', () => {
  const styles = { yoga_styles_acceptable: ['kundalini'], yoga_style_preferred: 'power_yoga' };
  assert.deepEqual(found({ yoga_intent: styles }), ['koramangala-power']);
});

test('the nearest studios come first, fifteen of them, with twelve slots each', () => {
  const catalogue = loadCatalogue();
  const [first] = catalogue.studios;
  for (let n = 1; n <= 20; n++) {
    const identity = { ...first!.identity, id: `more-${n}` };
    const address = { ...first!.address, lat: first!.address.lat + n / 10 };
    catalogue.studios.unshift({ ...first!, identity, address });
  }
  const { options } = search(new Desk(catalogue), { search_area: { lat: null, lng: null } });
  assert.equal(options.length, 15);
  const distances = options.map((option: any) => option.yoga_studio.distance_from_user_km);
  assert.deepEqual(distances, [...distances].sort((a, b) => a - b));
  // Without a place it is measured from the middle of the city.
  assert.equal(options[0].yoga_studio.identity.id, 'banyan-malleshwaram');
  assert.equal(distances[0], 4.8);
  assert.equal(options.every((option: any) => option.available_slots.length === 12), true);
});

test('each kind of session has its classes and its pass', () => {
  const kinds = ['private_session', 'group_themed_workshop', 'group_drop_in'];
  const sold = (session: string) => {
    const { options } = search(newDesk(), { session_kind: session, yoga_intent: { class_kind_acceptable: kinds } });
    const passes = options.map(({ session_pass: { pass_kind, pass_inr }, fare }: any) => {
      assert.equal(fare.total_inr, pass_inr);
      assert.equal(Math.round((fare.base_inr + fare.gst_inr) * 100), pass_inr * 100);
      return `${pass_kind} ${pass_inr}`;
    });
    return { passes, classes: classesOf(options.flatMap((option: any) => option.available_slots)) };
  };
  assert.deepEqual(sold('private_session').classes, [
    'indiranagar-private',
    'jayanagar-private',
    'koramangala-private',
    'malleshwaram-private',
  ]);
  assert.equal(sold('private_session').passes[0], 'private_with_instructor 2200');
  assert.deepEqual(sold('themed_workshop'), { passes: ['single_class 1500'], classes: ['koramangala-inversions'] });
  assert.equal(sold('drop_in_class').passes[0], 'single_class 650');
  assert.equal(sold('trial_class').passes[0], 'trial_class 650');
  assert.equal(sold('guest_pass').passes[0], 'guest_pass 650');
  assert.equal(sold('drop_in_class').classes.every((id) => !/private|inversions/.test(id)), true);
  assert.deepEqual(sold('retreat_intro'), { passes: [], classes: [] });
});

test('an option shows the whole studio, and names in its slots what it shows', () => {
  const { options } = search(newDesk(), { user_yoga_profile: { pregnant_or_postpartum: 'pregnant_t3' } });
  const [option] = options;
  assert.equal(option.yoga_class_catalog.length, 7);
  assert.equal(option.instructors.length, 3);
  assert.deepEqual(classesOf(option.available_slots), ['indiranagar-prenatal-hatha']);
  const [hatha] = option.yoga_class_catalog;
  assert.deepEqual(hatha.recurring_schedule[0], { day_of_week: 'monday', start_iso_time: '07:00:00+05:30' });
  assert.equal(hatha.timetable, undefined);
  const [slot] = option.available_slots;
  assert.equal(slot.start_iso, '2026-12-02T09:30:00+05:30');
  assert.equal(slot.end_iso, '2026-12-02T10:30:00+05:30');
  assert.equal(slot.instructor_id_assigned, 'leela-menon');
});

test('slots lie about the time asked for, and none starts before the answer expires', () => {
  const starts = (patch: JsonObject, nowMs = NOW_MS): string[] => {
    const { options } = search(newDesk(), patch, nowMs);
    return options.flatMap((option: any) => option.available_slots.map((slot: any) => slot.start_iso)).sort();
  };
  const asked = starts({ scheduled_for_iso: '2026-12-10T18:00:00+05:30' });
  assert.equal(asked[0], '2026-12-10T16:00:00+05:30');
  assert.equal(asked.every((start) => start < '2026-12-17T12:00'), true);
  assert.deepEqual(starts({ scheduled_for_iso: '2020-01-01T07:00:00+05:30' }), starts({}));
  assert.equal(starts({})[0]! > '2026-11-30T11:50', true);
  // The class at 18:30 can be booked until 18:10, for 20 minutes are promised.
  const evening = (time: string) =>
    starts({}, Date.parse(`2026-11-30T${time}+05:30`)).includes('2026-11-30T18:30:00+05:30');
  assert.equal(evening('18:10:00'), true);
  assert.equal(evening('18:10:01'), false);
  assert.deepEqual(starts({ scheduled_for_iso: '2027-02-10T07:00:00+05:30' }), []);
});

test('a studio is open or not, and tells when next', () => {
  const hours = loadCatalogue().studios[0]!.hours;
  const at = (text: string) => {
    const { isOpen, opensMs, closesMs } = openingTimes(hours, Date.parse(text), 330);
    return [isOpen, new Date(opensMs).toISOString(), new Date(closesMs).toISOString()];
  };
  assert.deepEqual(at('2026-11-30T11:30:00+05:30'), [true, '2026-12-01T00:15:00.000Z', '2026-11-30T16:00:00.000Z']);
  assert.deepEqual(at('2026-12-06T14:00:00+05:30'), [false, '2026-12-07T00:15:00.000Z', '2026-12-07T16:00:00.000Z']);
});

test('detail and slots keep to the search that they name', () => {
  const desk = newDesk();
  const profile = { pregnant_or_postpartum: 'pregnant_t3' };
  search(desk, { request_id: 's1', scheduled_for_iso: '2026-12-09T09:00:00+05:30', user_yoga_profile: profile });
  const args = { request_id: 's1', yoga_studio_id: STUDIO };
  const detail = desk.answer('get_provider_detail', args, NOW_MS) as any;
  assert.equal(detail.yoga_studio.identity.id, STUDIO);
  assert.equal(detail.yoga_studio.distance_from_user_km, 0);
  assert.deepEqual(classesOf(detail.available_slots), ['indiranagar-prenatal-hatha']);
  assert.equal(detail.available_slots[0].start_iso, '2026-12-09T09:30:00+05:30');
  assert.deepEqual(classesOf(slots(desk, { request_id: 's1' })), ['indiranagar-prenatal-hatha']);
  // Without a known search: anything at the usual price.
  assert.equal(classesOf(slots(desk)).length, 6);
  const starts = slots(desk).map((slot) => slot.start_iso);
  assert.deepEqual(starts, [...starts].sort());
  assert.deepEqual(classesOf(slots(desk, { class_id: 'indiranagar-back-care' })), ['indiranagar-back-care']);
  const ofDev = slots(desk, { instructor_id: 'dev-kulkarni' });
  assert.equal(ofDev.length > 0 && ofDev.every((slot) => slot.instructor_id_assigned === 'dev-kulkarni'), true);
  assert.deepEqual(slots(desk, { class_id: 'none' }), []);
  assert.throws(() => slots(desk, { yoga_studio_id: 'none' }), invalid('yoga_studio_id'));
  search(desk, { request_id: 's2', session_kind: 'themed_workshop' });
  const workshop = { ...args, request_id: 's2' };
  assert.throws(() => desk.answer('get_provider_detail', workshop, NOW_MS), invalid('yoga_studio_id'));
});

test('the same key and body get the same booking, another body is refused', () => {
  const desk = deskWithSlots();
  const first = book(desk, 'r1');
  assert.equal(first.status, 'confirmed');
  assert.equal(first.start_iso, TUESDAY_7);
  assert.equal(first.total_inr, 650);
  assert.deepEqual(book(desk, 'r1'), first);
  assert.equal(slots(desk).find((slot) => slot.start_iso === TUESDAY_7).spots_left, 5);
  assert.throws(
    () => book(desk, 'r1', { scheduled_for_iso: WEDNESDAY_7 }),
    refused('IDEMPOTENCY_CONFLICT', 'request_id'),
  );
  cancel(desk, first.booking_ref);
  assert.deepEqual(book(desk, 'r1'), { ...first, status: 'cancelled' });
});

test('without a time the earliest slot is booked', () => {
  const args = { request_id: 'r1', yoga_studio_id: STUDIO, class_id: 'indiranagar-morning-hatha' };
  const booked = deskWithSlots().answer('book_slot', { ...args, instructor_id: 'asha-rao' }, NOW_MS);
  assert.equal(booked.start_iso, TUESDAY_7);
});

test('a slot takes as many as it has places, and one more when one leaves', () => {
  const desk = deskWithSlots();
  const refs = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => book(desk, id).booking_ref);
  assert.throws(() => book(desk, 'g'), invalid('scheduled_for_iso'));
  const isShown = () => slots(desk).some((slot) => slot.start_iso === TUESDAY_7);
  assert.equal(isShown(), false);
  cancel(desk, refs[0]);
  cancel(desk, refs[0]);
  assert.equal(isShown(), true);
  book(desk, 'h');
  assert.throws(() => book(desk, 'i'), invalid('scheduled_for_iso'));
});

test('a slot that was never shown, or longer ago than was promised, is not booked', () => {
  assert.throws(() => book(newDesk(), 'r1'), invalid('scheduled_for_iso'));
  const desk = deskWithSlots();
  assert.throws(() => book(desk, 'r1', { instructor_id: 'dev-kulkarni' }), invalid('scheduled_for_iso'));
  assert.throws(() => book(desk, 'r1', { yoga_studio_id: 'none' }), invalid('scheduled_for_iso'));
  assert.throws(() => book(desk, 'r1', {}, NOW_MS + 20 * MINUTE_MS), invalid('scheduled_for_iso'));
  assert.equal(book(desk, 'r1', {}, NOW_MS + 20 * MINUTE_MS - 1).status, 'confirmed');
});

test('nobody is booked or moved into a class that is not right for them', () => {
  const desk = deskWithSlots();
  search(desk, { request_id: 's3', user_yoga_profile: { pregnant_or_postpartum: 'pregnant_t3' } });
  const prenatal = { class_id: 'indiranagar-prenatal-hatha', instructor_id: 'leela-menon' };
  const needsPrenatal = refused('PRENATAL_CLASS_REQUIRED', 'class_id');
  assert.throws(() => book(desk, 's3'), needsPrenatal);
  const { booking_ref } = book(desk, 's3', { ...prenatal, scheduled_for_iso: '2026-12-02T09:30:00+05:30' });
  assert.throws(() => modify(desk, booking_ref, { class_id: 'indiranagar-morning-hatha' }), needsPrenatal);
  search(desk, { request_id: 's4', user_yoga_profile: { gender: 'male' } });
  const women = { class_id: 'indiranagar-women-hatha', instructor_id: 'leela-menon' };
  const atEleven = { scheduled_for_iso: '2026-12-01T11:00:00+05:30' };
  assert.throws(() => book(desk, 's4', { ...women, ...atEleven }), invalid('class_id'));
});

test('a cancellation is free until six hours before, then costs half, once', () => {
  const lastFreeMs = Date.parse(TUESDAY_7) - 6 * 60 * MINUTE_MS;
  const desk = deskWithSlots();
  const [free, late, never] = ['a', 'b', 'c'].map((id) => book(desk, id).booking_ref);
  assert.equal(cancel(desk, free, lastFreeMs).refund_amount_inr, 650);
  const result = cancel(desk, late, lastFreeMs + 1);
  assert.equal(result.booking_ref, late);
  assert.equal(result.cancellation_fee_inr, 325);
  assert.equal(result.refund_amount_inr, 325);
  assert.deepEqual(cancel(desk, late, lastFreeMs + MINUTE_MS), result);
  assert.throws(() => cancel(desk, never, Date.parse(TUESDAY_7)), invalid('booking_ref'));
  assert.throws(() => cancel(desk, 'none'), invalid('booking_ref'));
});

test('a booking moves, and its place with it', () => {
  const desk = deskWithSlots();
  const { booking_ref: ref } = book(desk, 'r1');
  const left = (start: string) => slots(desk).find((slot) => slot.start_iso === start)?.spots_left;
  const moved = modify(desk, ref, { scheduled_for_iso: WEDNESDAY_7 });
  assert.equal(moved.booking_ref, ref);
  assert.equal(moved.start_iso, WEDNESDAY_7);
  assert.deepEqual([left(TUESDAY_7), left(WEDNESDAY_7)], [6, 5]);
  for (const id of ['a', 'b', 'c', 'd', 'e']) book(desk, id, { scheduled_for_iso: WEDNESDAY_7 });
  assert.deepEqual(modify(desk, ref, { scheduled_for_iso: WEDNESDAY_7 }), moved);
  assert.deepEqual(book(desk, 'r1'), moved);
  // The place at the new time is given back, and the terms are those of the new time.
  const onTuesday = Date.parse(TUESDAY_7);
  assert.equal(cancel(desk, ref, onTuesday).refund_amount_inr, 650);
  assert.deepEqual([left(TUESDAY_7), left(WEDNESDAY_7)], [6, 1]);
});

test('where no time is named, a booking moves to the nearest that fits, once', () => {
  const desk = newDesk();
  slots(desk);
  const { booking_ref: ref } = book(desk, 'r1', { scheduled_for_iso: '2026-12-04T07:00:00+05:30' });
  const moved = modify(desk, ref, { class_id: 'indiranagar-back-care' });
  assert.equal(moved.start_iso, '2026-12-04T09:30:00+05:30');
  assert.deepEqual(modify(desk, ref, { class_id: 'indiranagar-back-care' }), moved);
  const toDev = modify(desk, ref, { class_id: 'indiranagar-morning-hatha', instructor_id: 'dev-kulkarni' });
  assert.equal(toDev.start_iso, '2026-12-04T18:30:00+05:30');
  assert.equal(toDev.instructor_id, 'dev-kulkarni');
});

test('a booking does not move where it may not', () => {
  const desk = deskWithSlots();
  search(desk, { session_kind: 'private_session', yoga_intent: { class_kind_acceptable: ['private_session'] } });
  const { booking_ref: ref } = book(desk, 'r1');
  assert.throws(() => modify(desk, ref, {}), invalid('scheduled_for_iso'));
  assert.throws(() => modify(desk, ref, { class_id: 'indiranagar-private' }), invalid('class_id'));
  assert.throws(() => modify(desk, ref, { class_id: 'jayanagar-iyengar-general' }), invalid('scheduled_for_iso'));
  // At that time somebody else teaches the class, who was not asked for.
  const evening = { scheduled_for_iso: '2026-12-01T18:30:00+05:30' };
  assert.throws(() => modify(desk, ref, evening), invalid('scheduled_for_iso'));
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) book(desk, id, { scheduled_for_iso: WEDNESDAY_7 });
  assert.throws(() => modify(desk, ref, { scheduled_for_iso: WEDNESDAY_7 }), invalid('scheduled_for_iso'));
  const thursday = { scheduled_for_iso: '2026-12-03T07:00:00+05:30' };
  const lateMs = Date.parse(TUESDAY_7) - 6 * 60 * MINUTE_MS + 1;
  search(desk, {}, lateMs);
  assert.throws(() => modify(desk, ref, thursday, lateMs), invalid('booking_ref'));
  assert.equal(modify(desk, ref, thursday, lateMs - 1).start_iso, thursday.scheduled_for_iso);
  cancel(desk, ref);
  assert.throws(() => modify(desk, ref, { scheduled_for_iso: TUESDAY_7 }), invalid('booking_ref'));
  assert.throws(() => modify(desk, 'none', thursday), invalid('booking_ref'));
});

test('what is kept is bounded', () => {
  const kept = new Map<string, number>();
  for (const key of ['a', 'b', 'a', 'c']) remember(kept, key, 0, 2);
  assert.deepEqual([...kept.keys()], ['a', 'c']);
  const desk = deskWithSlots();
  for (let n = 0; n < 2_000; n++) cancel(desk, book(desk, `r${n}`).booking_ref);
  assert.throws(() => book(desk, 'one-more'), (error) => error instanceof Refusal && error.code === 'INTERNAL_ERROR');
});

test('bad arguments are named', () => {
  const cases: [JsonObject, string][] = [
    [{ user_yoga_profile: { pregnant_or_postpartum: null } }, 'user_yoga_profile.pregnant_or_postpartum'],
    [{ yoga_intent: { min_instructor_skill: 6 } }, 'yoga_intent.min_instructor_skill'],
    [{ session_kind: 'marathon' }, 'session_kind'],
    [{ scheduled_for_iso: '2026-12-01 07:00' }, 'scheduled_for_iso'],
    [{ scheduled_for_iso: '2026-13-01T07:00:00+05:30' }, 'scheduled_for_iso'],
    [{ search_area: { lat: 91 } }, 'search_area.lat'],
  ];
  for (const [patch, field] of cases) assert.throws(() => search(newDesk(), patch), invalid(field), field);
  assert.throws(() => newDesk().answer('rate_class', {}, NOW_MS), invalid('name'));
});

test('the catalogue keeps what the contract asks of a studio', () => {
  const { platform, studios } = loadCatalogue();
  const { min, max } = platform.pricing as { min: number; max: number };
  const prices = studios.flatMap(({ passes }) => Object.values(passes).map(({ inr }) => inr));
  assert.deepEqual([min, max], [Math.min(...prices), Math.max(...prices)]);
  for (const { trust, classes, instructors } of studios) {
    assert.equal(trust.first_aid_kit_present && trust.fire_safety_compliant, true);
    for (const one of classes) {
      assert.ok(one.description.length >= 80, one.class_id);
      assert.ok(one.class_size_typical <= one.class_size_max, one.class_id);
      assert.ok(one.timetable.every(({ places }) => places <= one.class_size_max), one.class_id);
      const taught = one.timetable.map(({ instructor_id }) => instructor_id);
      const teachers = instructors.filter(({ instructor_id }) => taught.includes(instructor_id));
      if (one.class_kind === 'prenatal_class' || one.yoga_style === 'prenatal') {
        const certified = teachers.every(({ specializations }) => specializations.includes('prenatal_certified'));
        assert.ok(certified, one.class_id);
      }
      if (one.class_kind === 'advanced_only' || one.difficulty_level === 'advanced') {
        const counts = (held: string) => held !== 'partner_internal_cert';
        assert.ok(teachers.every(({ certifications }) => certifications.some(counts)), one.class_id);
      }
    }
    for (const { instructor_id, certifications, certifying_authorities } of instructors) {
      const claims = certifications.some((held) => held.startsWith('registry_'));
      assert.ok(!claims || certifying_authorities.includes('registry_body'), instructor_id);
    }
  }
});

test('classes lie within the opening hours, and nobody teaches two at a time', () => {
  const { studios, business } = loadCatalogue();
  for (const studio of studios) {
    const week = slotsOf(studio, NOW_MS, NOW_MS + 7 * 24 * 60 * MINUTE_MS, business.utc_offset_minutes);
    for (const { slotId, instructor, startMs, endMs } of week) {
      const { isOpen, closesMs } = openingTimes(studio.hours, startMs, business.utc_offset_minutes);
      assert.ok(isOpen && endMs <= closesMs, slotId);
      const inThatTime = week.filter((other) => other.startMs < endMs && startMs < other.endMs);
      assert.equal(inThatTime.filter((other) => other.instructor === instructor).length, 1, slotId);
    }
  }
});
