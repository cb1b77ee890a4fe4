// How one event changes the open job's page: points and events are appended, ranks get their newest time.
import type { MetricPoint, TideEvent } from "../api/types";
import { num, numbers, str } from "./event_data";
import type { Detail } from "./model";

// Above this the oldest half is thinned by two, so that a page left open for a week stays small.
const kMostPoints = 4_000;
const kMostEvents = 2_000;

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
