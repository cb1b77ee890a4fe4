// How one event changes one job. Fields an event does not carry stay as they are; the caller refetches
// the job when the event says that more has changed than it carries.
import type { Job, JobState, TideEvent } from "../api/types";
import { num, reason, str } from "./event_data";
import type { SizePoint } from "./model";

const kMostSizePoints = 96;

export function patchJob(job: Job, event: TideEvent): Job {
  switch (event.type) {
    case "job.started":
      return { ...job, state: "running", size: num(event, "size") ?? job.size, started_at: job.started_at ?? event.at };
    case "job.resize_requested": {
      const wish = num(event, "size") ?? 0;
      return { ...job, pinned_size: wish === 0 ? null : wish };
    }
    case "job.resizing":
      return {
        ...job, state: "resizing", target_size: num(event, "to") ?? job.target_size, reason: reason(event) ?? job.reason,
      };
    case "job.resized": {
      const size = num(event, "to") ?? job.size;
      return { ...job, state: "running", size, target_size: size };
    }
    case "generation.switched":
      return { ...job, size: num(event, "to_size") ?? job.size, generation: num(event, "generation") ?? job.generation };
    case "job.progressed":
      return progressed(job, event);
    case "job.checkpointed":
      return { ...job, checkpoint_failure: null };
    case "job.checkpoint_failed":
      return {
        ...job,
        checkpoint_failure: {
          step: num(event, "step") ?? 0, at: event.at, times: num(event, "times") ?? 1, error: str(event, "error") ?? "",
        },
      };
    case "job.suspended":
      return { ...job, state: "suspended", size: 0, target_size: 0 };
    case "job.requeued":
      return { ...job, reason: reason(event) ?? job.reason };
    case "job.resume_requested":
      return { ...job, state: "pending" };
    case "job.resumed":
      return { ...job, state: "running" };
    case "job.finished":
      return {
        ...job, state: (str(event, "state") as JobState | null) ?? "succeeded", size: 0, target_size: 0,
        finished_at: event.at, error: str(event, "error") || null, reason: reason(event) ?? job.reason,
        cost: { ...job.cost, amount: str(event, "cost") ?? job.cost.amount },
      };
    default:
      return job;
  }
}

function progressed(job: Job, event: TideEvent): Job {
  const step = num(event, "step") ?? job.progress.step;
  const total = job.progress.steps_total;
  const loss = num(event, "loss");
  return {
    ...job,
    size: num(event, "size") ?? job.size,
    generation: num(event, "generation") ?? job.generation,
    progress: {
      ...job.progress,
      step,
      fraction: total ? Math.min(1, step / total) : job.progress.fraction,
      epoch: num(event, "epoch") ?? job.progress.epoch,
      loss: loss ?? job.progress.loss,
      first_loss: job.progress.first_loss ?? loss,
      samples_per_second: num(event, "samples_per_second") ?? job.progress.samples_per_second,
      step_ms: num(event, "step_ms") ?? job.progress.step_ms,
      global_batch: num(event, "global_batch") ?? job.progress.global_batch,
      noise_scale: num(event, "noise_scale") ?? job.progress.noise_scale,
      statistical_efficiency: num(event, "statistical_efficiency") ?? job.progress.statistical_efficiency,
    },
    cost: { ...job.cost, amount: str(event, "cost") ?? job.cost.amount },
  };
}

// Events after which the job holds more than the event says.
const kRefetch = new Set([
  "job.submitted", "job.started", "job.resizing", "job.resized", "job.resize_requested", "job.suspended", "job.resumed",
  "job.changed", "job.checkpointed", "job.restored", "job.requeued", "job.resume_requested",
  "job.finished", "generation.switched", "worker.lost", "worker.straggling", "worker.replaced", "job.rebalanced",
]);

export function changesMoreThanItSays(event: TideEvent): boolean {
  return kRefetch.has(event.type);
}

// The size an event fixes, for the sparkline; null if it says nothing about it.
function sizeAfter(event: TideEvent): number | null {
  switch (event.type) {
    case "job.started":
    case "job.progressed":
      return num(event, "size");
    case "job.resized":
      return num(event, "to");
    case "generation.switched":
      return num(event, "to_size");
    case "job.suspended":
    case "job.finished":
      return 0;
    default:
      return null;
  }
}

export function withSize(history: readonly SizePoint[], event: TideEvent): readonly SizePoint[] {
  const size = sizeAfter(event);
  if (size === null || history[history.length - 1]?.size === size) return history;
  return [...history, { at: Date.parse(event.at), size }].slice(-kMostSizePoints);
}
