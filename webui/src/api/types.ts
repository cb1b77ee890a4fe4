// What `/v1` sends, field for field as in api/examples. Nothing here is computed.

export type JobState =
  | "pending"
  | "starting"
  | "running"
  | "resizing"
  | "suspending"
  | "suspended"
  | "succeeded"
  | "failed"
  | "cancelled";

export interface Reason {
  code: string;
  numbers: Record<string, number>;
  text: string;
}

// One size that was measured. `efficiency` is that of the last worker added, null for the smallest size.
export interface MeasuredSize {
  size: number;
  steps: number;
  step_ms: number;
  samples_per_second: number;
  efficiency: number | null;
}

export interface Progress {
  step: number;
  steps_total: number | null;
  fraction: number | null;
  samples: number;
  samples_total: number | null;
  epoch: number;
  loss: number | null;
  first_loss: number | null;
  samples_per_second: number;
  step_ms: number;
  global_batch: number | null;
  noise_scale: number | null;
  statistical_efficiency: number | null;
}

// Money is a decimal string; it is parsed only to be drawn.
export interface Cost {
  amount: string;
  currency: string;
  slot_seconds: number;
  per_hour: string;
}

// In eight of ten cases it lies between early and late.
export type ForecastBasis = "declared" | "told" | "kin" | "unknown";

export interface ExpectedTime {
  expected: string;
  early: string;
  late: string;
  basis: ForecastBasis;
}

export interface Forecast {
  start: ExpectedTime | null;
  slots_at?: string | null; // of a job that holds nothing: when it is first given slots
  at_once: boolean; // at computed_at, because some are free for it
  starts_after: { job: string; how: "ends" | "gives_up_all" | "gives_up_some" } | null; // whose slots it is given at its start
  end: ExpectedTime | null;
  basis: ForecastBasis;
  not_before: string | null;
  budget?: { tenant: string; action: "shrink" | "pause" | "stop"; at: string } | null; // what a spent budget does to it while it holds slots
  outcome: string | null;
  cost: { low: string; expected: string; high: string };
  // Workers from when on, the first sixteen; taken_for: the first of the jobs that are to have the slots that it gives up.
  sizes: { at: string; size: number; taken_for?: string; taken_for_others?: number }[];
  unasked_policy: string | null; // the policy file that decides and was not asked
  computed_at: string;
}

// Of forecasts that have come about, how many lay in their interval.
export interface ForecastObserved {
  all: number;
  within: number;
}

export interface ForecastPage extends Page<{ job: string; name: string; forecast: Forecast }> {
  computed_at: string | null; // null: none was made yet
  policy: string | null;
  observed: { start: ForecastObserved; end: ForecastObserved } | null;
}

export interface Job {
  id: string;
  name: string;
  tenant: string;
  state: JobState;
  submitted_at: string;
  started_at: string | null;
  finished_at: string | null;
  size: number;
  target_size: number;
  pinned_size: number | null;
  min: number;
  max: number;
  generation: number;
  priority: number;
  progress: Progress;
  cost: Cost;
  reason: Reason | null;
  sizes: MeasuredSize[];
  error: string | null;
  saved_state: { step: number; at: string; node: string; node_name: string | null; bytes: number } | null; // what it goes on from if all is lost
  checkpoint_failure: { step: number; at: string; times: number; error: string } | null; // since that was saved
  labels: Record<string, string>;
  forecast?: Forecast | null;
  spec?: { resources?: { gpus_per_worker?: number }; run?: { resize?: string }; elastic?: { sizes?: number[] | null } }; // the job file, not in lists; only what is drawn is named here
  defaults_from?: Record<string, string>; // fields of it that a tenant has set where the file was silent
}

export interface Slot {
  index: number;
  job: string | null;
  worker: string | null;
  busy?: boolean; // held; job and worker are null where the job is another tenant's
  quarantine?: { since: string; why: string } | null; // its worker has ended and something of it is left there
}

export interface ClusterNode {
  id: string;
  name: string;
  state: string; // "up", "lost"
  cordoned: boolean;
  drain?: NodeDrain | null; // null: is not being drained
  faults?: NodeFaults | null; // null: none that counts
  slot_type: string;
  price_per_slot_hour: string;
  price_rule?: string | null; // of the price list, which sets it now
  labels?: Record<string, string>;
  slots: Slot[];
  health?: NodeHealth | null; // null: never measured
}

// It is to be empty by the deadline.
export interface NodeDrain {
  since: string;
  deadline: string;
  reason: string;
  cause?: string; // "operator", "reclaim": its provider takes the machine back at the deadline, "maintenance"
  maintenance?: { window: string; begins: string; ends: string; begun: boolean } | null;
  drained: boolean;
}

// What it has done wrong lately; until `unsteady_until` it gets no new workers.
export interface NodeFaults {
  losses: number;
  failed_starts: number;
  first_at: string;
  newest_at: string;
  unsteady_until: string | null;
}

// By the node's own probe; speed as a share of what may be expected of it.
export interface NodeHealth {
  at: string;
  speed: number;
  slow: boolean;
  devices: { device: string; matmul_gflops: number; copy_gbps: number }[];
}

export interface Worker {
  id: string;
  job: string;
  node: string;
  node_name: string;
  slots: number[];
  rank: number | null;
  phase: string;
  started_at: string | null;
  compute_ms: number | null;
  straggler_score: number | null;
  straggler: boolean;
  share: number; // of a full one
}

export interface MetricPoint {
  at: string;
  step: number;
  size: number;
  generation: number;
  samples_per_second: number;
  step_ms: number;
  loss: number | null;
  compute_ms: number[];
  global_batch: number | null;
  noise_scale: number | null;
}

