// What one tab knows. Replaced, never changed in place; every change goes through reduce().
import type {
  ClusterNode, Explanation, ForecastPage, Job, MeasuredSize, MetricPoint, Policy, Role, TenantTree, ThroughputFit,
  TideEvent, Usage, UsageWindow, Worker,
} from "../api/types";
import type { IntentLine } from "./event_data";
import { kEmptyDesk, type PlanDesk } from "./plan_desk";

export interface SizePoint {
  at: number; // ms since 1970
  size: number;
}

// A decision as the feed shows it: one sentence per intent.
export interface DecisionLine {
  id: string;
  at: string;
  policy: string;
  intents: IntentLine[];
}

// A switch carries out what an earlier decision has said; told, it would say everything twice.
export function isTold(intent: { kind: string }): boolean {
  return intent.kind !== "switch";
}

export type Link =
  | { kind: "loading" }
  | { kind: "live" }
  | { kind: "down"; message: string; since: number | null; retryAt: number } // since: the last moment it was live
  | { kind: "refused"; message: string };

// Everything about the one job whose page is open.
export interface Detail {
  job: string;
  loaded: boolean; // all of it was read
  missing: Refusal | null; // why it was not
  points: readonly MetricPoint[];
  pointsSeq: number;
  sizes: readonly MeasuredSize[];
  fit: ThroughputFit | null;
  workers: readonly Worker[];
  explanation: Explanation | null;
  events: readonly TideEvent[]; // oldest first
  switches: readonly TideEvent[]; // of its generations, oldest first, also from before `eventsAfter`
  eventsAfter: number; // none up to this one was read; 0 = all of them
}

export interface Refusal {
  status: number;
  message: string;
}

// The page of tenants while it is open.
export interface TenantPage {
  tree: TenantTree | null; // null: not read yet
  problem: Refusal | null; // why the tree cannot be shown
  window: UsageWindow;
  usage: Usage | null; // of the window, by tenant and day
  usageProblem: Refusal | null;
}

// What the newest forecasts as a whole say; each job has its own.
export type ForecastWhole = Pick<ForecastPage, "computed_at" | "policy" | "observed">;

// What events have made out of date; the loader fetches it and takes it off the list.
export interface Needs {
  jobs: ReadonlySet<string>;
  page: boolean; // all of the open job's
  nodes: boolean;
  policies: boolean;
  decisions: boolean;
  explanation: boolean;
  workers: boolean;
  metrics: boolean;
  progressed: ReadonlySet<string>; // jobs that made steps: their reason may have moved, no event says so
}

// Which jobs have not been read: some that have not ended, some that have, or, for good, the oldest that have.
export interface JobsLeft {
  part: "live" | "ended" | "older";
  most: number | null; // there are no more than so many; null: not known
  problem: string | null; // why the newest attempt has failed
}

export interface State {
  link: Link;
  role: Role | null; // of the tab's token; null: not read yet, or the daemon does not tell
  ownTenant: string | null; // to which that token is limited; null: to none, or not known
  seq: number; // newest event that the lists or the stream have brought
  lastEventAt: string | null;
  jobs: ReadonlyMap<string, Job>;
  jobsLeft: JobsLeft | null; // null: all jobs are there
  nodes: ReadonlyMap<string, ClusterNode>;
  policies: readonly Policy[];
  policyNews: TideEvent | null; // the newest of kPolicyNews
  decisions: readonly DecisionLine[]; // newest first
  sizeHistory: ReadonlyMap<string, readonly SizePoint[]>;
  arrivals: readonly number[]; // when the newest events happened, ms since 1970
  detail: Detail | null;
  tenants: TenantPage | null;
  plan: PlanDesk;
  forecasts: ForecastWhole | null; // null: not read yet, or the daemon gives none
  needs: Needs;
}

export const kNoNeeds: Needs = {
  jobs: new Set(), page: false, nodes: false, policies: false, decisions: false, explanation: false, workers: false,
  metrics: false, progressed: new Set(),
};

export const kEmptyState: State = {
  link: { kind: "loading" }, role: null, ownTenant: null, seq: 0, lastEventAt: null, jobs: new Map(), jobsLeft: null, nodes: new Map(), policies: [],
  policyNews: null, decisions: [], sizeHistory: new Map(), arrivals: [], detail: null, tenants: null, plan: kEmptyDesk, forecasts: null,
  needs: kNoNeeds,
};

export function emptyDetail(job: string): Detail {
  return {
    job, loaded: false, missing: null, points: [], pointsSeq: 0, sizes: [], fit: null, workers: [], explanation: null,
    events: [], switches: [], eventsAfter: 0,
  };
}

// There is no such job as the open one, or the token may not see it.
export function isUnknown({ detail, jobs }: Pick<State, "detail" | "jobs">): boolean {
  return detail?.missing?.status === 404 && !jobs.has(detail.job);
}

export const kEmptyTenantPage: TenantPage = { tree: null, problem: null, window: "month", usage: null, usageProblem: null };

// Nothing that would be refused is offered.
export function mayChange({ role }: Pick<State, "role">): boolean { return role !== "viewer"; }

export function isOver(state: Job["state"]): boolean {
  return state === "succeeded" || state === "failed" || state === "cancelled";
}

export function holdsSlots(state: Job["state"]): boolean {
  return state === "starting" || state === "running" || state === "resizing" || state === "suspending";
}
