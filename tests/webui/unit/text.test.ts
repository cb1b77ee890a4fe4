import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { jobHref, kPlanHref, pageKey, parseRoute, planLikeHref, tenantHref, titleOf } from "~/page/router";
import { splitFragment } from "~/session";
import type { JobState } from "~/api/types";
import { cancelText } from "~/text/cancel_text";
import { briefly, describe as sentence, toneOf } from "~/text/event_text";
import {
  ago, allowedText, boundsText, clockBeside, clockWithin, compact, duration, leavingText, money,
  percent, plural, quantity, rate, sentence as asSentence, share, sizesBetween, sizeText, sizeToPin,
  unbroken,
} from "~/text/format";
import { hasEarlier, noSwitchesText } from "~/text/switch_text";
import { waitText } from "~/text/wait_text";
import { bytes } from "~/views/job/generations";
import { event, job } from "./samples";

describe("in another zone than UTC", () => {
  const zone = process.env.TZ;
  beforeAll(() => { process.env.TZ = "Asia/Tokyo"; });
  afterAll(() => { if (zone === undefined) delete process.env.TZ; else process.env.TZ = zone; });

  test("a wait is a line with its beginning and its end, in the reader's time", () => {
    const reason = { code: "WaitingForSlots", numbers: {}, text: "waits for 2 slots" };
    const from = "2026-11-20T21:50:02.000Z";
    expect(waitText({ from, until: "2026-11-20T21:53:20.100Z", reason })).toBe("21 Nov 06:50:02 to 06:53:20: waits for 2 slots");
    expect(waitText({ from, until: "2026-11-21T16:00:00.000Z", reason })).toBe("21 Nov 06:50:02 to 22 Nov 01:00:00: waits for 2 slots");
    expect(waitText({ from, until: null, reason })).toBe("since 21 Nov 06:50:02: waits for 2 slots");
  });

  test("a time says its day where that is not the day beside it", () => {
    const noon = Date.parse("2026-11-20T03:00:00Z");
    expect(clockBeside("2026-11-20T14:53:20.100Z", noon)).toBe("23:53:20");
    expect(clockBeside("2026-11-20T15:00:00.000Z", noon)).toBe("21 Nov 00:00:00");
    expect(clockBeside("soon", noon)).toBe("–");
  });
});

test("a job of one size has exactly that", () => {
  expect(boundsText(1, 1)).toBe("exactly 1 worker");
  expect(boundsText(4, 4)).toBe("exactly 4 workers");
  expect(boundsText(1, 4)).toBe("1 to 4 workers");
});

test("cancelling says what it does to a job of that state", () => {
  const text = (state: JobState, size: number, started_at: string | null = "2026-11-20T21:50:02.000Z") => cancelText({ state, size, started_at });
  expect(text("running", 3)).toMatch(/^Its 3 workers stop after the step in flight and its slots go to other jobs/);
  expect(text("running", 1)).toMatch(/^Its worker stops .* suspend it to keep its state\.$/);
  expect(text("starting", 0)).toMatch(/^Its workers stop /);
  expect(text("pending", 0, null)).toBe("It holds no slots and has never started; cancelled, it never starts.");
  expect(text("suspended", 0)).toBe("It holds no slots. What is kept of its state is deleted, and a cancelled job cannot be resumed.");
  expect(text("pending", 0)).toBe(text("suspended", 0));
});

test("no line of a sentence ends between a number and its percent sign", () => {
  expect(unbroken("w-2 is given 86 % of a share, not 62 %; the rest % stays")).toBe("w-2 is given 86\u00a0% of a share, not 62\u00a0%; the rest % stays");
});

