// A gateway of its own for the tests, with a garage behind it. Each server prints `listening on URL` once it can be called.

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { once } from "node:events";

import { Gateway, type Models, type Settings } from "@intent-gateway/client";

const ROOT = resolve(import.meta.dirname, "../../../../../..");
const PROGRAMS = resolve(process.env["INTENT_GATEWAY_PROGRAMS"] ?? join(ROOT, "target/debug"));

export const INTENT = "auto.book_ac_service";
export const BOOKING = "create_ac_service_booking";
export const GARAGE = "garage-nine";
export const SIGNING_KEY = "whsec_garage_nine_of_the_clients_tests";

const vehicle = { type: "car", year_of_manufacture: 2019, ac_system_type: "automatic" };
const issue = { category: "not_cooling", user_description: "blows warm air", last_serviced_months_ago: 14 };

export const SEARCH = {
  intent: INTENT,
  user_location: { lat: 12.9716, lng: 77.5946, max_radius_km: 25, city: "Bengaluru" },
  vehicle,
  ac_issue: issue,
  service_preferences: { doorstep_acceptable: true },
  ttbs_user_band: { budget: "good" },
};

export function bookingOf(option: Models.SearchOption): Models.ToolRequest {
  return { reference: option.reference, arguments: { vehicle, ac_issue: issue, contact_phone: "+919876543210" } };
}

/** A process that listens, and what it logs. */
class Server {
  readonly #log: string[] = [];
  #woken: () => void = () => {};
  url = "";

  private constructor(readonly process: ChildProcess) {
    createInterface(process.stderr!).on("line", (line) => {
      this.#log.push(line);
      this.#woken();
    });
  }

  static async start(program: string, args: string[]): Promise<Server> {
    const process = spawn(join(PROGRAMS, program), args, { stdio: ["ignore", "pipe", "pipe"] });
    const server = new Server(process);
    for await (const line of createInterface(process.stdout!)) {
      const [, url] = /^listening on (\S+)/.exec(line) ?? [];
      if (url === undefined) continue;
      server.url = url;
      return server;
    }
    throw new Error(`${program} ended before it listened: ${server.#log.join("\n")}`);
  }

  /** Waits until it logs something. */
  async logs(text: string): Promise<void> {
    while (!this.#log.some((line) => line.includes(text))) {
      await new Promise<void>((resolve) => (this.#woken = resolve));
    }
  }

  async stop(): Promise<void> {
    const ended = once(this.process, "exit");
    this.process.kill("SIGTERM");
    await ended;
  }
}

/** Passes connections on, until they are cut. */
export class Proxy {
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((near) => {
    const far = connect(Number(new URL(this.target).port), "127.0.0.1");
    for (const [from, to] of [[near, far], [far, near]] as const) {
      this.#sockets.add(from);
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
    }
  });

  private constructor(readonly target: string) {}

  static async to(target: string): Promise<Proxy> {
    const proxy = new Proxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }
}

/** The servers, and tokens for who calls them. */
export class World {
  private constructor(
    readonly folder: string,
    readonly config: string,
    readonly partner: Server,
    readonly server: Server,
  ) {}

  static async start(): Promise<World> {
    const folder = mkdtempSync(join(tmpdir(), "clients-"));
    const partner = await Server.start("partner-rust", ["--catalogue", "garage", "--port", "0"]);
    const config = join(folder, "gateway.toml");
    const contracts = join(folder, "contracts");
    mkdirSync(contracts);
    writeFileSync(
      config,
      `state_dir = "${folder}/state"
       [server]
       listen = "127.0.0.1:0"
       drain_announce_ms = 0
       [streams]
       max_open = 1
       [contracts]
       dir = "${contracts}"
       [partner_client]
       allow_loopback_http = true
       [outbound]
       rate_limits = false
       [[partners]]
       id = "${GARAGE}"
       name = "Garage Nine"
       url = "${partner.url}"
       webhook_signing_key = "${SIGNING_KEY}"
       [[partners.listings]]
       intent = "${INTENT}"
       service_area = ["Bengaluru"]`,
    );
    const server = await Server.start("intent-gateway", ["serve", "--config", config]);
    return new World(folder, config, partner, server);
  }

  get url(): string {
    return this.server.url;
  }

  token(role: "orchestrator" | "admin", subject: string): string {
    const args = ["token", "--role", role, "--subject", subject, "--config", this.config];
    return execFileSync(join(PROGRAMS, "intent-gateway"), args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  }

  /** A gateway as an orchestrator of this name sees it: each has orders of its own. */
  as(orchestrator: string, settings: Partial<Settings> = {}): Gateway {
    return new Gateway({ url: this.url, token: this.token("orchestrator", orchestrator), ...settings });
  }

  get platform(): Gateway["platform"] {
    return new Gateway({ url: this.url, token: this.token("admin", "team") }).platform;
  }

  /** Loads the contract, and makes it live; the answer says that it serves. */
  async shipContract(): Promise<Models.ActivationOutcome | Models.ApprovalBody> {
    const component = readFileSync(join(ROOT, "target/contracts/auto-book-ac-service.wasm"));
    const { digest } = await this.platform.loadContract(component, { activate: false });
    return this.platform.activateContract(digest);
  }

  /** The code of the latest mail. */
  async mailedCode(): Promise<string> {
    await this.server.logs("mail is in the outbox");
    const mails = readFileSync(join(this.folder, "state/outbox.jsonl"), "utf8");
    return /Your code is (\d+)/.exec(mails)![1]!;
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await this.partner.stop();
    rmSync(this.folder, { recursive: true });
  }
}
