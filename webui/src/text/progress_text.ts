// What a job's page says of steps and reports, and of those that are not there.
import type { Job } from "../api/types";
import { holdsSlots, isOver } from "../state/model";
import { count, percent, quantity, sentence, share } from "./format";

// Null: the job has started.
export function notStartedText({ state, started_at }: Pick<Job, "state" | "started_at">): string | null {
  if (started_at !== null) return null;
  return isOver(state) ? "The job ended before its first step." : "The job has not started.";
}

// What a job has failed of. Of one that has gone on since, the last words of a lost worker are evidence, not its state.
export function failureText({ state, error }: Pick<Job, "state" | "error">): string | null {
  return state === "failed" ? error : null;
}

const kOutput = /; its output, if there is any: schedctl logs \S+$/;

// What the failure, which stands at the top of the page, says already is left out from the end of another sentence.
export function withoutFailure(sentences: string, failure: string | null): string {
  if (failure === null) return sentences;
  const text = sentences.replace(kOutput, ""); // stands under the failure
  const parts = text.split(": ");
  const told = parts.findIndex((_, index) => index > 0 && failure.includes(parts.slice(index).join(": ")));
  return told < 0 ? text : parts.slice(0, told).join(": ").replace(/; newest$/, "");
}

// Programs that are restarted at each change train without Tidepool's library; what they do not report is not known.
export function isSilent(job: Pick<Job, "spec" | "progress">): boolean {
  return job.spec?.run?.resize === "restart" && job.progress.step === 0;
}

// Why there are no curves over time.
export function noCurvesText(job: Pick<Job, "state" | "started_at" | "spec" | "progress">): string {
  const notStarted = notStartedText(job);
  if (notStarted !== null) return notStarted;
  if (isSilent(job)) return "Its program reports no steps, so there are no curves.";
  return isOver(job.state) ? "The job ended before a second report, so there are no curves." : "The curves begin with the job's second report.";
}

// What a job would lose, while its checkpoints cannot be taken. Empty: they can.
export function failedCheckpointText({ checkpoint_failure: failure, saved_state: saved }: Pick<Job, "checkpoint_failure" | "saved_state">): string {
  if (failure == null) return "";
  const often = failure.times > 1 ? ` (${count(failure.times)} in a row)` : "";
  const left = saved == null ? "No state of it is saved." : `The newest saved state is of step ${count(saved.step)}.`;
  return `No checkpoint of step ${count(failure.step)}${often}: ${sentence(failure.error)} ${left}`;
}

// How much of its work is done; null: that is not known, or nothing has been reported.
export function shareDone({ fraction, step }: Pick<Job["progress"], "fraction" | "step">): number | null {
  return step === 0 && fraction === 0 ? null : fraction;
}

export function progressText(progress: Pick<Job["progress"], "fraction" | "step">): string {
  const done = shareDone(progress);
  if (done !== null) return share(done);
  return progress.step > 0 ? `step ${count(progress.step)}` : "–";
}

// "step 120 of 400"; where none has been reported and none are expected, that.
export function stepText({ progress: { step, steps_total }, started_at }: Pick<Job, "progress" | "started_at">): string {
  if (step === 0 && steps_total === null) return started_at === null ? "not started" : "no step reported";
  return `step ${count(step)}${steps_total === null ? "" : ` of ${count(steps_total)}`}`;
}

export function throughputText({ state, progress }: Pick<Job, "state" | "progress">): string {
  return holdsSlots(state) && progress.samples_per_second > 0 ? quantity(progress.samples_per_second) : "–";
}

export function paceText({ state, progress: { step_ms } }: Pick<Job, "state" | "progress">): string {
  return holdsSlots(state) && step_ms > 0 ? `samples/s, ${quantity(step_ms)} ms a step` : "samples/s";
}

// "-57 % since 4.52"; empty: there is nothing to compare.
export function lossText({ loss, first_loss }: Pick<Job["progress"], "loss" | "first_loss">): string {
  if (loss === null || first_loss === null || !(first_loss > 0)) return "";
  const change = loss / first_loss - 1;
  return `${change > 0 ? "+" : ""}${percent(change)} since ${quantity(first_loss)}`;
}