test("numbers keep three significant digits, large ones get separators", () => {
  expect([0, 0.0000779, -0.0001123, 0.00123, 0.0412, 1.234, 41.66, 9120.5].map(quantity)).toEqual(["0", "7.79e-5", "-1.12e-4", "0.00123", "0.041", "1.23", "41.7", "9,121"]);
  expect([5, 1234, 5_600_000].map(compact)).toEqual(["5", "1.23k", "5.6M"]);
  expect([null, Number.NaN, undefined].map(quantity)).toEqual(["–", "–", "–"]);
  expect([0.624, 25.4, 0.0512].map((part) => percent(part))).toEqual(["62\u00a0%", "2,540\u00a0%", "5\u00a0%"]);
  expect([0, 1, 2].map((n) => plural(n, "job"))).toEqual(["jobs", "job", "jobs"]);
  expect(share(0.0512)).toBe("5.1\u00a0%");
  expect([0, 0.0003, 0.0005, 0.9949, 0.996, 1].map(share)).toEqual(["0\u00a0%", "<0.1\u00a0%", "0.1\u00a0%", "99\u00a0%", ">99\u00a0%", "100\u00a0%"]);
  expect(rate(9120.5)).toBe("9,121/s");
  expect([0, 999, 1_843_200].map(bytes)).toEqual(["0 B", "999 B", "1.8 MB"]);
});

test("a message becomes a sentence, so that another one can follow it", () => {
  expect(asSentence("this token's role is viewer")).toBe("This token's role is viewer.");
  expect(asSentence("The daemon says no.")).toBe("The daemon says no.");
});

test("small amounts of money show what they are", () => {
  expect(["0", "0.0042", "0.12", "12.5", "22656.3"].map((amount) => money(amount))).toEqual(["$0.00", "$0.00420", "$0.120", "$12.50", "$22,656"]);
  expect(money("3", "SEK")).toBe("3.00 SEK");
});

test("times are read as people say them", () => {
  expect([3.21, 45, 150, 4000, 90_000, 400_000].map(duration)).toEqual(["3.2 s", "45 s", "2 min 30 s", "67 min", "25 h 0 min", "5 days"]);
  expect([9.96, 89.7, 119.7, 599.7, 5399].map(duration)).toEqual(["10 s", "1 min 30 s", "2 min 0 s", "10 min", "1 h 30 min"]);
  const at = Date.parse("2026-11-20T12:00:00Z");
  expect([-5, 1, 12, 90, 7300].map((s) => ago("2026-11-20T12:00:00Z", at + s * 1000))).toEqual(["now", "now", "12 s ago", "1 min ago", "2 h ago"]);
});

test("sizes that a job may not have between its bounds are left out of what it may have", () => {
  const of = (min: number, max: number, sizes?: number[]) => ({ min, max, spec: { elastic: { sizes } } });
  expect(sizesBetween(of(1, 4, [1, 2, 4]))).toEqual([1, 2, 4]);
  expect(allowedText(of(1, 4, [1, 2, 4]))).toBe("1, 2 or 4 workers");
  expect(allowedText(of(8, 80, [8, 16, 24, 32, 40, 48, 56, 64, 72, 80]))).toBe("8, 16, 24, … or 80 workers");
  for (const all of [of(1, 4, [1, 2, 3, 4]), of(1, 4), of(1, 4, []), of(1, 4, [1, 2, 8])]) {
    expect(sizesBetween(all)).toBeNull();
    expect(allowedText(all)).toBe("1 to 4 workers");
  }
  expect(allowedText(of(4, 4, [4]))).toBe("exactly 4 workers");
  const pin = (size: number, pinned_size: number | null = null) => sizeToPin({ ...of(2, 8, [2, 4, 8]), size, pinned_size });
  expect([pin(0), pin(4), pin(5), pin(4, 8)]).toEqual([2, 4, 8, 8]); // a job that waits has no workers
  expect(sizeToPin({ min: 1, max: 4, size: 6, pinned_size: null })).toBe(4);
});

test("the size shows where it is going and what is allowed", () => {
  expect(sizeText(job())).toBe("2 → 3 (1–4)");
  expect(sizeText(job({ state: "running" }))).toBe("2 (1–4)");
  expect(sizeText(job({ state: "running", min: 4 }))).toBe("2 (4)");
});

