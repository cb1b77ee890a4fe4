import { markersOf } from "~/charts/markers";
import { earlierSwitches } from "~/state/reduce_detail";
import { costAtMax, fitShown, hasSmallerSizes, secondsLeft, throughputAt } from "~/state/cost";
import { byText, countScopes, firstOf, inScope, matches, wordsOf } from "~/state/job_order";
import { closedBy, emptyKind, eventRate, sumPool } from "~/state/pool";
import { layOut, slotAt, slotOrigin } from "~/views/overview/mosaic_layout";
import { columnsOf, rangeAround } from "~/views/job/history_data";
import type { Job } from "~/api/types";
import { event, job, metrics, node } from "./samples";

test("slots are counted once: used, free, cordoned, quarantined or lost", () => {
  const lost = { ...node(), id: "node-2", state: "lost" };
  const cordoned = { ...node(), id: "node-3", cordoned: true };
  expect(sumPool([node(), lost, cordoned])).toEqual({ total: 8, used: 6, free: 1, cordoned: 1, quarantined: 0, lost: 4, nodesUp: 2, nodesLost: 1, largestFree: 1 });
});

test("an unsteady node has no free slots", () => {
  const faults = { losses: 3, failed_starts: 0, first_at: "", newest_at: "", unsteady_until: "2026-11-20T22:14:05.000Z" };
  expect(sumPool([{ ...node(), faults }])).toMatchObject({ free: 0, cordoned: 1, largestFree: 0 });
  expect(sumPool([{ ...node(), faults: { ...faults, unsteady_until: null } }])).toMatchObject({ free: 1, cordoned: 0 });
});

test("a slot that another tenant holds is in use, though its job is not named", () => {
  const slots = [{ index: 0, job: null, worker: null, busy: true }, { index: 1, job: null, worker: null, busy: false }];
  expect(sumPool([{ ...node(), slots }])).toMatchObject({ total: 2, used: 1, free: 1 });
});

test("quarantined slots are neither in use nor free", () => {
  const quarantine = { since: "2026-11-20T22:14:05.000Z", why: "memory of GPU-1 is still held" };
  const slots = [
    { index: 0, job: "job-1", worker: "w-1", busy: true, quarantine },
    { index: 1, job: "job-1", worker: "w-2", busy: true, quarantine: null },
    { index: 2, job: null, worker: null, busy: false, quarantine: null },
  ];
  expect(sumPool([{ ...node(), slots }])).toMatchObject({ total: 3, used: 1, free: 1, quarantined: 1 });
});

test("a slot without a job to name is another tenant's, lost, cordoned or free", () => {
  const slot = { index: 0, job: null, worker: null };
  const lost = { ...node(), state: "lost" };
  expect([emptyKind(node(), slot), emptyKind({ ...node(), cordoned: true }, slot), emptyKind(lost, slot), emptyKind(lost, { ...slot, busy: true })]).toEqual(["free", "cordoned", "lost", "other"]);
});

test("a free slot of a node that gets no workers says why", () => {
  const slot = { index: 0, job: null, worker: null };
  const drain = (drained: boolean) => ({ since: "2026-11-20T22:04:05.000Z", deadline: "2026-11-20T22:14:05.000Z", reason: "disk", drained });
  expect(closedBy(node())).toBeNull();
  expect(closedBy({ ...node(), drain: drain(false) })).toBe("draining");
  expect(closedBy({ ...node(), drain: drain(true) })).toBe("drained");
  expect(emptyKind({ ...node(), drain: drain(true) }, slot)).toBe("cordoned");
});

test("the event rate counts only the window", () => {
  expect(eventRate([0, 41_000, 50_000, 99_000], 100_000)).toBeCloseTo(3 / 60);
});

test("cost at the largest size needs a throughput there and says where it is from", () => {
  const { sizes } = metrics();
  const fit = { model: "usl", sigma: 0.2, kappa: 0.03, curve: [{ size: 4, samples_per_second: 10_240 }] };
  expect(throughputAt(3, sizes, null)).toBeNull();
  expect(throughputAt(2, sizes, fit)).toEqual({ value: 9120.5, source: "measured" });
  // 61,440 samples at 10,240 a second are 6 s of 4 workers, at 0.0042 for 15.1 slot seconds.
  const other = costAtMax(job(), sizes, fit);
  expect(other?.seconds).toBeCloseTo(6);
  expect(other?.amount).toBeCloseTo((6 * 4 * 0.0042) / 15.1, 9);
  expect(other?.source).toBe("fitted");
  expect(costAtMax(job(), sizes, null)).toBeNull();
});

test("a curve through one measured size tells no cost of another", () => {
  const [one] = metrics().sizes;
  const fit = { model: "usl", sigma: 0, kappa: 0, curve: [{ size: 4, samples_per_second: 20_000 }] };
  expect(costAtMax(job(), [{ ...one!, size: 1 }], fit)).toBeNull();
});

test("a curve is drawn once two sizes were measured", () => {
  const [one] = metrics().sizes;
  const fit = { model: "usl", sigma: 0, kappa: 0, curve: [{ size: 1, samples_per_second: 5_000 }] };
  expect(fitShown([one!], fit)).toBeNull();
  expect(fitShown([one!, { ...one!, size: 4 }], fit)).toBe(fit);
});

test("a job that had its largest size throughout is compared with nothing", () => {
  const [one] = metrics().sizes;
  const largest = [{ ...one!, size: 4 }];
  expect(hasSmallerSizes(job(), [])).toBe(true);
  expect(hasSmallerSizes(job(), [...largest, { ...one!, size: 2 }])).toBe(true);
  expect(hasSmallerSizes(job(), largest)).toBe(false);
  expect(hasSmallerSizes(job({ min: 4 }), [])).toBe(false);
  expect(costAtMax(job(), largest, null)).toBeNull();
});

