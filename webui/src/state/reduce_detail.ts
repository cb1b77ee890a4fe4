// How the open job's page changes: by one event, which appends points and events and gives ranks their newest time, and
// by what was read of the job.
import type { Explanation, JobMetrics, MetricPoint, TideEvent, Worker } from "../api/types";
import { num, numbers, str } from "./event_data";
import type { Detail, Refusal, State } from "./model";
import { withSize } from "./reduce_job";

export type DetailAction =
  | { type: "missing"; job: string; problem: Refusal | null } // null: it is there after all
  | { type: "loaded"; job: string }
  | { type: "history"; job: string; after: number; events: TideEvent[] }
  | { type: "switches"; job: string; events: TideEvent[] }
  | { type: "metrics"; metrics: JobMetrics }
  | { type: "workers"; job: string; workers: Worker[] }
  | { type: "explanation"; explanation: Explanation };

// Above this the oldest half is thinned by two, so that a page left open for a week stays small.
const kMostPoints = 4_000;
const kMostEvents = 2_000;
const kDenseMs = 15 * 60_000; // the longest of the times that the charts show alone

// What was read of another job than the open one is dropped.
export function reduceDetail(state: State, action: DetailAction): State {
  const { detail } = state;
  if (!detail || detail.job !== jobOf(action)) return state;
  switch (action.type) {
    case "missing":
      return { ...state, detail: { ...detail, missing: action.problem } };
    case "loaded":
      return { ...state, detail: { ...detail, loaded: true, missing: null } };
    case "history": {
      const events = withLater(action.events.filter((event) => event.type !== "job.progressed"), detail.events);
      const sizeHistory = new Map(state.sizeHistory).set(detail.job, action.events.reduce(withSize, []));
      return { ...state, sizeHistory, detail: { ...detail, events, eventsAfter: action.after } };
    }
    case "switches":
      return { ...state, detail: { ...detail, switches: withLater(action.events, detail.switches) } };
    case "metrics":
      return { ...state, detail: withMetrics(detail, action.metrics) };
    case "workers":
      return { ...state, detail: { ...detail, workers: action.workers } };
    case "explanation":
      return { ...state, detail: { ...detail, explanation: action.explanation } };
  }
}

// Of a job whose older events were not read: its changes of membership from before those that were, oldest first.
export function earlierSwitches({ events, switches }: Pick<Detail, "events" | "switches">): readonly TideEvent[] {
  const first = events[0]?.seq ?? Infinity;
  return switches.filter((event) => event.seq < first);
}

function jobOf(action: DetailAction): string {
  if (action.type === "metrics") return action.metrics.job;
  return action.type === "explanation" ? action.explanation.job : action.job;
}

// Events that the stream has brought since.
function withLater(read: readonly TideEvent[], known: readonly TideEvent[]): readonly TideEvent[] {
  const newest = read[read.length - 1]?.seq ?? 0;
  return [...read, ...known.filter((event) => event.seq > newest)];
}

// What is read of a long job is thinned; of the last minutes the reports that events have brought stay beside it.
function withMetrics(detail: Detail, { points, sizes, fit, as_of_seq }: JobMetrics): Detail {
  const newest = points[points.length - 1];
  const from = newest === undefined ? -Infinity : Date.parse(newest.at) - kDenseMs;
  const dense = detail.points.filter((point) => Date.parse(point.at) > from);
  const all = [...new Map([...dense, ...points].map((point) => [point.at, point])).values()];
  all.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  return { ...detail, points: all, pointsSeq: Math.max(as_of_seq, detail.pointsSeq), sizes, fit };
}

export function patchDetail(detail: Detail, event: TideEvent): Detail {
  if (event.job !== detail.job) return detail;
  const next = { ...detail, events: appendEvent(detail.events, event) };
  if (event.type === "job.progressed" && event.seq > detail.pointsSeq) {
    const point = pointOf(event);
    next.points = thinned([...detail.points, point]);
    next.workers = detail.workers.map((worker) => {
      const time = worker.rank === null ? undefined : point.compute_ms[worker.rank];
      return time === undefined ? worker : { ...worker, compute_ms: time };
    });
  }
  if (event.type === "generation.switched") next.switches = appendEvent(detail.switches, event);
  if (event.type === "worker.straggling") {
    const id = str(event, "worker");
    next.workers = detail.workers.map((worker) =>
      worker.id === id ? { ...worker, straggler: true, straggler_score: num(event, "score") } : worker);
  }
  if (event.type === "job.rebalanced" && Array.isArray(event.data.shares)) {
    const shares = new Map((event.data.shares as { worker: string; share: number }[]).map((each) => [each.worker, each.share]));
    next.workers = detail.workers.map((worker) => ({ ...worker, share: shares.get(worker.id) ?? 1 }));
  }
  return next;
}

function appendEvent(events: readonly TideEvent[], event: TideEvent): readonly TideEvent[] {
  const last = events[events.length - 1];
  if (event.type === "job.progressed" || (last && event.seq <= last.seq)) return events;
  return [...events, event].slice(-kMostEvents);
}

function pointOf(event: TideEvent): MetricPoint {
  return {
    at: event.at, step: num(event, "step") ?? 0, size: num(event, "size") ?? 0, generation: num(event, "generation") ?? 0,
    samples_per_second: num(event, "samples_per_second") ?? 0, step_ms: num(event, "step_ms") ?? 0,
    loss: num(event, "loss"), compute_ms: numbers(event, "compute_ms"),
    global_batch: num(event, "global_batch"), noise_scale: num(event, "noise_scale"),
  };
}

function thinned(points: readonly MetricPoint[]): readonly MetricPoint[] {
  if (points.length <= kMostPoints) return points;
  const half = Math.floor(points.length / 2);
  return points.filter((_, index) => index >= half || index % 2 === 0);
}