export interface ThroughputFit {
  model: string;
  sigma: number;
  kappa: number;
  curve: { size: number; samples_per_second: number }[];
}

export interface JobMetrics {
  job: string;
  points: MetricPoint[];
  sizes: MeasuredSize[];
  fit: ThroughputFit | null;
  as_of_seq: number;
}

export interface Alternative {
  size: number;
  score: number | null;
  reason: Reason;
}

// A time in which the job waited for one thing.
export interface Wait {
  from: string;
  until: string | null; // null: it goes on
  reason: Reason;
}

export interface Explanation {
  job: string;
  state: JobState;
  summary: string;
  reason: Reason | null;
  evidence: string[];
  unblocks: string[];
  chosen: Alternative | null;
  alternatives: Alternative[];
  ahead: string[];
  waits?: Wait[]; // oldest first
  as_of_seq: number;
}

export interface Intent {
  kind: string;
  job: string | null;
  job_name?: string;
  workers?: string[];
  from?: number;
  to?: number;
  reason?: Reason;
  text?: string;
}

export interface Verdict {
  job: string;
  reason: Reason;
  chosen: Alternative | null;
  lost: Alternative[];
  unblocks: string[];
}

// What a plan for the whole cluster gives a job from a decision on.
export interface Target {
  job: string;
  size: number;
  score: number;
  reason: Reason;
  lost: Alternative[];
  unblocks: string[];
}

export interface Decision {
  id: string;
  at: string;
  policy: string;
  inputs_digest: string;
  steps_counted: number;
  intents: Intent[];
  verdicts: Verdict[];
  targets: Target[];
}

export interface Policy {
  name: string;
  kind: string;
  scope: string;
  active: boolean;
  default: boolean;  // the daemon's own: it decides unless a file does
  summary: string;
  source: string;
}

// The envelope of api/examples/events.md; `data` depends on `type`.
export interface TideEvent {
  seq: number;
  at: string;
  type: string;
  job: string | null;
  node: string | null;
  tenant: string | null;
  decision: string | null;
  actor?: { token: string; name: string | null } | null; // whose command it follows from
  data: Record<string, unknown>;
}

// Events that tell which policy decides from then on.
export const kPolicyNews = ["policy.activated", "policy.rolled_back"];

export type BudgetAction = "warn" | "shrink" | "pause" | "stop";

export interface Budget {
  limit: string;
  window: "day" | "week" | "month";
  thresholds: { percent: number; action: BudgetAction }[];
}

export interface BudgetNow {
  spent: string;
  rate_per_hour: string;
  expected: string;
  window_ends_at: string;
  limit_reached_at: string | null; // null: it has been reached, or is not in this window
  action: BudgetAction | null; // in force
  next: { percent: number; action: BudgetAction; at: string } | null; // that does more to jobs; null: not in this window
}

// Of its jobs and those of the tenants below it.
export interface TenantNow {
  entitled: number | null; // null where the policy that decides does not ask the tree, as the four that follow
  entitled_by_type: Record<string, number> | null; // of types of which jobs ask for more than there is
  wanted: number | null;
  satisfied: boolean | null;
  loan: number | null;
  held: number;
  jobs: number; // that have not ended
  jobs_waiting: number;
  jobs_running: number;
  slot_hours: number;
  cost: string;
  currency: string;
  budget: BudgetNow | null;
}

export interface Tenant {
  name: string;
  parent: string | null;
  path: string[];
  guarantee: number;
  guarantee_by_type: Record<string, number>;
  weight: number;
  borrow: number | null;
  lend: number | null;
  priority_max: number | null;
  job_slots_max: number | null;
  job_price_max: string | null;
  job_grace_max: string | null;
  job_hold_max: string | null;
  jobs_max: number | null;
  exclusive_nodes: boolean;
  notice_extension: string | null;
  notice_refusal: string | null;
  preempt_after: string; // "0s": not set
  budget: Budget | null;
  defaults: Record<string, unknown>; // a part of a job file
  now: TenantNow | null; // null: above the token's own tenant
}

export interface Churn {
  per_job: number | null;
  pool: number | null;
  window: string;
}

export interface TenantTree {
  half_life: string;
  rebalance_every: string;
  preempt_after: string; // "0s": at once
  churn: Churn | null; // null: preemptions are not limited
  tenants: Tenant[]; // each after its parent
  warnings: string[];
  as_of_seq: number;
}

export type UsageWindow = "week" | "month";

export interface UsageRow {
  by: Record<string, string>;
  jobs: number;
  slot_seconds: number;
  cost: string;
}

export interface Usage {
  from: string; // first day, in UTC
  to: string; // last day
  by: string[];
  rows: UsageRow[];
  pool: PoolUsage | null; // null: the token is of one tenant or no admin's
  currency: string;
  as_of_seq: number;
}

export interface PoolUsage {
  by: string[]; // day and type as asked for, and class: free, fragmentation or unavailable
  rows: Omit<UsageRow, "jobs">[];
}

// Each may do what those before it may.
export type Role = "viewer" | "submitter" | "admin";
// Whose token it is.
export interface Caller {
  role: Role;
  tenant?: string | null; // null: it is limited to none
}

export interface Page<T> {
  items: T[];
  next_cursor: string | null;
  as_of_seq: number;
}

export interface Problem {
  title: string;
  status: number;
  code: string;
  detail?: string;
  hint?: string;
  request_id?: string;
  errors?: { pointer: string; message: string; line?: number }[];
}
