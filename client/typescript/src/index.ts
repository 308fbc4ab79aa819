/**
 * A client for the Beacon network interface. Paths, parameters, bodies and answers
 * are typed from the OpenAPI document; this file adds what the document cannot say:
 * errors, patience, pages and events.
 */
import createFetchClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./schema.js";

export type { components, operations, paths } from "./schema.js";
export type Schemas = components["schemas"];
export type Hotspot = Schemas["Hotspot"];

/** What the server refused, and why. */
export class BeaconError extends Error {
  constructor(
    readonly status: number,
    /** For programs, such as "not_found"; empty when something else than a Beacon server answered. */
    readonly code: string,
    message: string,
    /** Every field at fault. */
    readonly details: ReadonlyArray<{ field: string; message: string }>,
    /** By which the server's log knows the request. */
    readonly requestId: string,
  ) {
    super(message);
    this.name = "BeaconError";
  }
}

export interface Options {
  /** Where the server is, such as "https://wifi.example.org", with or without the /v1 at the end; "" for where the page came from. */
  baseUrl: string;
  /** The key; none for what needs none. */
  key?: string | undefined;
  /** How often a request is sent at most; 5 unless told. */
  tries?: number | undefined;
  /** How long to wait at most when the server asks for that, in seconds; 30 unless told. */
  patience?: number | undefined;
  fetch?: ((request: Request) => Promise<Response>) | undefined;
}

export type Beacon = Client<paths, "application/json">;

/**
 * A client with a typed GET, POST, PATCH and DELETE. What reads, and what carries
 * an Idempotency-Key, is repeated when the server asks for patience or cannot be
 * reached; everything else is sent once.
 */
export function createClient(options: Options): Beacon {
  const client = createFetchClient<paths, "application/json">({ baseUrl: root(options), fetch: patient(options) });
  client.use({
    onRequest({ request }) {
      if (options.key && !request.headers.has("Authorization")) {
        request.headers.set("Authorization", `Bearer ${options.key}`);
      }
      return request;
    },
  });
  return client;
}

/** The address that paths are added to, which begin with /v1. */
const root = ({ baseUrl }: Options) => baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "");

const pause = (seconds: number, signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    signal.addEventListener("abort", stop, { once: true });
  });

/** Longer each time, and not at the same moment as everyone else. */
const backoff = (failures: number) => Math.min(0.1 * 2 ** (failures - 1), 5) * (0.5 + Math.random() / 2);

function patient({ tries = 5, patience = 30, fetch: send = (r) => fetch(r) }: Options) {
  return async (request: Request): Promise<Response> => {
    const again = request.method === "GET" || request.headers.has("Idempotency-Key");
    for (let n = 1; ; n++) {
      const last = !again || n >= tries;
      let wait = backoff(n);
      try {
        const response = await send(last ? request : request.clone());
        const asked = Number(response.headers.get("Retry-After") ?? 0) || 0;
        if (last || ![408, 429, 503].includes(response.status) || asked > patience) return response;
        await response.body?.cancel();
        wait = Math.max(wait, asked);
      } catch (problem) {
        if (last || request.signal.aborted) throw problem;
      }
      await pause(wait, request.signal);
    }
  };
}

interface Result<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The answer of a request, or a BeaconError: `const { data } = await answer(client.GET(…))`. */
export async function answer<T>(request: Promise<Result<T>>): Promise<NonNullable<T>> {
  const { data, error, response } = await request;
  if (!response.ok) throw failure(response, error);
  return data as NonNullable<T>;
}

function failure(response: Response, body: unknown): BeaconError {
  const said = (typeof body === "object" && body !== null ? (body as Partial<Schemas["Error"]>).error : undefined) ?? undefined;
  return new BeaconError(
    response.status,
    said?.code ?? "",
    said?.message ?? (response.statusText || `status ${response.status}`),
    said?.details ?? [],
    response.headers.get("X-Request-Id") ?? "",
  );
}

interface Page<T> {
  data: T[];
  pagination: Schemas["Pagination"];
}

/** All items of a list in pages: `pages((page) => client.GET("/v1/keys", { params: { query: { page } } }))`. */
export async function* pages<T>(ask: (page: number) => Promise<Result<Page<T>>>): AsyncGenerator<T> {
  for (let n = 1; ; n++) {
    const page = await answer(ask(n));
    yield* page.data;
    if (n >= page.pagination.total_pages) return;
  }
}

/** Something that happened in the network. Ignore types that you do not know. */
export interface BeaconEvent {
  id: number;
  type: string;
  hotspot_id?: string;
  user_id?: string;
  period?: string;
  at: string;
}

/**
 * What happens after an event, from 0 with the oldest that is kept, from undefined
 * with what happens next. When the connection is lost, it goes on after the last
 * event that came: each comes once. It ends when the signal does, or with a
 * BeaconError when it makes no sense to go on.
 */
export async function* events(options: Options, after?: number, signal: AbortSignal = new AbortController().signal): AsyncGenerator<BeaconEvent> {
  const { fetch: send = (r: Request) => fetch(r) } = options;
  for (let failures = 1; ; failures++) {
    try {
      const headers = new Headers({ Accept: "text/event-stream" });
      if (options.key) headers.set("Authorization", `Bearer ${options.key}`);
      if (after !== undefined) headers.set("Last-Event-ID", String(after));
      const response = await send(new Request(`${root(options)}/v1/events`, { headers, signal }));
      if (!response.ok) throw failure(response, await response.json().catch(() => undefined));
      for await (const data of messages(response)) {
        const event = JSON.parse(data) as BeaconEvent;
        after = event.id;
        failures = 1;
        yield event;
      }
    } catch (problem) {
      if (signal.aborted) return;
      const final = problem instanceof BeaconError && problem.status < 500 && ![408, 429].includes(problem.status);
      if (final || problem instanceof SyntaxError) throw problem;
    }
    try {
      await pause(backoff(failures), signal);
    } catch {
      return; // it was told to stop
    }
  }
}

/** The data of server-sent events. */
async function* messages(response: Response): AsyncGenerator<string> {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value.replaceAll("\r", "");
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const lines = block.split("\n").filter((line) => line.startsWith("data:"));
        if (lines.length > 0) yield lines.map((line) => line.slice(5).replace(/^ /, "")).join("\n");
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
