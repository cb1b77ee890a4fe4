import { kEmptyState } from "~/state/model";
import { reduce } from "~/state/reducer";
import { apply, decision, event, job, listed, metrics } from "./samples";

const progress = { step: 140, size: 2, generation: 2, samples_per_second: 9300.5, step_ms: 55, loss: 2.1, epoch: 1, cost: "0.0051", compute_ms: [41, 42] };
const why = { code: "EfficientUp", numbers: {}, text: "growing 2 -> 3: worth it" };

test("an event changes the job it names and nothing else", () => {
  const before = reduce(listed(), { type: "jobs", jobs: [job({ id: "job-2" })] });
  const after = apply(before, event(82, "job.progressed", progress));
  expect(after.jobs.get("job-1")?.progress).toMatchObject({ step: 140, loss: 2.1, samples_per_second: 9300.5, fraction: 0.35 });
  expect(after.jobs.get("job-1")?.cost.amount).toBe("0.0051");
  expect(after.jobs.get("job-2")).toBe(before.jobs.get("job-2"));
});

test("what no event, reason or forecast has changed is the same map, so that nothing is drawn anew", () => {
  const before = listed();
  const after = apply(before, event(82, "job.checkpoint_asked", {}), event(83, "budget.renewed", { tenant: "lab" }, { job: null }));
  expect([after.seq, after.jobs === before.jobs, after.nodes === before.nodes, after.sizeHistory === before.sizeHistory]).toEqual([83, true, true, true]);
  expect(reduce(before, { type: "reasons", jobs: [...before.jobs.values()] }).jobs).toBe(before.jobs);
  const told = [...before.jobs.values()].flatMap(({ id, name, forecast }) => (forecast ? [{ job: id, name, forecast }] : []));
  const page = { items: told, next_cursor: null, as_of_seq: 83, computed_at: "", policy: "tidal", observed: null };
  expect(reduce(before, { type: "forecasts", page }).jobs).toBe(before.jobs);
});

test("the state before is left as it was", () => {
  const before = listed();
  const copy = structuredClone({ jobs: [...before.jobs], nodes: [...before.nodes], seq: before.seq, sizes: [...before.sizeHistory], needs: [...before.needs.jobs], arrivals: before.arrivals });
  apply(before, event(82, "job.resizing", { from: 2, to: 3, reason: why }), event(83, "node.lost", { name: "local", why: "silent" }, { node: "node-1", job: null }));
  expect({ jobs: [...before.jobs], nodes: [...before.nodes], seq: before.seq, sizes: [...before.sizeHistory], needs: [...before.needs.jobs], arrivals: before.arrivals }).toEqual(copy);
});

test("an event that the lists hold, or that came twice, changes nothing", () => {
  const before = listed();
  const old = apply(before, event(81, "job.resized", { from: 2, to: 4 }));
  expect(old.jobs.get("job-1")?.size).toBe(2);
  const once = apply(before, event(82, "job.resized", { from: 2, to: 3 }));
  const twice = apply(once, event(82, "job.resized", { from: 2, to: 4 }));
  expect(twice.jobs.get("job-1")?.size).toBe(3);
  expect(twice.seq).toBe(82);
});

test("a resize goes from wish over decision to the new size", () => {
  const wished = apply(listed(), event(82, "job.resize_requested", { size: 3 }));
  expect(wished.jobs.get("job-1")?.pinned_size).toBe(3);
  const moving = apply(wished, event(83, "job.resizing", { from: 2, to: 3, reason: why }));
  expect(moving.jobs.get("job-1")).toMatchObject({ state: "resizing", size: 2, target_size: 3, reason: why });
  const moved = apply(moving, event(84, "generation.switched", { generation: 3, to_size: 3 }), event(85, "job.resized", { from: 2, to: 3 }));
  expect(moved.jobs.get("job-1")).toMatchObject({ state: "running", size: 3, target_size: 3, generation: 3 });
  expect(apply(moved, event(86, "job.resize_requested", { size: 0 })).jobs.get("job-1")?.pinned_size).toBeNull();
});

test("a node has the labels that its newest event tells", () => {
  const labels = { rack: "r1", disk: "ssd" };
  const after = apply(listed(), event(82, "node.labelled", { name: "local", labels }, { node: "node-1", job: null }));
  expect(after.nodes.get("node-1")?.labels).toEqual(labels);
  const without = apply(after, event(83, "node.labelled", { name: "local", labels: {} }, { node: "node-1", job: null }));
  expect(without.nodes.get("node-1")?.labels).toEqual({});
});

test("a removed node is on the list no more", () => {
  const after = apply(listed(), event(82, "node.removed", { name: "local" }, { node: "node-1", job: null }));
  expect(after.nodes.has("node-1")).toBe(false);
});

test("nodes are asked for again when prices change", () => {
  const quiet = apply(listed(), event(82, "budget.renewed", { tenant: "lab" }, { job: null }));
  expect(quiet.needs.nodes).toBe(false);
  const changed = event(82, "prices.changed", { at_unix: 1, prices: [{ rule: "h100", price: "1.90" }], nodes: 4 }, { job: null });
  expect(apply(listed(), changed).needs.nodes).toBe(true);
});

