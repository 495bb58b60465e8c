// Reads server-sent events (WHATWG HTML, 9.2) out of a body.

/** One event as it came. */
export interface RawEvent {
  readonly event: string;
  readonly id?: string;
  readonly data: string;
}

/** What a stream says: an event, or how long to wait before coming back, milliseconds. */
export type Told = RawEvent | { readonly retry: number };

/** The longest event that is read, characters. */
const EVENT_MAX = 16 * 1024 * 1024;

/** Puts events together out of lines. */
export class EventReader {
  #name = "";
  #id: string | undefined;
  #data: string[] = [];
  #length = 0;

  /** What a line brings to its end, without its line break. */
  line(line: string): Told | undefined {
    if (line === "") return this.#finish();
    this.#length += line.length;
    if (this.#length > EVENT_MAX) throw new RangeError(`an event has more than ${EVENT_MAX} characters`);
    const colon = line.indexOf(":");
    // A comment: the stream is alive.
    if (colon === 0) return undefined;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#name = value;
    else if (field === "id") this.#id = value;
    else if (field === "data") this.#data.push(value);
    else if (field === "retry" && /^\d+$/.test(value)) return { retry: Number(value) };
    return undefined;
  }

  #finish(): RawEvent | undefined {
    const event = { event: this.#name, data: this.#data.join("\n") };
    const told = this.#data.length === 0 ? undefined : this.#id === undefined ? event : { ...event, id: this.#id };
    this.#name = "";
    this.#id = undefined;
    this.#data = [];
    this.#length = 0;
    return told;
  }
}

/** The lines of a body as it comes. What comes after the last line break is no line. */
export async function* lines(body: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      const parts = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/);
      rest = parts.pop() ?? "";
      if (rest.length > EVENT_MAX) throw new RangeError(`a line has more than ${EVENT_MAX} characters`);
      yield* parts;
    }
  } finally {
    // Whoever stops reading takes the request along.
    await reader.cancel().catch(() => undefined);
  }
}
