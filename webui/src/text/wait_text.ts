// A wait of a job as a line: "20 Nov 21:50:02 to 21:53:20: waits for 2 slots", with the second day where it is another one.
import type { Wait } from "../api/types";
import { clock, clockBeside, dayOfMonth } from "./format";

export function waitText(wait: Wait): string {
  const text = wait.reason.text || wait.reason.code;
  const began = Date.parse(wait.from);
  const from = `${dayOfMonth(began)} ${clock(began)}`;
  if (wait.until === null) return `since ${from}: ${text}`;
  return `${from} to ${clockBeside(wait.until, began)}: ${text}`;
}