test("a job that releases its workers says why or how it goes on in one sentence", () => {
  const said = (size: number, text: string) => sentence(event(1, "job.requeued", { size, reason: { code: "x", numbers: {}, text } }));
  expect(said(4, "preempted for job-2")).toBe("releases its 4 workers: preempted for job-2");
  expect(said(1, "waits: tenant lab has spent its budget of 8.00")).toBe("releases its 1 worker: tenant lab has spent its budget of 8.00");
  expect(said(2, "waits for 2 slots; none is free")).toBe("releases its 2 workers and waits for 2 slots; none is free");
  expect(said(2, "saving its state and releasing its slots: node-2 is being drained")).toBe("saves its state and releases its 2 workers: node-2 is being drained");
  expect(sentence(event(1, "job.submitted", { name: "x", min: 1, max: 1 }))).toBe("x submitted: 1 worker");
});

test("each event type of the contract has a sentence", () => {
  const contract = readFileSync(fileURLToPath(new URL("../../../api/examples/events.md", import.meta.url)), "utf8");
  const types = [...contract.matchAll(/^\| (.*?) \| /gm)].flatMap((row) => [...(row[1] ?? "").matchAll(/`([a-z_.]+)`/g)].map((found) => found[1] ?? ""));
  expect(types.length).toBeGreaterThan(15);
  for (const type of types) expect(sentence(event(1, type, {})), type).not.toBe(type);
});

test("a size that a user asks for is told in the words of schedctl", () => {
  const asked = (size: number) => sentence(event(1, "job.resize_requested", { size }));
  expect([asked(3), asked(1), asked(0)]).toEqual(["a user asks for 3 workers", "a user asks for 1 worker", "a user leaves the size to the engine"]);
});

test("a job that ended without a step has no loss, and one that was cancelled is neither good nor bad", () => {
  const ended = (data: object) => event(1, "job.finished", { state: "cancelled", ...data });
  expect(sentence(ended({ steps: 0, loss: 0 }))).toBe("cancelled");
  expect(sentence(ended({ steps: 1, loss: 2.5 }))).toBe("cancelled after 1 step, loss 2.50");
  expect(["cancelled", "failed", "succeeded"].map((state) => toneOf(ended({ state })))).toEqual(["plain", "bad", "good"]);
});

test("an epoch whose samples were not all used once is told as a failed audit, as schedctl tells it", () => {
  const audit = (data: object) => event(1, "data.epoch_audited", { epoch: 2, used: 8, expected: 8, checksum_ok: true, ...data });
  expect(sentence(audit({}))).toBe("epoch 2 audited: 8 of 8 samples used, each exactly once");
  expect(sentence(audit({ epochs: 2 }))).toBe("epoch 2 audited: 8 of 8 samples used, each exactly once, as in the 1 epoch before it");
  for (const wrong of [{ used: 7 }, { checksum_ok: false }, { used: null }]) {
    expect([toneOf(audit(wrong)), sentence(audit(wrong))]).toEqual(["bad", expect.stringMatching(/^epoch 2 audit FAILED: /)]);
  }
});

test("what is done with a node of a pool is said once, though its reason says it too", () => {
  const say = (type: string, text: string) =>
    sentence(event(1, type, { name: "gpu-3", pool: "gpu", seconds: 30, reason: { code: "NodeIdle", numbers: {}, text } }));
  expect(say("pool.node_released", "given back: it has held nothing for 5 min")).toBe("node gpu-3 of pool gpu given back: it has held nothing for 5 min");
  expect(say("pool.node_released", "")).toBe("node gpu-3 of pool gpu given back");
  expect(say("pool.node_emptying", "emptied: the pool has 3 nodes and may have 2")).toBe("node gpu-3 of pool gpu is being emptied within 30 s: the pool has 3 nodes and may have 2");
});

