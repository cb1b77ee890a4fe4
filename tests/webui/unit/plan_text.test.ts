import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plan, PlanChange, SubmitDecision } from "~/api/plan_types";
import type { Forecast } from "~/api/types";
import type { PlanProblem } from "~/state/plan_desk";
import { sizeSpans, spanWidths } from "~/state/size_spans";
import {
  adviceText, basisText, changeText, costFigure, delayText, endFigure, isSlight, neverStarts, planSentence, sizesText,
  startFigure, touchedText,
} from "~/text/plan_text";

process.env.TZ = "UTC";
const example = <T>(name: string): T => JSON.parse(readFileSync(fileURLToPath(new URL(`../../../api/examples/${name}.json`, import.meta.url)), "utf8")) as T;
const plan = (forecast: Partial<Forecast> = {}, more: Partial<Plan> = {}): Plan => {
  const told = example<Plan>("plan");
  return { ...told, forecast: { ...told.forecast, ...forecast }, ...more };
};
const starts = example<SubmitDecision>("submit_decision");
const waits: SubmitDecision = { ...starts, starts: false, size: 0, places: [], summary: "waits for 2 slots; none is free" };
const made = plan().forecast.computed_at; // 21:53:24
const never = plan({ start: null, slots_at: null, end: null, basis: "unknown", not_before: "2026-11-27T21:53:24.120Z", sizes: [{ at: made, size: 0 }], cost: { low: "0.00", expected: "0.00", high: "0.00" } });
const endless = plan({ end: null, basis: "unknown", not_before: "2026-11-20T22:10:00.000Z" });

test("start, end and cost are told with the interval of each, as of the moment of the plan", () => {
  expect(startFigure(plan(), waits)).toEqual({ value: "in ~17 min", note: "10–29 min in eight of ten cases" });
  expect(endFigure(plan())).toEqual({ value: "~23:40", note: "23:20–21 Nov 00:25 in eight of ten cases" });
  expect(costFigure(plan())).toEqual({ value: "$5.40", note: "$4.60–$8.10" });
  expect(basisText(plan())).toBe("The end is forecast from how long similar jobs took.");
  expect(startFigure(plan(), starts)).toEqual({ value: "at once", note: "with 3 workers: 2 on n1, 1 on n2" });
  expect(startFigure(plan(), null).value).toBe("in ~17 min");
  expect(endFigure(plan({ outcome: "failed" })).note).toMatch(/; ended at a limit of its file$/);
});

test("a job that never starts has neither end nor cost, and says how far was looked", () => {
  expect(neverStarts(never)).toBe(true);
  expect(neverStarts(endless)).toBe(false);
  expect(startFigure(never, waits)).toEqual({ value: "not in sight", note: "the plan looked ahead to 27 Nov 21:53" });
  expect(costFigure(never)).toEqual({ value: "$0.00", note: "while it waits" });
  expect(basisText(never)).toBeNull();
  expect(planSentence(never, waits)).toBe("It would not start as far as can be seen.");
});

test("a job whose slots are free starts at once, and what a budget does to it then is told", () => {
  const budget = { tenant: "lab", action: "pause" as const, at: "2026-11-20T21:58:24.120Z" };
  const paused = plan({ start: null, slots_at: made, at_once: true, end: null, not_before: "2026-11-27T21:53:24.120Z", budget });
  expect(neverStarts(paused)).toBe(false);
  expect(startFigure(paused, null)).toEqual({ value: "at once", note: "" });
  expect(basisText(paused)).toBe("The budget of tenant lab pauses it at about 21:58.");
  expect(planSentence(paused, null)).toBe("It would start at once; its end is unknown.");
  expect(startFigure(plan({ start: null, slots_at: "2026-11-20T22:40:00.000Z", end: null }), null).value).toBe("~22:40");
  const stopped = plan({ outcome: "cancelled", budget: { ...budget, action: "stop" } });
  expect(endFigure(stopped).note).toMatch(/; ended by its budget$/);
  expect(basisText(stopped)).toBe("The budget of tenant lab ends it at about 21:58.");
  expect(basisText(plan({ budget: { ...budget, action: "stop" } }))).toBe("The end is forecast from how long similar jobs took.");
});

test("without an end the cost is at least what is known, and what would tell it is said", () => {
  expect(endFigure(endless).value).toBe("unknown");
  expect(costFigure(endless)).toEqual({ value: "unknown", note: "at least $5.40" });
  expect(basisText(endless)).toBe("End and cost can be told of a job that declares its work (work.samples), once jobs like it have run.");
  expect(planSentence(endless, waits)).toBe("It would start in ~17 min (10–29); its end is unknown.");
  expect(planSentence(plan(), starts)).toBe("It would start at once and end ~23:40 (23:20–21 Nov 00:25), for $5.40.");
});

test("the jobs that it affects are counted by effect, and those of other tenants without names", () => {
  expect(touchedText(plan())).toBe("1 job would have fewer workers, 1 job would start or end later and 1 job of other tenants would be moved or delayed.");
  expect(touchedText(plan({}, { changes: [], others_changed: 0 }))).toBe("No other job would be affected.");
  expect(touchedText(plan({}, { changes: [], others_changed: 2 }))).toBe("2 jobs of other tenants would be moved or delayed.");
});

test("jobs that are delayed by less than a minute are counted and not listed", () => {
  const [shrunk, later] = plan().changes as [PlanChange, PlanChange];
  const slight: PlanChange[] = [{ ...later, starts_later_s: 3, ends_later_s: 40 }, { ...later, effect: "sooner", starts_later_s: null, ends_later_s: -59 }];
  const lost: PlanChange = { ...later, starts_later_s: null, ends_later_s: null };
  expect([...slight, later, lost, { ...shrunk, ends_later_s: 3 }].map(isSlight)).toEqual([true, true, false, false, false]);
  expect(touchedText(plan({}, { changes: [later, ...slight], others_changed: 0 }))).toBe("1 job would start or end later and 2 jobs would start or end less than a minute later or sooner.");
});

