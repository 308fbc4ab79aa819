import { Cell } from "./state";

/** Whether the browser has a network at all. A stream does not notice that it is gone for a while. */
export const online = new Cell(navigator.onLine);
addEventListener("online", () => (online.value = true));
addEventListener("offline", () => (online.value = false));
