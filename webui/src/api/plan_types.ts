// What POST /v1/plan sends, and of a dry run of POST /v1/jobs its decision, field for field as in api/examples.
import type { Forecast } from "./types";

export type PlanEffect = "ended" | "preempted" | "shrunk" | "later" | "sooner";

// What becomes of one other job.
export interface PlanChange {
  job: string;
  name: string;
  effect: PlanEffect; // the worst of what happens to it
  at: string | null; // when it first has fewer workers, or is ended
  from: number | null;
  to: number | null;
  preempted_for: string | null; // an id, "the planned job" or "a job of another tenant"
  shrunk_for: string | null; // likewise, the first in line of those that are to have some of its slots
  shrunk_for_others: number; // jobs that share these with it
  budget?: Forecast["budget"]; // what ends, preempts or shrinks it, where that is no other job
  starts_later_s: number | null; // below 0 it starts sooner
  ends_later_s: number | null;
}

export interface Plan {
  name: string;
  tenant: string;
  forecast: Forecast;
  currency: string;
  policy: string;
  until: string; // nothing after that was looked at
  changes: PlanChange[];
  others_changed: number; // jobs of other tenants
  summary: string;
  as_of_seq: number;
}

// What the engine would do at once.
export interface SubmitDecision {
  starts: boolean;
  size: number;
  places: { node: string; node_name: string; workers: number }[];
  summary: string; // why it starts, or waits
  evidence: string[];
  unblocks: string[];
}
