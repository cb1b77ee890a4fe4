import { failedCheckpointText, failureText, isSilent, lossText, noCurvesText, notStartedText, paceText, progressText, shareDone, stepText, throughputText, withoutFailure } from "~/text/progress_text";
import { job } from "./samples";

const nothing = { ...job().progress, step: 0, steps_total: null, fraction: null, samples_per_second: 0, step_ms: 0, loss: null };
const silent = job({ state: "running", progress: nothing, spec: { run: { resize: "restart" } } });

test("what a program does not report is a dash, not a zero", () => {
  expect([progressText(nothing), throughputText(silent), stepText(silent), paceText(silent)]).toEqual(["–", "–", "no step reported", "samples/s"]);
  const some = job({ state: "running" });
  expect([progressText(some.progress), stepText(some)]).toEqual(["30\u00a0%", "step 120 of 400"]);
  expect(progressText({ fraction: null, step: 1200 })).toBe("step 1,200");
  const waiting = { ...silent, started_at: null };
  expect([stepText(waiting), stepText({ ...waiting, progress: { ...nothing, steps_total: 400 } })]).toEqual(["not started", "step 0 of 400"]);
  const none = { fraction: 0, step: 0 }; // the work is declared, and nothing is known of how much is done
  expect([progressText(none), shareDone(none)]).toEqual(["–", null]);
  expect([progressText({ fraction: 0.25, step: 0 }), shareDone({ fraction: 0.25, step: 0 })]).toEqual(["25\u00a0%", 0.25]);
  expect(paceText(some)).toBe("samples/s, 56.1 ms a step");
  expect(paceText({ ...some, state: "suspended" })).toBe("samples/s");
  expect(throughputText(job({ state: "suspended" }))).toBe("–");
});

test("a program that is restarted and reports no steps is silent, one that reports some is not", () => {
  expect(isSilent(silent)).toBe(true);
  expect(isSilent({ ...silent, progress: { ...nothing, step: 5 } })).toBe(false);
  expect(isSilent({ ...silent, spec: { run: { resize: "elastic" } } })).toBe(false);
});

test("where there are no curves the reason fits the job's state", () => {
  expect(noCurvesText(job({ state: "running", spec: {} }))).toBe("The curves begin with the job's second report.");
  expect(noCurvesText(silent)).toBe("Its program reports no steps, so there are no curves.");
  expect(noCurvesText(job({ state: "failed", spec: {} }))).toBe("The job ended before a second report, so there are no curves.");
  expect(noCurvesText(job({ state: "pending", started_at: null }))).toBe("The job has not started.");
  expect(noCurvesText(job({ state: "cancelled", started_at: null }))).toBe("The job ended before its first step.");
  expect(notStartedText(job())).toBeNull();
});

test("checkpoints that cannot be taken are told with what is saved", () => {
  const failure = { step: 1920, at: "2026-11-20T21:55:00.000Z", times: 3, error: "No space left on device" };
  expect(failedCheckpointText(job())).toBe("");
  expect(failedCheckpointText(job({ checkpoint_failure: failure }))).toBe(
    "No checkpoint of step 1,920 (3 in a row): No space left on device. The newest saved state is of step 100.",
  );
  expect(failedCheckpointText({ checkpoint_failure: { ...failure, times: 1 }, saved_state: null })).toBe(
    "No checkpoint of step 1,920: No space left on device. No state of it is saved.",
  );
});

test("a worker that was lost is no failure of a job that has gone on without it", () => {
  const error = "w-3 was ended by signal 9";
  expect(failureText(job({ state: "failed", error }))).toBe(error);
  for (const state of ["pending", "running", "resizing", "suspended", "succeeded", "cancelled"] as const) {
    expect(failureText(job({ state, error }))).toBeNull();
  }
});

test("what a job has failed of is told once on its page", () => {
  const failure = 'w-2 exited with code 1; last output: "KeyError: data"';
  expect(withoutFailure(`failed after 3 losses: ${failure}`, failure)).toBe("failed after 3 losses");
  expect(withoutFailure(`lost workers 3 times so far; newest: ${failure}`, failure)).toBe("lost workers 3 times so far");
  expect(withoutFailure('worker w-1 lost (exit code 1): last output: "KeyError: data"', failure)).toBe("worker w-1 lost (exit code 1)");
  expect(withoutFailure(`failed: its own settings are wrong: ${failure}; its output, if there is any: schedctl logs job-2`, failure)).toBe("failed: its own settings are wrong");
  const other = 'worker w-0 lost (exit code 1): last output: "out of memory"';
  expect(withoutFailure(other, failure)).toBe(other);
  expect(withoutFailure(`failed: ${failure}`, null)).toBe(`failed: ${failure}`);
});

test("a loss is told beside the first one, with the minus of all other numbers", () => {
  expect(lossText({ loss: 1.94, first_loss: 4.52 })).toBe("-57\u00a0% since 4.52");
  expect(lossText({ loss: 5, first_loss: 4 })).toBe("+25\u00a0% since 4.00");
  expect([lossText({ loss: null, first_loss: 4 }), lossText({ loss: 1, first_loss: 0 })]).toEqual(["", ""]);
});