test("events of a job are told in the words of schedctl", () => {
  const say = (type: string, data: object) => sentence(event(1, type, { ...data }));
  expect(say("job.started", { size: 1 })).toBe("training with 1 worker");
  expect(say("job.resized", { from: 2, to: 3 })).toBe("has 3 workers, had 2");
  expect(say("job.parked", { step: 1200, write_ms: 2 })).toMatch(/^state of step 1,200 saved in 2/);
  expect(say("job.suspended", { step: 1200, kept_step: 1200 })).toBe("suspended; its state of step 1,200 is saved");
  expect(say("job.suspended", { step: 1200, kept_step: 90 })).toBe("suspended after step 1,200; its newest saved state is of step 90");
  expect(say("job.suspended", { step: 1200, kept_step: null })).toBe("suspended after step 1,200; Tidepool has saved no state of it");
  expect(say("job.suspended", { step: 0, kept_step: null })).toBe("suspended");
  expect(say("job.restored", { step: 1200, steps_lost: 0 })).toBe("continues from step 1,200");
  expect(say("job.restored", { step: 0, steps_lost: 24100 })).toBe("starts again from step 0, 24,100 steps lost: it has no saved state that it can use");
  expect(say("job.restored", { step: 1200, steps_lost: 1 })).toBe("continues from step 1,200, 1 step lost");
  expect(say("generation.switched", { generation: 4, from_size: 3, to_size: 2, stall_ms: 47.5, steps_redone: 0 })).toBe("generation 4: now 2 workers (was 3), training paused for 47.5 ms");
  expect(say("generation.switched", { generation: 5, from_size: 2, to_size: 2, stall_ms: 0, steps_redone: 1, kind: "restart" })).toBe("restarted: generation 5: still 2 workers, 1 step redone");
  expect(say("generation.switched", { generation: 1, from_size: 1, to_size: 1, unused: { step: 90, why: "damaged", text: "the state of step 90 was not used" } })).toBe("generation 1: still 1 worker; the state of step 90 was not used");
  for (const [action, words] of [["replace", "; replacing costs 12.0"], ["shrink", "; shrinking costs 12.0"]]) {
    expect(say("worker.straggling", { worker: "w-2", score: 0.49, threshold: 0.92, next_action: action, action_cost_s: 12 })).toContain(words);
  }
  expect(say("worker.straggling", { worker: "w-2", score: 0.49, threshold: 0.92 })).toBe("worker w-2 is slow: 49\u00a0% of the others' speed, below 92\u00a0%");
});

test("what happens to a worker is told with its node, where the event has one", () => {
  const lost = event(1, "worker.lost", { worker: "w-2", exit_code: -1, signal: 9, detail: "" });
  expect(sentence({ ...lost, node: "node-3" })).toBe("worker w-2 on node-3 lost (signal 9)");
  expect(sentence({ ...lost, node: null })).toBe("worker w-2 lost (signal 9)");
  expect(sentence({ ...event(2, "worker.started", { worker: "w-2" }), node: "node-3" })).toBe("worker w-2 on node-3 is placed");
});

test("what comes again and again does not push the rest out of a short list", () => {
  const audit = (seq: number, right: boolean) => event(seq, "data.epoch_audited", { epoch: seq, used: 8, expected: 8, checksum_ok: right });
  const written = (seq: number) => event(seq, "job.checkpointed", { step: seq });
  const newestFirst = [audit(9, true), written(8), audit(7, true), audit(6, false), written(5), event(4, "worker.lost", {}), event(3, "job.resized", {}), audit(2, true)];
  expect(briefly(newestFirst, 5).map((entry) => entry.seq)).toEqual([9, 8, 6, 4, 3]);
  expect(briefly(newestFirst, 3).map((entry) => entry.seq)).toEqual([9, 8, 6]);
});

