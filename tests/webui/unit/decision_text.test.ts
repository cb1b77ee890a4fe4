import type { Decision } from "~/api/types";
import { lineOf } from "~/state/reducer";
import { feedLines, intentText, kindText, noDecisionsText, withNodeNames } from "~/text/decision_text";
import { decision } from "./samples";

const intent = (kind: string, code: string, text: string) => {
  const stored: Decision = { ...decision(), intents: [{ kind, job: "job-1", text, reason: { code, numbers: {}, text } }] };
  return lineOf(stored).intents[0]!;
};

test("who takes a job's slots is told apart", () => {
  expect(kindText(intent("preempt", "SuspendedByUser", ""))).toBe("suspend");
  expect(kindText(intent("preempt", "BudgetSpent", ""))).toBe("pause");
  expect(kindText(intent("preempt", "Preempted", ""))).toBe("preempt");
  expect(kindText(intent("preempt", "BelowMinimum", ""))).toBe("requeue");
  expect(kindText(intent("preempt", "DrainSuspend", ""))).toBe("drain");
  expect(kindText(intent("end_job", "Finished", ""))).toBe("end job");
  expect(kindText({ kind: "preempt", code: null })).toBe("preempt");
});

test("a sentence does not repeat the job that stands above it, by name or by id", () => {
  expect(intentText(intent("grow", "EfficientUp", "charlm-demo: growing 2 -> 3"), "charlm-demo")).toBe("growing 2 -> 3");
  expect(intentText(intent("end_job", "Finished", "job-1: finished after 400 steps"), "charlm-demo")).toBe("finished after 400 steps");
  expect(intentText({ text: "2 nodes asked for", job: null }, "")).toBe("2 nodes asked for");
});

test("a pool without a decision to tell says what is the case: no node, no job, jobs that keep their sizes or wait", () => {
  const text = (nodesUp: number, running: number, waiting: number) => noDecisionsText({ nodesUp }, { running, waiting });
  expect(text(0, 0, 3)).toBe("No node is up, so no job can get slots. Decisions appear here once a node has joined.");
  expect(text(2, 0, 0)).toBe("No job runs or waits for slots, so there is nothing to decide.");
  expect(text(2, 1, 3)).toBe("The job that runs keeps its size: the newest decisions have changed none.");
  expect(text(2, 1209, 0)).toBe("The 1,209 jobs that run keep their sizes: the newest decisions have changed none.");
  expect(text(2, 0, 1)).toBe("The job that waits has not been given slots; the list of jobs says why.");
  expect(text(2, 0, 3)).toBe("The 3 jobs that wait have not been given slots; the list of jobs says why.");
});

test("a decision has a line for each job and kind, the first of those alike with how many more there are", () => {
  const of = (kind: string, job: string | null, text: string) => ({ kind, job, text, code: null });
  const lines = feedLines([of("stop_worker", "job-1", "stopping w-1"), of("start", "job-2", "started"), of("stop_worker", "job-1", "stopping w-2"),
    of("stop_worker", "job-3", "stopping w-9"), of("stop_worker", "job-1", "stopping w-3"), of("probe_node", null, "measuring node-1"), of("probe_node", null, "measuring node-2")]);
  expect(lines.map(({ intent: { text }, alike }) => [text, alike])).toEqual([["stopping w-1", 2], ["started", 0], ["stopping w-9", 0], ["measuring node-1", 1]]);
});

test("nodes have the names that the page shows, a node's own decision is left as it is, and one that has gone keeps its id", () => {
  const nodes = new Map([["node-1", { name: "gpu-a" }], ["node-2", { name: "node-1" }], ["node-12", { name: "gpu-c" }]]);
  expect(withNodeNames("started with 3 workers (w-1 on node-1, w-2 on node-12, w-3 on node-7)", nodes)).toBe("started with 3 workers (w-1 on gpu-a, w-2 on gpu-c, w-3 on node-7)");
  expect(withNodeNames("moving w-27 to node-1: node-2 is being drained", nodes)).toBe("moving w-27 to gpu-a: node-1 is being drained");
  expect(withNodeNames("gpu-node-1, node-1.rack and node-1 are drained", nodes)).toBe("gpu-node-1, node-1.rack and gpu-a are drained");
  expect(withNodeNames("node-1: given back: nobody waits", nodes)).toBe("node-1: given back: nobody waits");
});
