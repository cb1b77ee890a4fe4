import type { Decision } from "~/api/types";
import { lineOf } from "~/state/reducer";
import { intentText, kindText } from "~/text/decision_text";
import { decision } from "./samples";

const intent = (kind: string, code: string, text: string) => {
  const stored: Decision = { ...decision(), intents: [{ kind, job: "job-1", text, reason: { code, numbers: {}, text } }] };
  return lineOf(stored).intents[0]!;
};

test("who takes a job's slots is told apart", () => {
  expect(kindText(intent("preempt", "SuspendedByUser", ""))).toBe("suspend");
  expect(kindText(intent("preempt", "BudgetSpent", ""))).toBe("pause");
  expect(kindText(intent("preempt", "Preempted", ""))).toBe("preempt");
  expect(kindText(intent("end_job", "Finished", ""))).toBe("end job");
  expect(kindText({ kind: "preempt", code: null })).toBe("preempt");
});

test("a sentence does not repeat the job that stands above it, by name or by id", () => {
  expect(intentText(intent("grow", "EfficientUp", "charlm-demo: growing 2 -> 3"), "charlm-demo")).toBe("growing 2 -> 3");
  expect(intentText(intent("end_job", "Finished", "job-1: finished after 400 steps"), "charlm-demo")).toBe("finished after 400 steps");
  expect(intentText({ text: "2 nodes asked for", job: null }, "")).toBe("2 nodes asked for");
});
