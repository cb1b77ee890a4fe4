// A wait of a job as a line: "21:50:02 to 21:53:20: waits for 2 slots", with the day where it is another one.
import type { Wait } from "../api/types";

function clock(time: string): string {
  return time.slice(11, 19);
}

function moment(time: string): string {
  return `${time.slice(0, 10)} ${clock(time)}`;
}

export function waitText(wait: Wait): string {
  const text = wait.reason.text || wait.reason.code;
  if (wait.until === null) return `since ${moment(wait.from)}: ${text}`;
  const until = wait.until.slice(0, 10) === wait.from.slice(0, 10) ? clock(wait.until) : moment(wait.until);
  return `${moment(wait.from)} to ${until}: ${text}`;
}