test("a job that a budget ends, pauses or shrinks is told with the tenant whose budget it is, and is no gain", () => {
  const [shrunk] = plan().changes as [PlanChange, PlanChange];
  const now = Date.parse(made);
  const by = (action: "shrink" | "pause" | "stop") => ({ tenant: "lab", action, at: made });
  const ended: PlanChange = { ...shrunk, effect: "ended", to: 0, shrunk_for: null, budget: by("stop"), ends_later_s: -30 };
  expect(changeText(ended, now)).toBe("is ended by the budget of tenant lab at about 22:10");
  expect(isSlight(ended)).toBe(false);
  expect(touchedText(plan({}, { changes: [ended], others_changed: 0 }))).toBe("1 job would be ended by a budget.");
  expect(changeText({ ...shrunk, effect: "preempted", from: 1, to: 0, budget: by("pause") }, now)).toBe("releases its 1 worker at about 22:10, as the budget of tenant lab pauses it, with its state saved, and waits again");
  expect(changeText({ ...shrunk, shrunk_for: null, budget: by("shrink") }, now)).toBe("has 2 in place of 4 workers from about 22:10, as the budget of tenant lab takes it down to its smallest size");
});

test("each touched job is told in a sentence", () => {
  const [shrunk, later] = plan().changes as [PlanChange, PlanChange];
  const now = Date.parse(made);
  expect(changeText(shrunk, now)).toBe("has 2 in place of 4 workers from about 22:10, as slots of it go to the planned job");
  expect(changeText({ ...shrunk, shrunk_for: "job-4", shrunk_for_others: 2 }, now)).toBe("has 2 in place of 4 workers from about 22:10, as slots of it go to job-4 and 2 more jobs");
  expect(changeText({ ...shrunk, shrunk_for: null }, now)).toBe("has 2 in place of 4 workers from about 22:10");
  expect(changeText({ ...shrunk, effect: "preempted", preempted_for: "job-4", to: 0, from: 1 }, now)).toBe("releases its 1 worker for job-4 at about 22:10, with its state saved, and waits again");
  expect(changeText({ ...shrunk, effect: "preempted", to: 0, from: 1 }, now)).toBe("releases its 1 worker at about 22:10, with its state saved, and waits again");
  expect(changeText(later, now)).toBe("waits longer for its start");
  expect(changeText({ ...later, starts_later_s: null }, now)).toBe("runs on, and ends later");
  expect(changeText({ ...later, starts_later_s: null, ends_later_s: null }, now)).toBe("no longer has a time that can be told");
  expect([1260.5, -420, 0.4, null].map(delayText)).toEqual(["21 min later", "7 min 0 s sooner", null, null]);
});

const minutes = (...spans: [number, number][]) => spans.map(([at, size]) => ({ at: new Date(Date.parse(made) + at * 60_000).toISOString(), size }));

test("sizes are spans up to its end, and an end that is only assumed is not drawn", () => {
  const { end } = plan().forecast;
  const spans = sizeSpans({ sizes: minutes([0, 0], [10, 2], [31, 4], [100, 0]), end });
  expect(spans.map(({ size, from, to }) => [size, ((to ?? 0) - from) / 60_000])).toEqual([[0, 10], [2, 21], [4, 69]]);
  expect(sizesText(spans)).toBe("waits 10 min, then 2 workers for 21 min, then 4 workers for 69 min");
  const open = sizeSpans({ sizes: minutes([0, 2], [10, 0]), end: null });
  expect(open).toMatchObject([{ size: 2, to: null }]);
  expect(sizesText(open)).toBe("2 workers");
  expect(sizesText(sizeSpans({ sizes: minutes([0, 1], [5, 0], [10, 1], [20, 0]), end }))).toBe("1 worker for 5 min 0 s, then holds nothing 5 min 0 s, then 1 worker for 10 min");
  expect(sizeSpans({ sizes: minutes([0, 0]), end: null })).toMatchObject([{ size: 0, to: null }]);
  expect(sizeSpans({ sizes: [], end: null })).toEqual([]);
});

test("what lasts a moment can be seen beside what lasts for days, and the widths are the whole", () => {
  const widths = spanWidths(sizeSpans({ sizes: minutes([0, 1], [0.01, 2], [5000, 0]), end: plan().forecast.end }));
  expect(widths[0]).toBeGreaterThan(0.009);
  expect(widths.reduce((sum, width) => sum + width, 0)).toBeCloseTo(1);
  expect(spanWidths(sizeSpans({ sizes: minutes([0, 0], [30, 2]), end: null }))[1]).toBeCloseTo(0.5);
});

const problem = (of: PlanProblem["of"], status: number, code: string): PlanProblem => ({ of, status, code, message: "m", fields: [], hint: null });

test("what the reader can do is added where the daemon's words do not say it", () => {
  expect(adviceText(problem("plan", 403, "Forbidden"))).toBe("This token may look but not submit; sign in with one that may.");
  expect(adviceText(problem("plan", 403, "ForeignTenant"))).toBeNull();
  expect(adviceText(problem("plan", 0, "Unreachable"))).toMatch(/The text stays here/);
  expect(adviceText(problem("submit", 0, "Unreachable"))).toMatch(/it makes no second job/);
  expect(adviceText(problem("plan", 422, "InvalidJob"))).toBeNull();
  expect(adviceText(problem("plan", 400, "BadYaml"))).toBeNull();
});
