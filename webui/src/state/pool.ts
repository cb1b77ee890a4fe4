// Sums over nodes and jobs that the overview shows. Pure.
import type { ClusterNode, Job, Slot } from "../api/types";
import { holdsSlots } from "./model";

export interface PoolSums {
  total: number; // slots of nodes that are up
  used: number;
  free: number; // may be given out now
  cordoned: number; // empty, on a node that takes no workers
  quarantined: number; // their worker has ended, and something of it is left there
  lost: number; // on nodes that do not answer
  nodesUp: number;
  nodesLost: number;
  largestFree: number; // most free slots on one node: the largest gang that fits together
}

export function isHeld(slot: Slot): boolean {
  return slot.job !== null || slot.busy === true;
}

export function quarantinedOn(node: ClusterNode): number {
  return node.slots.reduce((n, slot) => n + (slot.quarantine ? 1 : 0), 0);
}

// It gets no new workers; why, in a word.
export function closedBy(node: ClusterNode): "draining" | "drained" | "cordoned" | "unsteady" | null {
  if (node.drain) return node.drain.drained ? "drained" : "draining";
  if (node.cordoned) return "cordoned";
  return node.faults?.unsteady_until ? "unsteady" : null;
}

// What a slot is that has no job to name.
export function emptyKind(node: ClusterNode, slot: Slot): "other" | "lost" | "cordoned" | "free" {
  if (isHeld(slot)) return "other"; // held by a job of another tenant
  if (node.state !== "up") return "lost";
  return closedBy(node) === null ? "free" : "cordoned";
}

export function sumPool(nodes: Iterable<ClusterNode>): PoolSums {
  const sums: PoolSums = { total: 0, used: 0, free: 0, cordoned: 0, quarantined: 0, lost: 0, nodesUp: 0, nodesLost: 0, largestFree: 0 };
  for (const node of nodes) {
    if (node.state !== "up") {
      sums.lost += node.slots.length;
      sums.nodesLost += 1;
      continue;
    }
    const quarantined = quarantinedOn(node);
    const used = node.slots.reduce((n, slot) => n + (isHeld(slot) ? 1 : 0), 0) - quarantined;
    const empty = node.slots.length - used - quarantined;
    sums.quarantined += quarantined;
    sums.total += node.slots.length;
    sums.used += used;
    sums.nodesUp += 1;
    if (closedBy(node) !== null) {
      sums.cordoned += empty;
    } else {
      sums.free += empty;
      sums.largestFree = Math.max(sums.largestFree, empty);
    }
  }
  return sums;
}

export interface JobSums {
  running: number;
  waiting: number;
  suspended: number;
  over: number;
  costPerHour: number;
  currency: string;
}

export function sumJobs(jobs: Iterable<Job>): JobSums {
  const sums: JobSums = { running: 0, waiting: 0, suspended: 0, over: 0, costPerHour: 0, currency: "USD" };
  for (const job of jobs) {
    if (job.state === "pending") sums.waiting += 1;
    else if (job.state === "suspended") sums.suspended += 1;
    else if (holdsSlots(job.state)) {
      sums.running += 1;
      sums.costPerHour += Number(job.cost.per_hour) || 0;
      sums.currency = job.cost.currency;
    } else sums.over += 1;
  }
  return sums;
}

// Events a second over the last `windowMs`.
export function eventRate(arrivals: readonly number[], now: number, windowMs = 60_000): number {
  return arrivals.reduce((n, at) => n + (at > now - windowMs ? 1 : 0), 0) / (windowMs / 1000);
}
