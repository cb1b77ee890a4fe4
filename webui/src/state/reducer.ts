// (state, action) -> state, pure: no clock, no fetch. Events that the lists already hold change nothing.
import { type ClusterNode, type Decision, type ForecastPage, type Job, kPolicyNews, type Policy, type Role, type TideEvent } from "../api/types";
import { intents, texts } from "./event_data";
import { kept } from "./kept";
import {
  type DecisionLine, emptyDetail, isTold, isUnknown, type JobsLeft, kEmptyState, kNoNeeds, type Link, type Needs, type SizePoint,
  type State,
} from "./model";
import { keptText, type PlanAction, reducePlan } from "./plan_desk";
import { type DetailAction, patchDetail, reduceDetail } from "./reduce_detail";
import { withForecasts } from "./reduce_forecasts";
import { changesMoreThanItSays, patchJob, withSize } from "./reduce_job";
import { reduceTenants, type TenantAction } from "./reduce_tenants";

export type Action =
  | { type: "link"; link: Link }
  | { type: "role"; role: Role | null; tenant: string | null }
  | { type: "listed"; seq: number; jobs: Job[]; nodes: ClusterNode[]; policies: Policy[]; decisions: Decision[]; recent: TideEvent[] }
  | { type: "more_jobs"; jobs: Job[]; left: JobsLeft | null }
  | { type: "events"; events: TideEvent[] }
  | { type: "jobs"; jobs: Job[] }
  | { type: "reasons"; jobs: Job[] }
  | { type: "nodes"; nodes: ClusterNode[] }
  | { type: "policies"; policies: Policy[] }
  | { type: "policy_news"; event: TideEvent | null }
  | { type: "decisions"; decisions: Decision[] }
  | { type: "open"; job: string | null }
  | DetailAction
  | { type: "forecasts"; page: ForecastPage }
  | { type: "tenants"; action: TenantAction }
  | { type: "plan"; action: PlanAction }
  | { type: "needs"; needs: Partial<Needs> }
  | { type: "signed_out" };

const kMostDecisions = 60;
const kMostArrivals = 512;

export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case "link":
      return { ...state, link: action.link };
    case "role":
      return { ...state, role: action.role, ownTenant: action.tenant };
    case "listed":
      return listed(state, action);
    case "more_jobs":
      return { ...withUnknownJobs(state, action.jobs), jobsLeft: action.left };
    case "events":
      return withEvents(state, action.events);
    case "jobs":
      return withJobs(state, action.jobs);
    case "reasons":
      return withReasons(state, action.jobs);
    case "nodes":
      return { ...state, nodes: byId(action.nodes) };
    case "policies":
      return { ...state, policies: action.policies };
    case "policy_news":
      return { ...state, policyNews: action.event };
    case "decisions":
      return withDecisions(state, action.decisions);
    case "open":
      return { ...state, detail: action.job === null ? null : emptyDetail(action.job) };
    case "forecasts":
      return withForecasts(state, action.page);
    case "tenants":
      return { ...state, tenants: reduceTenants(state.tenants, action.action) };
    case "plan":
      return { ...state, plan: reducePlan(state.plan, action.action) };
    case "needs":
      return { ...state, needs: { ...state.needs, ...action.needs } };
    case "signed_out":
      return { ...kEmptyState, plan: state.link.kind === "refused" ? keptText(state.plan) : kEmptyState.plan };
    default:
      return reduceDetail(state, action);
  }
}

function withEvents(state: State, events: readonly TideEvent[]): State {
  const next = events.reduce(applyEvent, copyOf(state));
  const { jobs, nodes, sizeHistory } = state;
  return {
    ...next, jobs: kept(jobs, next.jobs), nodes: kept(nodes, next.nodes), sizeHistory: kept(sizeHistory, next.sizeHistory),
  };
}

// Maps are copied once for a whole batch of events.
function copyOf(state: State): State {
  return {
    ...state, jobs: new Map(state.jobs), sizeHistory: new Map(state.sizeHistory), arrivals: [...state.arrivals],
    nodes: new Map(state.nodes), needs: { ...state.needs, jobs: new Set(state.needs.jobs), progressed: new Set(state.needs.progressed) },
  };
}

// `draft` was made by copyOf(), so its maps may be written to; everything inside them may not.
function applyEvent(draft: State, event: TideEvent): State {
  if (event.seq <= draft.seq) return draft;
  const next = { ...draft, seq: event.seq, lastEventAt: event.at };
  const arrivals = next.arrivals as number[];
  arrivals.push(Date.parse(event.at));
  if (arrivals.length > kMostArrivals) arrivals.splice(0, arrivals.length - kMostArrivals);
  applyToJob(next, event);
  applyToNodes(next, event);
  if (kMovesPolicies.has(event.type)) next.needs = { ...next.needs, policies: true };
  if (kPolicyNews.includes(event.type)) next.policyNews = event;
  if (event.type === "decision.made") applyDecision(next, event);
  if (next.detail) applyToDetail(next, event);
  return next;
}

function applyToJob(draft: State, event: TideEvent): void {
  if (event.job === null) return;
  const job = draft.jobs.get(event.job);
  if (job) (draft.jobs as Map<string, Job>).set(job.id, patchJob(job, event));
  if (event.type === "job.progressed") (draft.needs.progressed as Set<string>).add(event.job);
  if (!job || changesMoreThanItSays(event)) (draft.needs.jobs as Set<string>).add(event.job);
  const sizes = withSize(draft.sizeHistory.get(event.job) ?? [], event);
  if (sizes.length > 0) (draft.sizeHistory as Map<string, readonly SizePoint[]>).set(event.job, sizes);
}