test("only a job of one generation is said to have kept its first membership", () => {
  expect(noSwitchesText({ state: "running", started_at: "2026-11-20T21:53:20Z", generation: 1 })).toBe("The job has kept its first membership.");
  expect(noSwitchesText({ state: "pending", started_at: null, generation: 0 })).toBe("The job has not started.");
  expect(noSwitchesText({ state: "running", started_at: "2026-11-20T21:53:20Z", generation: 7 })).toMatch(/^It is at generation 7;/);
  const from = (generation: number) => hasEarlier([event(9, "generation.switched", { generation })]);
  expect([hasEarlier([]), from(1), from(2), from(8)]).toEqual([false, false, false, true]);
});

test("a moment of a chart names its day where the chart is longer than a day", () => {
  const at = new Date(2026, 10, 20, 21, 53, 20).getTime();
  expect(clockWithin(at, 86_400_000)).toBe("21:53:20");
  expect(clockWithin(at, 86_400_001)).toBe("20 Nov 21:53");
});

test("a tab is named after its page", () => {
  const titles = ["#/", jobHref("job-12"), "#/tenants", tenantHref("vision"), kPlanHref, "#/nodes"].map((hash) => titleOf(parseRoute(hash)));
  expect(titles).toEqual(["Tidepool", "job-12 · Tidepool", "Tenants · Tidepool", "vision · Tidepool", "Plan · Tidepool", "No such page · Tidepool"]);
  expect(titleOf(parseRoute(jobHref("job-12")), "charlm-demo")).toBe("charlm-demo · job-12 · Tidepool");
});

test("addresses name pages, and a job's id may hold anything", () => {
  expect(["", "#", "#/"].map((hash) => parseRoute(hash).page)).toEqual(["overview", "overview", "overview"]);
  expect(parseRoute(jobHref("job-1"))).toMatchObject({ page: "job", id: "job-1" });
  expect(parseRoute(jobHref("a/b c?d"))).toMatchObject({ page: "job", id: "a/b c?d" });
  expect(parseRoute("#/jobs/%E0%A4%A")).toMatchObject({ page: "unknown" });
  expect(parseRoute("#/tenants/")).toMatchObject({ page: "tenants", chosen: null });
  expect(parseRoute(tenantHref("vision"))).toMatchObject({ page: "tenants", chosen: "vision" });
  expect(pageKey(parseRoute("#/tenants/a"))).toBe(pageKey(parseRoute("#/tenants")));
  expect(pageKey(parseRoute("#/jobs/job-1"))).not.toBe(pageKey(parseRoute("#/jobs/job-2")));
  expect(parseRoute(kPlanHref)).toEqual({ page: "plan", like: null });
  expect(parseRoute(planLikeHref("job-1"))).toEqual({ page: "plan", like: "job-1" });
  expect(pageKey(parseRoute("#/plan/job-1"))).toBe(pageKey(parseRoute("#/plan")));
  expect(parseRoute("#/nodes")).toEqual({ page: "unknown", path: "/nodes" });
});

test("a token leaves the address, the page stays", () => {
  expect(splitFragment("#token=a%2Bb")).toEqual({ token: "a+b", rest: "#/" });
  expect(splitFragment("#/jobs/job-1&token=x")).toEqual({ token: "x", rest: "#/jobs/job-1" });
  expect(splitFragment("#/?show=ended&q=a&token=x")).toEqual({ token: "x", rest: "#/?show=ended&q=a" });
  expect(splitFragment("#/jobs/job-1")).toEqual({ token: null, rest: "#/jobs/job-1" });
});

test("a size that lost is told with how the job would leave it", () => {
  expect(leavingText("growing 0 -> 4: it gains in utility", 0)).toBe("it would grow to 4: it gains in utility");
  expect(leavingText("shrinking 4 -> 3: the larger size does not pay", 4)).toBe("it would shrink to 3: the larger size does not pay");
  expect(leavingText("growing 2 -> 3: it gains in utility", 3)).toBe("growing 2 -> 3: it gains in utility");
});
