// What happens in the network, as it happens. EventSource cannot send a key in
// a header, and an address is no place for a key, so the stream is read here.
import { ApiError, isAbort, send } from "./api";
import { Cell } from "./state";
import type { NetworkEvent } from "./types";

export type Connection = "off" | "connecting" | "live" | "waiting";

export const connection = new Cell<Connection>("off");

const firstWait = 1_000; // milliseconds
const longestWait = 30_000;

/** Listens until the signal comes; after each interruption it comes back, and says so. */
export async function listen(onEvent: (event: NetworkEvent) => void, onReturn: () => void, signal: AbortSignal): Promise<void> {
  let last = "";
  let wait = firstWait;
  let interrupted = false;
  while (!signal.aborted) {
    connection.value = "connecting";
    try {
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (last) headers["Last-Event-ID"] = last;
      const response = await send("/v1/events", { headers, signal });
      connection.value = "live";
      wait = firstWait;
      if (interrupted) onReturn(); // pages may show that the server was away
      for await (const message of messages(response)) {
        last = message.id || last;
        if (message.data) onEvent(JSON.parse(message.data) as NetworkEvent);
      }
    } catch (error) {
      if (isAbort(error)) break;
      if (error instanceof ApiError && error.status === 401) break; // signed out
      if (error instanceof ApiError && error.status === 409) last = ""; // what happened since is no longer kept
    }
    if (signal.aborted) break;
    interrupted = true;
    connection.value = "waiting";
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(wait * 2, longestWait);
  }
  if (!signal.aborted) connection.value = "off"; // else whoever ended it may have begun anew
}

interface Message {
  id: string;
  data: string;
}

/** Cuts a stream into messages, as the HTML standard says. */
async function* messages(response: Response): AsyncGenerator<Message> {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let message: Message = { id: "", data: "" };
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        yield message;
        message = { id: message.id, data: "" };
      } else if (line.startsWith("id:")) {
        message.id = line.slice(3).trim();
      } else if (line.startsWith("data:")) {
        message.data += line.slice(5).trim();
      }
    }
  }
}
