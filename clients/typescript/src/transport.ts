// One request and its answer: the token, the time that it may take, what is sent again, and how refusals become errors.

import { GatewayError, NotAnswered, NotUnderstood, Refused } from "./errors.js";
import { EventReader, lines } from "./events.js";
import type { StreamEnd } from "./generated/models.js";

/** A token, or what gives one for each request. */
export type Token = string | (() => string | Promise<string>);

/** How the gateway is reached. */
export interface Settings {
  /** Its address, without a path. */
  readonly url: string;
  /** None where only open routes are called, as a sign-up is. */
  readonly token?: Token;
  /** How long one try may take, milliseconds; 60,000 when absent. */
  readonly timeoutMs?: number;
  /** How often a request is sent again, where that does no harm; 3 when absent. */
  readonly retries?: number;
  /** The longest wait between two tries, milliseconds; 30,000 when absent. Where the gateway asks for more, its refusal is thrown. */
  readonly waitMaxMs?: number;
  /** A stream on which nothing comes for so long counts as cut, milliseconds; 60,000 when absent. */
  readonly silenceMaxMs?: number;
  /** Told before each wait: why, and for how long, milliseconds. */
  readonly onRetry?: (error: GatewayError, waitMs: number) => void;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** What concerns one call alone. */
export interface Call {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** What concerns one stream alone. */
export interface StreamCall extends Call {
  /** The `id` of the event to go on behind. */
  readonly lastEventId?: string;
}

/** One request, whatever its tries. */
export interface Request {
  readonly method: string;
  readonly path: string;
  /** Parameters of the query; `user` goes into a header. */
  readonly args?: Readonly<Record<string, unknown>>;
  readonly json?: unknown;
  readonly bytes?: Uint8Array | undefined;
  readonly mediaType?: string;
  /** Headers, made anew for each try. */
  readonly headers?: () => Record<string, string> | Promise<Record<string, string>>;
  /** Whether it does no harm to send it again when nobody knows what became of it. */
  readonly repeatable?: boolean;
}

/** Refusals before which nothing was done, whatever was asked. */
const NOTHING_DONE: readonly string[] = ["RATE_LIMITED", "OVERLOADED"];
/** Refusals that pass, where to ask again does no harm. */
const PASSING: readonly string[] = ["STORE_UNAVAILABLE", "CALL_UNDER_WAY", "REQUEST_TIMEOUT", "TIMEOUT", "DRAINING"];
/** The first wait where nobody says how long, milliseconds; each is twice the one before. */
const FIRST_WAIT_MS = 250;
/** What is shown of an answer that is not the gateway's, characters. */
const BEGINNING = 200;

/** A part of a path. */
export function segment(text: string): string {
  return encodeURIComponent(text);
}

export class Transport {
  constructor(private readonly settings: Settings) {}

  /** Sends a request and reads the JSON of its answer; nothing where there is none. */
  async send<T>(request: Request, call: Call): Promise<T> {
    const response = await this.#tries(request, call, (signal) => this.#once(request, "application/json", signal));
    return (response.length === 0 ? undefined : JSON.parse(new TextDecoder().decode(response))) as T;
  }

  /** Sends a request and reads its answer as it is. */
  async bytes(request: Request, call: Call): Promise<Uint8Array> {
    return this.#tries(request, call, (signal) => this.#once(request, "*/*", signal));
  }

  /**
   * The events of a stream. Where they have an `id`, a stream that was cut, or that ends and says that it is worth asking anew, is
   * gone on with behind the last one; otherwise a cut is an error.
   */
  async *events<T>(request: Request, resumable: boolean, call: StreamCall): AsyncGenerator<T, void, undefined> {
    let last = call.lastEventId;
    let waitMs = FIRST_WAIT_MS;
    for (let cuts = 0; ; ) {
      let why = "the stream was cut";
      const leaving = new AbortController();
      const signal = call.signal ? AbortSignal.any([call.signal, leaving.signal]) : leaving.signal;
      try {
        const headers = (): Record<string, string> => (last === undefined ? {} : { "last-event-id": last });
        const opening = { ...request, headers, repeatable: true };
        const open = (signal: AbortSignal) => this.#fetch(opening, "text/event-stream", signal);
        // The time of a call is that until a stream begins.
        const response = await this.#tries(opening, { ...call, signal }, open);
        const reader = new EventReader();
        for await (const line of this.#lines(response, leaving)) {
          const told = reader.line(line);
          if (told === undefined) continue;
          if ("retry" in told) {
            waitMs = told.retry;
            continue;
          }
          last = told.id ?? last;
          const event = { ...told, data: JSON.parse(told.data) as Partial<StreamEnd> };
          if (event.event !== "end") {
            cuts = 0;
            yield event as T;
          } else if (resumable && event.data.resume === true && cuts < this.#retries) {
            why = `the stream has ended: ${event.data.reason}`;
            // It went well for as long as one may last.
            if (event.data.reason === "time_limit") cuts = 0;
            break;
          } else {
            yield event as T;
            return;
          }
        }
        throw new NotAnswered(why);
      } catch (error) {
        if (call.signal?.aborted) throw call.signal.reason;
        if (!(error instanceof NotAnswered) || !resumable || cuts >= this.#retries) throw error;
        cuts += 1;
        this.settings.onRetry?.(error, waitMs);
        await pause(waitMs, call.signal);
      } finally {
        leaving.abort();
      }
    }
  }

  get #retries(): number {
    return this.settings.retries ?? 3;
  }