test("time left follows from the steps still to do", () => {
  expect(secondsLeft(job())).toBeCloseTo((280 * 56.1) / 1000);
  expect(secondsLeft(job({ size: 0 }))).toBeNull();
});

test("the table filters by words and sorts to one order", () => {
  const jobs = [job({ id: "job-2", name: "b" }), job({ id: "job-10", name: "a", state: "succeeded" }), job({ id: "job-3", name: "b", state: "pending" })];
  expect(jobs.filter((entry) => inScope(entry, "active")).map((entry) => entry.id)).toEqual(["job-2", "job-3"]);
  expect(countScopes(jobs)).toEqual({ active: 2, waiting: 1, ended: 1, all: 3 });
  expect(jobs.filter((entry) => matches(entry, wordsOf("DEMO pending"))).map((entry) => entry.id)).toEqual(["job-3"]);
  expect(matches(job(), wordsOf("project=demo 62"))).toBe(true);
  const error = 'w-3 exited with code 1; last output: "KeyError: data"';
  expect(["failed", "running"].map((state) => matches(job({ state: state as Job["state"], error }), wordsOf("keyerror")))).toEqual([true, false]);
  const names = (list: Job[], most: number) => firstOf(list, { column: "name", descending: false }, most).map((entry) => entry.id);
  expect(names(jobs, 9)).toEqual(["job-10", "job-3", "job-2"]);
  expect(names([...jobs].reverse(), 9)).toEqual(["job-10", "job-3", "job-2"]);
  expect(names(jobs, 2)).toEqual(["job-10", "job-3"]);
});

test("the first rows of the table cost a comparison for each other job, and are those of the whole order", () => {
  const one = job();
  const jobs = Array.from({ length: 10_000 }, (_, n) => ({ ...one, id: `job-${n + 1}`, name: `run-${(n * 7919) % 10_007}` }));
  const { compare } = byText;
  let compared = 0;
  Object.defineProperty(byText, "compare", { configurable: true, value: (a: string, b: string) => { compared += 1; return compare(a, b); } });
  const first = firstOf(jobs, { column: "name", descending: true }, 40).map((entry) => entry.id);
  delete (byText as Partial<Intl.Collator>).compare;
  const whole = [...jobs].sort((a, b) => byText.compare(b.name, a.name)).slice(0, 40).map((entry) => entry.id);
  expect(first).toEqual(whole);
  expect(compared).toBeLessThan(14_000);
});

test("marks that would cover each other become one, with the gravest tone", () => {
  const at = (second: number) => ({ at: new Date(second * 1000).toISOString() });
  const marks = markersOf([
    event(1, "job.resizing", { from: 1, to: 2 }, at(10)), event(2, "worker.lost", { worker: "w-1" }, at(10.5)), event(3, "job.progressed", {}, at(20)), event(4, "job.resizing", { from: 2, to: 1 }, at(30)),
  ], 1);
  expect(marks.map((mark) => [mark.at, mark.tone, mark.texts.length])).toEqual([[10, "bad", 2], [30, "change", 1]]);
});

test("a job whose older events were not read has its changes of membership in their place", () => {
  const at = (second: number) => ({ at: new Date(second * 1000).toISOString() });
  const switched = (seq: number, second: number) => event(seq, "generation.switched", { generation: seq, from_size: 1, to_size: 2 }, at(second));
  const events = [event(40, "data.epoch_audited", {}, at(50)), event(41, "job.resizing", {}, at(60)), switched(42, 60.2)];
  const detail = { events, switches: [switched(1, 5), switched(7, 9), switched(42, 60.2)] };
  expect(earlierSwitches(detail).map(({ seq }) => seq)).toEqual([1, 7]);
  expect(markersOf(events, 1, earlierSwitches(detail)).map((mark) => mark.at)).toEqual([5, 9, 60]);
  expect(earlierSwitches({ ...detail, events: [switched(1, 5), ...events] })).toEqual([]);
});

test("chart columns only grow in time and keep to the window", () => {
  const [first, second] = metrics().points;
  if (!first || !second) throw new Error("the example has two points");
  expect(columnsOf([first, first, second], 0).step).toEqual([10, 60]);
  expect(columnsOf([first, second], 2).step).toEqual([60]);
});

test("the axis of a loss holds all its values, below zero too, and does not go below zero without need", () => {
  const [bottom, top] = rangeAround(-3, -1);
  expect(bottom).toBeLessThan(-3);
  expect(top).toBeGreaterThan(-1);
  expect(rangeAround(-1, 2)[0]).toBeLessThan(-1);
  expect(rangeAround(0.01, 4)[0]).toBe(0);
});

test("a thousand nodes fit, and every slot is found under its own point", () => {
  const nodes = Array.from({ length: 1000 }, () => ({ ...node(), slots: Array.from({ length: 8 }, (_, index) => ({ index, job: null, worker: null })) }));
  const layout = layOut(nodes.length, 8, 960, 380);
  expect(layout.height).toBeLessThanOrEqual(380);
  for (const [n, s] of [[0, 0], [0, 7], [41, 3], [999, 5]] as const) {
    const { x, y } = slotOrigin(layout, n, s);
    expect(slotAt(layout, nodes, x + layout.cell / 2, y + layout.cell / 2)).toEqual({ node: n, slot: s });
  }
  expect(slotAt(layout, nodes, 960 * 2, 10)).toBeNull();
  expect(slotAt(layout, nodes, 5, layout.height + 200)).toBeNull();
});