const kMovesPolicies = new Set(["policy.activated", "policy.rolled_back"]);
const kMovesSlots = /^(slots\.\w+|worker\.(started|lost|replaced)|job\.(started|resized|suspended|finished)|generation\.switched)$/;
const kMovesNodes = /^(node\.(joined|probed|draining|drained|undrained|unsteady|steady|reclaim_\w+)|(maintenance|prices)\.\w+)$/;

export function movesSlots(event: TideEvent): boolean { return kMovesSlots.test(event.type); }

function applyToNodes(draft: State, event: TideEvent): void {
  const node = event.node === null ? undefined : draft.nodes.get(event.node);
  const nodes = draft.nodes as Map<string, ClusterNode>;
  if (node && event.type === "node.lost") nodes.set(node.id, { ...node, state: "lost" });
  if (node && event.type === "node.removed") nodes.delete(node.id);
  if (node && event.type === "node.cordoned") nodes.set(node.id, { ...node, cordoned: event.data.cordoned === true });
  if (node && event.type === "node.labelled") nodes.set(node.id, { ...node, labels: texts(event, "labels") });
  const moves = movesSlots(event) || kMovesNodes.test(event.type);
  if (moves || (event.node !== null && !node)) draft.needs = { ...draft.needs, nodes: true };
}

function applyDecision(draft: State, event: TideEvent): void {
  const id = event.decision ?? `event-${event.seq}`;
  const line: DecisionLine = { id, at: event.at, policy: String(event.data.policy ?? ""), intents: intents(event) };
  draft.decisions = worthKeeping([line, ...draft.decisions.filter((known) => known.id !== id)]);
  const jobs = draft.needs.jobs as Set<string>;
  for (const intent of line.intents) if (intent.job !== null) jobs.add(intent.job);
  draft.needs = { ...draft.needs, decisions: true };
}

function applyToDetail(draft: State, event: TideEvent): void {
  const detail = draft.detail;
  if (!detail) return;
  draft.detail = patchDetail(detail, event);
  const mine = event.job === detail.job;
  if (isUnknown(draft)) {
    if (mine) draft.needs = { ...draft.needs, page: true };
    return;
  }
  const decided = event.type === "decision.made";
  if (!mine && !decided) return;
  const moved = decided && intents(event).some((intent) => intent.job === detail.job);
  const progressed = event.type === "job.progressed";
  draft.needs = {
    ...draft.needs,
    explanation: draft.needs.explanation || !progressed,
    workers: draft.needs.workers || (mine && !progressed),
    metrics: draft.needs.metrics || moved || event.type === "generation.switched" || event.type === "job.finished",
  };
}

function listed(state: State, action: Extract<Action, { type: "listed" }>): State {
  const sizeHistory = new Map<string, readonly SizePoint[]>();
  for (const event of action.recent) {
    if (event.job !== null) sizeHistory.set(event.job, withSize(sizeHistory.get(event.job) ?? [], event));
  }
  const base: State = {
    ...state, seq: action.seq, jobs: byId(action.jobs), jobsLeft: null, nodes: byId(action.nodes),
    policies: action.policies, decisions: [], sizeHistory, needs: kNoNeeds,
    arrivals: action.recent.map((event) => Date.parse(event.at)).slice(-kMostArrivals),
    lastEventAt: action.recent[action.recent.length - 1]?.at ?? state.lastEventAt,
  };
  return withDecisions(base, action.decisions);
}

// Most decisions of a policy for the whole cluster only weigh anew; they must not push out those that changed something.
function worthKeeping(lines: readonly DecisionLine[]): readonly DecisionLine[] {
  return lines.filter((line, index) => index === 0 || line.intents.some(isTold)).slice(0, kMostDecisions);
}

// Stored decisions replace lines from events. What they said of a job may be old by now; what it is told to be stands.
function withDecisions(state: State, decisions: readonly Decision[]): State {
  const stored = decisions.map(lineOf);
  const known = new Set(stored.map((line) => line.id));
  const lines = worthKeeping([...stored, ...state.decisions.filter((line) => !known.has(line.id))]
    .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0)));
  return { ...state, decisions: lines };
}

// A list leaves out the files of jobs; one that was read before stands.
function withJobs(state: State, read: readonly Job[]): State {
  const jobs = new Map(state.jobs);
  for (const job of read) {
    const spec = job.spec ?? jobs.get(job.id)?.spec;
    jobs.set(job.id, spec === undefined ? job : { ...job, spec });
  }
  return { ...state, jobs };
}

// What is known of a job stands: an event may have brought it after they were read.
function withUnknownJobs(state: State, read: readonly Job[]): State {
  return { ...state, jobs: kept(state.jobs, new Map([...byId(read), ...state.jobs])) };
}

// Of jobs whose state has not moved since they were read, the reasons alone: all else comes with events.
function withReasons(state: State, read: readonly Job[]): State {
  const jobs = new Map(state.jobs);
  let { needs } = state;
  for (const { id, state: seen, reason, cost } of read) {
    const job = jobs.get(id);
    if (!job || job.state !== seen) continue;
    const isNews = job.reason?.text !== reason?.text;
    const isDearer = Number(cost.amount) > Number(job.cost.amount); // an event may have told a later one
    if (isNews || isDearer) jobs.set(id, { ...job, reason, cost: isDearer ? cost : job.cost });
    if (isNews && state.detail?.job === id) needs = { ...needs, explanation: true };
  }
  return { ...state, jobs: kept(state.jobs, jobs), needs };
}

export function lineOf(decision: Decision): DecisionLine {
  return {
    id: decision.id, at: decision.at, policy: decision.policy,
    intents: decision.intents.map(({ kind, job, text, reason }) => ({ kind, job, text: text ?? reason?.text ?? "", code: reason?.code ?? null })),
  };
}

function byId<T extends { id: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.id, item]));
}
