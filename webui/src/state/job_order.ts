// Which jobs the table shows and in what order. Pure; every order ends at the id.
import type { Job, JobState } from "../api/types";
import { holdsSlots, isOver } from "./model";

export type Scope = "active" | "waiting" | "ended" | "all";
export type Column = "name" | "state" | "size" | "throughput" | "progress" | "cost" | "age";
export interface Order {
  column: Column;
  descending: boolean;
}

export function inScope(job: Job, scope: Scope): boolean {
  switch (scope) {
    case "active": return !isOver(job.state);
    case "waiting": return job.state === "pending" || job.state === "suspended";
    case "ended": return isOver(job.state);
    case "all": return true;
  }
}

export function countScopes(jobs: readonly Job[]): Record<Scope, number> {
  const counts = { active: 0, waiting: 0, ended: 0, all: jobs.length };
  for (const job of jobs) {
    if (inScope(job, "waiting")) counts.waiting += 1;
    if (inScope(job, "ended")) counts.ended += 1;
    else counts.active += 1;
  }
  return counts;
}

// Every word must appear in the name, id, tenant, state, reason or a label.
export function matches(job: Job, query: string): boolean {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const labels = Object.entries(job.labels).map(([key, value]) => `${key}=${value}`).join(" ");
  const text = `${job.name} ${job.id} ${job.tenant} ${job.state} ${job.reason?.text ?? ""} ${labels}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

// What needs an eye comes first: jobs that change, then those that run, wait, and have ended.
const kRank: Record<JobState, number> = {
  resizing: 0, starting: 1, running: 2, suspending: 3, pending: 4, suspended: 5, failed: 6, succeeded: 7, cancelled: 8,
};

function valueOf(job: Job, column: Column): number | string {
  switch (column) {
    case "name": return job.name;
    case "state": return kRank[job.state] ?? 9;
    case "size": return job.size;
    case "throughput": return holdsSlots(job.state) ? job.progress.samples_per_second : 0;
    case "progress": return job.progress.fraction ?? -1;
    case "cost": return Number(job.cost.amount) || 0;
    case "age": return Date.parse(job.submitted_at);
  }
}

export const byText = new Intl.Collator("en", { numeric: true });

export function sorted(jobs: readonly Job[], order: Order): Job[] {
  const sign = order.descending ? -1 : 1;
  return [...jobs].sort((a, b) => {
    const left = valueOf(a, order.column);
    const right = valueOf(b, order.column);
    const by = typeof left === "string" ? byText.compare(left, String(right)) : left - Number(right);
    return by !== 0 ? sign * by : byText.compare(b.id, a.id);
  });
}
