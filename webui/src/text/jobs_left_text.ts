// What is said where not all jobs have been read.
import type { JobsLeft } from "../state/model";
import type { Scope } from "../state/job_order";
import { count, sentence } from "./format";

// Whether jobs of that scope may be missing.
export function isPartial(left: JobsLeft | null, scope: Scope): boolean {
  return left !== null && (left.part === "live" || scope === "ended" || scope === "all");
}

export function jobsLeftText({ part, most, problem }: JobsLeft): string {
  const which = part === "live" ? "jobs" : "ended jobs";
  if (problem !== null) return `Not all ${which} could be read: ${sentence(problem)} The page tries again every 5 s.`;
  if (part === "live") return "More jobs are being read, the newest first.";
  const atMost = most === null ? "" : `, at most ${count(most)}`;
  if (part === "ended") return `Older ended jobs are being read, the newest first${atMost}.`;
  return `Only the newest ended jobs are listed here; older ones${atMost}, are listed by schedctl ls --state succeeded,failed,cancelled.`;
}