test("a checkpoint that could not be taken is told until one can", () => {
  const failed = apply(listed(), event(82, "job.checkpoint_failed", { step: 192, times: 2, error: "No space left on device" }));
  expect(failed.jobs.get("job-1")?.checkpoint_failure).toMatchObject({ step: 192, times: 2, error: "No space left on device" });
  const taken = apply(failed, event(83, "job.checkpointed", { step: 256 }));
  expect(taken.jobs.get("job-1")?.checkpoint_failure).toBeNull();
});

test("a finished job holds nothing and keeps its error", () => {
  const ended = apply(listed(), event(82, "job.finished", { state: "failed", steps: 12, cost: "0.1", error: "exit code 3" }));
  expect(ended.jobs.get("job-1")).toMatchObject({ state: "failed", size: 0, error: "exit code 3", cost: { amount: "0.1" } });
  expect(ended.jobs.get("job-1")?.finished_at).not.toBeNull();
});

test("a job that is in no list is asked for", () => {
  const after = apply(listed(), event(82, "job.submitted", { name: "new", min: 1, max: 4 }, { job: "job-9" }));
  expect([...after.needs.jobs]).toEqual(["job-9"]);
});

test("a job that made steps is read again later, since no event says that its reason moved", () => {
  const after = apply(listed(), event(82, "job.progressed", progress));
  expect([...after.needs.progressed]).toEqual(["job-1"]);
  expect(after.needs.jobs.size).toBe(0);
});

test("what moves slots asks for the nodes once more, a step does not", () => {
  expect(apply(listed(), event(82, "job.progressed", progress)).needs.nodes).toBe(false);
  expect(apply(listed(), event(82, "worker.started", { worker: "w-3", size: 3 }, { node: "node-1" })).needs.nodes).toBe(true);
  expect(apply(listed(), event(82, "job.finished", { state: "succeeded" })).needs.nodes).toBe(true);
});

test("the sparkline gets a point for each change of size and none between", () => {
  const after = apply(listed(),
    event(82, "job.started", { size: 1 }), event(83, "job.progressed", { ...progress, size: 1 }), event(84, "job.resized", { from: 1, to: 2 }), event(85, "job.finished", { state: "succeeded" }));
  expect(after.sizeHistory.get("job-1")?.map((point) => point.size)).toEqual([1, 2, 0]);
});

test("a decision shows at once from its event and is replaced by the stored one", () => {
  const said = apply(listed(), event(82, "decision.made", { policy: "fifo", intents: [{ kind: "grow", job: "job-1", text: "short" }] }, { decision: "dec-7", job: null }));
  expect(said.decisions[0]?.intents[0]?.text).toBe("short");
  const stored = reduce(said, { type: "decisions", decisions: [decision()] });
  expect(stored.decisions).toHaveLength(1);
  expect(stored.decisions[0]?.intents[0]?.text).toContain("the last worker added 62 %");
});

const waits = (text: string) => ({ code: "WaitingForSlots", numbers: {}, text });

test("what the list of jobs says of a job stands, whatever an older decision said", () => {
  const told = job({ state: "pending", size: 0, reason: waits("waits for 6 slots; 5 are free") });
  const verdict = { job: "job-1", reason: waits("waits for 6 slots; none is free"), chosen: null, lost: [], unblocks: [] };
  const old = { ...decision(), verdicts: [verdict] };
  const shown = reduce(kEmptyState, { type: "listed", seq: 81, jobs: [told], nodes: [], policies: [], decisions: [old], recent: [] });
  expect(shown.jobs.get("job-1")?.reason?.text).toBe("waits for 6 slots; 5 are free");
  const again = reduce(shown, { type: "decisions", decisions: [old] });
  expect(again.jobs.get("job-1")?.reason?.text).toBe("waits for 6 slots; 5 are free");
});

test("reasons that were read again reach jobs whose state has not moved, and ask for the open job's explanation", () => {
  const before = reduce(reduce(listed(), { type: "jobs", jobs: [job({ id: "job-2", state: "pending" })] }), { type: "open", job: "job-2" });
  const read = [job({ state: "pending", reason: waits("old") }), job({ id: "job-2", state: "pending", size: 7, reason: waits("new") }), job({ id: "job-3" })];
  const after = reduce(before, { type: "reasons", jobs: read });
  expect(after.jobs.get("job-1")).toBe(before.jobs.get("job-1"));
  expect(after.jobs.get("job-2")).toEqual({ ...before.jobs.get("job-2"), reason: waits("new") });
  expect(after.jobs.has("job-3")).toBe(false);
  expect([before.needs.explanation, after.needs.explanation]).toEqual([false, true]);
});

