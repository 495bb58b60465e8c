// Weekly timetables and opening hours as instants. Instants are milliseconds since the Unix epoch.

import type { DayHours, Instructor, Studio, TimetableEntry, YogaClass } from './catalogue.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** Day 0 of the Unix epoch was a Thursday. */
const DAYS = ['thursday', 'friday', 'saturday', 'sunday', 'monday', 'tuesday', 'wednesday'];

/** One time that a class takes place. */
export interface Slot {
  slotId: string;
  studio: Studio;
  yogaClass: YogaClass;
  instructor: Instructor;
  startMs: number;
  endMs: number;
  /** How many of the platform's users it takes. */
  places: number;
}

/** The slots of a studio that start from `fromMs` on and before `untilMs`, earliest first. */
export function slotsOf(studio: Studio, fromMs: number, untilMs: number, offsetMinutes: number): Slot[] {
  const found: Slot[] = [];
  for (const day of localDays(fromMs, untilMs, offsetMinutes)) {
    for (const yogaClass of studio.classes) {
      for (const entry of yogaClass.timetable) {
        if (!entry.days.includes(day.name)) continue;
        const startMs = day.startMs + minutesOf(entry.start) * MINUTE_MS;
        if (startMs < fromMs || startMs >= untilMs) continue;
        found.push(slotAt(studio, yogaClass, entry, startMs, offsetMinutes));
      }
    }
  }
  return found.sort((a, b) => a.startMs - b.startMs);
}

/** When the studio is open: now, and from when and until when next. */
export function openingTimes(hours: DayHours[], nowMs: number, offsetMinutes: number) {
  let opensMs = Infinity;
  let closesMs = Infinity;
  for (const day of localDays(nowMs, nowMs + 8 * DAY_MS, offsetMinutes)) {
    for (const { open, close } of hours.filter((one) => one.day === day.name)) {
      const openMs = day.startMs + minutesOf(open) * MINUTE_MS;
      const closeMs = day.startMs + minutesOf(close) * MINUTE_MS;
      if (openMs > nowMs) opensMs = Math.min(opensMs, openMs);
      if (closeMs > nowMs) closesMs = Math.min(closesMs, closeMs);
    }
  }
  // Closing before opening: what closes next is open.
  return { isOpen: closesMs < opensMs, opensMs, closesMs };
}

/** An instant in local time, with its offset. */
export function localText(ms: number, offsetMinutes: number): string {
  const sign = offsetMinutes < 0 ? '-' : '+';
  const pad = (value: number) => String(value).padStart(2, '0');
  const hours = Math.floor(Math.abs(offsetMinutes) / 60);
  const local = new Date(ms + offsetMinutes * MINUTE_MS).toISOString().slice(0, 19);
  return `${local}${sign}${pad(hours)}:${pad(Math.abs(offsetMinutes) % 60)}`;
}

function slotAt(
  studio: Studio,
  yogaClass: YogaClass,
  entry: TimetableEntry,
  startMs: number,
  offsetMinutes: number,
): Slot {
  const instructor = studio.instructors.find((one) => one.instructor_id === entry.instructor_id);
  if (instructor === undefined) throw new Error(`${yogaClass.class_id} has no instructor ${entry.instructor_id}`);
  const stamp = localText(startMs, offsetMinutes).slice(0, 16).replace(/[-:]/g, '');
  return {
    slotId: `${yogaClass.class_id}.${stamp}`,
    studio,
    yogaClass,
    instructor,
    startMs,
    endMs: startMs + yogaClass.duration_minutes * MINUTE_MS,
    places: entry.places,
  };
}

/** The local days that a span touches, each with its name and its start. */
function* localDays(fromMs: number, untilMs: number, offsetMinutes: number) {
  const offsetMs = offsetMinutes * MINUTE_MS;
  const first = Math.floor((fromMs + offsetMs) / DAY_MS);
  for (let day = first; day * DAY_MS - offsetMs < untilMs; day++) {
    yield { name: DAYS[((day % 7) + 7) % 7] ?? '', startMs: day * DAY_MS - offsetMs };
  }
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}
