// What cancelling a job does, before it is asked for.
import type { Job } from "../api/types";
import { holdsSlots } from "../state/model";

export function cancelText(job: Pick<Job, "state" | "size" | "started_at">): string {
  if (!holdsSlots(job.state)) {
    if (job.started_at === null) return "It holds no slots and has never started; cancelled, it never starts.";
    return "It holds no slots. What is kept of its state is deleted, and a cancelled job cannot be resumed.";
  }
  const workers = job.size === 1 ? "worker stops" : job.size === 0 ? "workers stop" : `${job.size} workers stop`;
  return `Its ${workers} after the step in flight and its slots go to other jobs. A cancelled job cannot be resumed; suspend it to keep its state.`;
}
