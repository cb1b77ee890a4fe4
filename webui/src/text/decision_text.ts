// What a decision did to a job, as the feed tells it, and why there is none to tell.
import type { IntentLine } from "../state/event_data";
import type { JobSums, PoolSums } from "../state/pool";
import { count } from "./format";

// The engine takes a job's slots in one way, for its user, a budget, a drain or lost workers as for another job.
const kTaken: Record<string, string> = { SuspendedByUser: "suspend", BudgetSpent: "pause", BelowMinimum: "requeue", DrainSuspend: "drain" };

export function kindText({ kind, code }: Pick<IntentLine, "kind" | "code">): string {
  const taken = kind === "preempt" && code !== null ? kTaken[code] : undefined;
  return taken ?? kind.replaceAll("_", " ");
}

export interface FeedLine {
  intent: IntentLine;
  alike: number; // further ones of its kind for the same job, or for none
}

// What a decision did, a line for each job and kind: that each worker of a job stops is no news of its own.
export function feedLines(intents: readonly IntentLine[]): FeedLine[] {
  const lines = new Map<string, FeedLine>();
  for (const intent of intents) {
    const key = `${intent.kind} ${intent.job ?? ""}`;
    const line = lines.get(key);
    if (line === undefined) lines.set(key, { intent, alike: 0 });
    else line.alike += 1;
  }
  return [...lines.values()];
}

// The engine's sentence without the job in front, which stands above it: by its name, or by its id if it has ended.
export function intentText({ text, job }: Pick<IntentLine, "text" | "job">, name: string): string {
  const front = [name, job ?? ""].find((word) => word !== "" && text.startsWith(`${word}: `));
  return front === undefined ? text : text.slice(front.length + 2);
}

// The engine's sentences have the ids of nodes, the page their names. A node's own decision begins with its name.
export function withNodeNames(text: string, nodes: ReadonlyMap<string, { name: string }>): string {
  return text.replace(/(?<![\w.-])node-\d+(?![\w-]|\.\w)/g, (id, at: number) => (at === 0 && text[id.length] === ":" ? id : nodes.get(id)?.name ?? id));
}

// Of a pool in which no decision at hand has changed a job.
export function noDecisionsText({ nodesUp }: Pick<PoolSums, "nodesUp">, { running, waiting }: Pick<JobSums, "running" | "waiting">): string {
  if (nodesUp === 0) return "No node is up, so no job can get slots. Decisions appear here once a node has joined.";
  if (running + waiting === 0) return "No job runs or waits for slots, so there is nothing to decide.";
  const jobs = (n: number) => (n === 1 ? "The job" : `The ${count(n)} jobs`);
  if (running > 0) return `${jobs(running)} that ${running === 1 ? "runs keeps its size" : "run keep their sizes"}: the newest decisions have changed none.`;
  return `${jobs(waiting)} that ${waiting === 1 ? "waits has" : "wait have"} not been given slots; the list of jobs says why.`;
}
