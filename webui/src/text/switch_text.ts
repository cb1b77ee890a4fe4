// What a job's page says of changes of membership that it does not show.
import type { Job, TideEvent } from "../api/types";
import { num } from "../state/event_data";
import { notStartedText } from "./progress_text";

// Why there are none to show. The daemon keeps events for a time only.
export function noSwitchesText(job: Pick<Job, "state" | "started_at" | "generation">): string {
  if (job.generation > 1) return `It is at generation ${job.generation}; what led to it is not kept any more.`;
  return notStartedText(job) ?? "The job has kept its first membership.";
}

// There were others before the oldest of these. Generation 1 is the start, which is no change.
export function hasEarlier(oldestFirst: readonly TideEvent[]): boolean {
  const oldest = oldestFirst[0];
  return oldest !== undefined && (num(oldest, "generation") ?? 0) > 2;
}