test("a cost that was read again reaches its job if it is the later one, and asks for nothing more", () => {
  const before = reduce(listed(), { type: "open", job: "job-1" });
  const [known] = [...before.jobs.values()];
  const read = (amount: string) => reduce(before, { type: "reasons", jobs: [{ ...known!, cost: { ...known!.cost, amount } }] });
  expect(read("9.50").jobs.get("job-1")?.cost.amount).toBe("9.50");
  expect(read("9.50").needs.explanation).toBe(false);
  expect(read("0.000001").jobs).toBe(before.jobs);
});

test("decisions that only weighed anew do not push out those that changed something", () => {
  const quiet = Array.from({ length: 80 }, (_, i) => ({ ...decision(), id: `dec-${100 + i}`, at: "2026-11-20T22:00:00.000Z", intents: [], verdicts: [] }));
  const stored = reduce(listed(), { type: "decisions", decisions: [...quiet, decision()] });
  expect(stored.decisions.map((line) => line.id)).toEqual(["dec-100", "dec-7"]);
});

test("the open job's points hold each report once", () => {
  const opened = reduce(reduce(listed(), { type: "open", job: "job-1" }), { type: "metrics", metrics: metrics() });
  const repeated = apply({ ...opened, seq: 80 }, event(81, "job.progressed", progress));
  expect(repeated.detail?.points).toHaveLength(2);
  const fresh = apply(repeated, event(82, "job.progressed", progress, { at: "2026-11-20T21:53:33.000Z" }));
  expect(fresh.detail?.points).toHaveLength(3);
  const late = reduce(fresh, { type: "metrics", metrics: metrics() });
  expect(late.detail?.points.map((point) => point.step)).toEqual([10, 60, 140]);
});

test("of the last minutes the reports that came as events stay beside those that are read thinned", () => {
  const at = (minute: number) => ({ at: new Date(Date.UTC(2026, 10, 20, 22, minute)).toISOString() });
  let state = reduce(listed(), { type: "open", job: "job-1" });
  for (let minute = 0; minute < 30; ++minute) state = apply(state, event(90 + minute, "job.progressed", { ...progress, step: minute }, at(minute)));
  const [first] = metrics().points;
  const thinned = [0, 10, 20, 29].map((minute) => ({ ...first!, ...at(minute), step: minute }));
  state = reduce(state, { type: "metrics", metrics: { ...metrics(), points: thinned } });
  expect(state.detail?.points.map((point) => point.step)).toEqual([0, 10, ...Array.from({ length: 15 }, (_, n) => 15 + n)]);
});

test("measurements are read again after a decision on the open job, not after one on another", () => {
  const opened = reduce(listed(), { type: "open", job: "job-1" });
  const decided = (job: string) => apply(opened, event(82, "decision.made", { policy: "tidal", intents: [{ kind: "grow", job, text: "" }] }, { job: null })).needs;
  expect(decided("job-2")).toMatchObject({ metrics: false, explanation: true });
  expect(decided("job-1")).toMatchObject({ metrics: true, explanation: true });
});

test("events of the open job are listed in order without its reports, others stay out", () => {
  let state = reduce(listed(), { type: "open", job: "job-1" });
  state = apply(state, event(82, "job.progressed", progress), event(83, "worker.lost", { worker: "w-1" }), event(84, "worker.lost", { worker: "w-8" }, { job: "job-2" }));
  state = reduce(state, { type: "history", job: "job-1", after: 0, events: [event(60, "job.started", { size: 1 }), event(83, "worker.lost", { worker: "w-1" })] });
  expect(state.detail?.events.map((entry) => entry.seq)).toEqual([60, 83]);
});

test("changes of membership stay in order, whatever was read and whatever the stream has brought", () => {
  const switched = (seq: number, generation: number) => event(seq, "generation.switched", { generation });
  let state = apply(reduce(listed(), { type: "open", job: "job-1" }), switched(82, 9));
  state = reduce(state, { type: "switches", job: "job-1", events: [switched(20, 7), switched(30, 8)] });
  state = apply(state, switched(83, 10));
  expect(state.detail?.switches.map((entry) => entry.data.generation)).toEqual([7, 8, 9, 10]);
  expect(reduce(state, { type: "switches", job: "job-2", events: [] })).toBe(state);
});

test("signing out forgets everything", () => {
  const writing = reduce(listed(), { type: "plan", action: { type: "wrote", text: '{"name": "x"}' } });
  expect(reduce(writing, { type: "signed_out" })).toEqual(kEmptyState);
});

test("a job file that someone writes outlives a token that is refused, and nothing else does", () => {
  const began = reduce(listed(), { type: "plan", action: { type: "begun", like: "job-1", name: "charlm-demo", text: "{}" } });
  const writing = reduce(began, { type: "plan", action: { type: "wrote", text: '{"name": "x"}' } });
  const refused = reduce(reduce(writing, { type: "plan", action: { type: "working", work: { kind: "submitting" } } }), { type: "link", link: { kind: "refused", message: "it has expired" } });
  const { text, begun, before } = writing.plan;
  expect(reduce(refused, { type: "signed_out" })).toEqual({ ...kEmptyState, plan: { ...kEmptyState.plan, text, begun, before } });
});