  async *#lines(response: Response, leaving: AbortController): AsyncGenerator<string, void, undefined> {
    if (response.body === null) return;
    const silenceMaxMs = this.settings.silenceMaxMs ?? 60_000;
    let timer = setTimeout(() => leaving.abort(), silenceMaxMs);
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => leaving.abort(), silenceMaxMs);
    };
    try {
      yield* lines(response.body, heard);
    } catch (cause) {
      if (cause instanceof RangeError) throw cause;
      throw new NotAnswered("the stream was cut", { cause });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Tries until there is an answer, or none is to be expected. */
  async #tries<T>(request: Request, call: Call, once: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.#timed(call, once);
      } catch (error) {
        const waitMs = error instanceof GatewayError ? this.#wait(error, request, tries) : undefined;
        if (waitMs === undefined || call.signal?.aborted) throw error;
        this.settings.onRetry?.(error as GatewayError, waitMs);
        await pause(waitMs, call.signal);
      }
    }
  }

  /** How long to wait before the next try, milliseconds; nothing where there is to be none. */
  #wait(error: GatewayError, request: Request, tries: number): number | undefined {
    const passes =
      error instanceof Refused
        ? NOTHING_DONE.includes(error.code) || (request.repeatable === true && PASSING.includes(error.code))
        : request.repeatable === true && (error instanceof NotAnswered || (error instanceof NotUnderstood && error.status >= 500));
    if (!passes || tries >= this.#retries) return undefined;
    const asked = error instanceof Refused || error instanceof NotUnderstood ? error.retryAfter : undefined;
    const waitMaxMs = this.settings.waitMaxMs ?? 30_000;
    if (asked !== undefined) return asked * 1000 <= waitMaxMs ? asked * 1000 : undefined;
    // Not all at once: between half of it and the whole.
    return Math.min(FIRST_WAIT_MS * 2 ** tries, waitMaxMs) * (0.5 + Math.random() / 2);
  }

  async #timed<T>(call: Call, once: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const timer = new AbortController();
    const timeout = setTimeout(() => timer.abort(), call.timeoutMs ?? this.settings.timeoutMs ?? 60_000);
    try {
      return await once(call.signal ? AbortSignal.any([call.signal, timer.signal]) : timer.signal);
    } catch (cause) {
      if (call.signal?.aborted || cause instanceof GatewayError) throw cause;
      throw new NotAnswered(timer.signal.aborted ? "no answer in time" : "no answer", { cause });
    } finally {
      clearTimeout(timeout);
    }
  }

  async #once(request: Request, accept: string, signal: AbortSignal): Promise<Uint8Array> {
    return new Uint8Array(await (await this.#fetch(request, accept, signal)).arrayBuffer());
  }

  async #fetch(request: Request, accept: string, signal: AbortSignal): Promise<Response> {
    const { user, ...query } = request.args ?? {};
    const url = new URL(request.path, this.settings.url);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const headers = new Headers({ accept, ...(await request.headers?.()) });
    const { token } = this.settings;
    if (token !== undefined) headers.set("authorization", `Bearer ${typeof token === "string" ? token : await token()}`);
    if (user !== undefined) headers.set("x-user-id", String(user));
    const body = request.json === undefined ? request.bytes : JSON.stringify(request.json);
    if (body !== undefined) headers.set("content-type", request.mediaType ?? "application/json");
    const send = this.settings.fetch ?? fetch;
    const init = { method: request.method, headers, signal, redirect: "manual" as const };
    const response = await send(url, body === undefined ? init : { ...init, body: body as BodyInit });
    if (!response.ok) throw await refusal(response);
    return response;
  }
}

/** What an answer that is no success says. */
async function refusal(response: Response): Promise<GatewayError> {
  const text = await response.text();
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const retryAfter = Number.isFinite(seconds) ? seconds : undefined;
  try {
    const { error } = JSON.parse(text);
    if (typeof error.code === "string") return new Refused(error, response.status, retryAfter);
  } catch {
    // Falls through: it is not the gateway's.
  }
  return new NotUnderstood(response.status, text.slice(0, BEGINNING), retryAfter);
}

/** Waits, unless it is called off. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
