// How the console asks the server: one function for all of /v1, one error for
// all that can go wrong.
import { heard } from "./clock";
import { freshen } from "./fresh";
import { t } from "./messages";
import { demoKey } from "./head";
import { session } from "./session";
import type { Pagination } from "./types";

export interface Fault {
  field: string;
  message: string;
}

/** What the server refused, or that it could not be asked (status 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId: string,
    readonly faults: Fault[] = [],
  ) {
    super(message);
  }
}

export interface Answer<T> {
  data: T;
  pagination?: Pagination;
  etag: string | null;
}

export interface Options {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  key?: string; // another one than that of the session
  cookie?: boolean; // the response sets a cookie
}

const attempts = 4;
const longestWait = 30; // seconds; who is told to wait longer is told so

/** Asks the network. A request that may be repeated is, when the server says when. */
export async function ask<T>(path: string, options: Options = {}): Promise<Answer<T>> {
  const response = await send(path, options);
  if (response.status === 204) return { data: undefined as T, etag: null };
  const body = (await response.json()) as { data: T; pagination?: Pagination; meta?: { timestamp?: string } };
  heard(body.meta?.timestamp);
  const answer: Answer<T> = { data: body.data, etag: response.headers.get("ETag") };
  if (body.pagination) answer.pagination = body.pagination;
  return answer;
}

/** Asks for something that is no JSON, such as a statement to keep. */
export async function send(path: string, options: Options = {}): Promise<Response> {
  const { signal } = options;
  let asked = false; // to sign in again
  for (let attempt = 1; ; attempt++) {
    const response = await once(path, options);
    if (response.ok) return response;
    const wait = Number(response.headers.get("Retry-After") ?? NaN);
    if (attempt < attempts && mayRepeat(response.status, options) && wait <= longestWait) {
      await pause(wait, signal);
      continue;
    }
    if (response.status === 403 && response.headers.get("Beacon-Sign-In") === "fresh" && !asked && options.key === undefined) {
      asked = true;
      if (await freshen()) continue;
    }
    const error = await errorOf(response);
    if (error.status === 401 && options.key === undefined && session.who.value) session.end(session.person ? t.errors.sessionEnded : t.errors.noLongerValid);
    throw error;
  }
}

/** Asks for something that is sent as it is computed, and tells what has arrived so far. */
export async function readStream<T>(path: string, options: Options, onText: (text: string) => void): Promise<T> {
  const response = await send(path, options);
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (const reader = response.body!.getReader(); ; ) {
      const { done, value } = await reader.read();
      text += decoder.decode(value, { stream: !done });
      if (done) break;
      onText(text);
    }
  } catch (cause) {
    if (options.signal?.aborted) throw cause;
    throw new ApiError(0, "unreachable", t.errors.unreachable, "");
  }
  return (JSON.parse(text) as { data: T }).data;
}

/** Says for which account a person acts. Pages of other sites cannot say it. */
export function actingFor(): Record<string, string> {
  const who = session.who.value;
  return who?.key ? {} : { "Beacon-Account": who?.user_id ?? "" };
}

async function once(path: string, options: Options): Promise<Response> {
  const headers = new Headers(options.headers);
  const key = options.key ?? session.key;
  if (key) headers.set("Authorization", `Bearer ${key}`);
  else if (session.person || (options.method ?? "GET") !== "GET") for (const [name, value] of Object.entries(actingFor())) headers.set(name, value);
  const init: RequestInit = { method: options.method ?? "GET", headers, credentials: key && !options.cookie ? "omit" : "same-origin" };
  if (options.signal) init.signal = options.signal;
  if (options.body !== undefined) {
    headers.set("Content-Type", "application/json");
    init.body = JSON.stringify(options.body);
  }
  try {
    return await fetch(path, init);
  } catch (cause) {
    if (options.signal?.aborted) throw cause;
    throw new ApiError(0, "unreachable", t.errors.unreachable, "");
  }
}

// What was refused for its rate, or never arrived, was not done. After a 503 it may have been, so
// only what can be done twice without harm is tried again.
function mayRepeat(status: number, { method = "GET", headers = {} }: Options): boolean {
  if (status === 429 || status === 408) return true;
  return status === 503 && (method === "GET" || "Idempotency-Key" in headers || "If-Match" in headers);
}

function pause(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, Math.max(seconds, 0.2) * 1000);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}

async function errorOf(response: Response): Promise<ApiError> {
  const requestId = response.headers.get("X-Request-Id") ?? "";
  try {
    const { error } = (await response.json()) as { error: { code: string; message: string; details?: Fault[] } };
    return new ApiError(response.status, error.code, error.message, requestId, error.details);
  } catch {
    return new ApiError(response.status, "unknown", t.errors.status(response.status), requestId);
  }
}

/** Asks the preview, which has keys of its own. */
export async function askPreview<T>(path: string): Promise<T> {
  const response = await fetch(path, { headers: { "x-api-key": demoKey() }, credentials: "omit" });
  if (!response.ok) {
    const { error, message } = (await response.json()) as { error: string; message?: string };
    throw new ApiError(response.status, error, message ?? error, response.headers.get("X-Request-Id") ?? "");
  }
  return (await response.json()) as T;
}

/** Whether someone stopped caring for the answer. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
