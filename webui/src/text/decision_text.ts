// What a decision did to a job, as the feed tells it.
import type { IntentLine } from "../state/event_data";

// The engine takes a job's slots in one way, for its user and for a budget as for another job.
const kTaken: Record<string, string> = { SuspendedByUser: "suspend", BudgetSpent: "pause" };

export function kindText({ kind, code }: Pick<IntentLine, "kind" | "code">): string {
  const taken = kind === "preempt" && code !== null ? kTaken[code] : undefined;
  return taken ?? kind.replaceAll("_", " ");
}

// The engine's sentence without the job in front, which stands above it: by its name, or by its id if it has ended.
export function intentText({ text, job }: Pick<IntentLine, "text" | "job">, name: string): string {
  const front = [name, job ?? ""].find((word) => word !== "" && text.startsWith(`${word}: `));
  return front === undefined ? text : text.slice(front.length + 2);
}
