import type { ExpectedTime, Forecast } from "~/api/types";
import { withForecasts } from "~/state/reduce_forecasts";
import { budgetText, forecastLine, forecastTitle, momentWithin, noEndText, noForecastText, observedText, startsAfterText, takenText, unaskedText, whenExpected } from "~/text/forecast_text";
import { job, listed } from "./samples";

process.env.TZ = "UTC";
const now = Date.parse("2026-11-20T12:00:00Z");
const at = (seconds: number) => new Date(now + seconds * 1000).toISOString();
const expected = (early: number, middle: number, late: number): ExpectedTime => ({ early: at(early), expected: at(middle), late: at(late), basis: "declared" });
const forecast = (more: Partial<Forecast> = {}): Forecast => ({
  start: null, at_once: false, starts_after: null, end: null, basis: "declared", not_before: null, outcome: "succeeded", sizes: [],
  cost: { low: "1", expected: "2", high: "3" }, unasked_policy: null, computed_at: at(-5), ...more,
});
const line = (state: "pending" | "running" | "succeeded", more: Partial<Forecast> | null) =>
  forecastLine({ state, forecast: more && forecast(more) }, now);

test("what is near is told as a time to go, what is far by the clock", () => {
  expect(whenExpected(expected(20, 41, 59), now)).toBe("in ~41 s (20–59)");
  expect(whenExpected(expected(57, 94, 131), now)).toBe("in ~90 s (50–140)");
  expect(whenExpected(expected(8 * 60, 12 * 60, 24.2 * 60), now)).toBe("in ~12 min (8–25)");
  expect(whenExpected(expected(6600, 7800, 10_800), now)).toBe("~14:10 (13:50–15:00)");
  expect(whenExpected(expected(60_000, 90_000, 180_000), now)).toBe("~21 Nov 13:00 (04:40–22 Nov 14:00)");
});

test("moments of a stretch that lies within minutes are told apart by seconds", () => {
  const within = (seconds: number, until: number) => momentWithin(now + seconds * 1000, now, now + until * 1000);
  expect(within(7, 7)).toBe("in 7.0 s");
  expect(within(40, 170)).toBe("in 40 s");
  expect(within(-1, 60)).toBe("in 0.0 s");
  expect(within(7, 180)).toBe("12:00");
  expect(within(7800, 7800)).toBe("14:10");
});

test("an interval that is no wider than its words is left out, and one that has begun or passed says so", () => {
  expect(whenExpected(expected(40, 40, 40), now)).toBe("in ~40 s");
  expect(whenExpected(expected(7200, 7200, 7200), now)).toBe("~14:00");
  expect(whenExpected(expected(-60, -10, 90), now)).toBe("now (by 12:01)");
  expect(whenExpected(expected(-60, -30, -10), now)).toBe("late: was expected by 11:59");
  expect(whenExpected(expected(-60, 5, 40), now)).toBe("in ~5 s (0–40)");
});

test("a job's line tells its start while it waits, then its end, and nothing that is not known", () => {
  expect(line("pending", { start: expected(480, 720, 1500), end: expected(6600, 7800, 10_800) })).toBe("starts in ~12 min (8–25)");
  expect(line("running", { end: expected(6600, 7800, 10_800) })).toBe("ends ~14:10 (13:50–15:00)");
  expect(line("running", { end: expected(6600, 7800, 10_800), outcome: "failed" })).toMatch(/^is ended at a limit ~14:10/);
  // It has started since the forecast was made.
  expect(line("running", { start: expected(480, 720, 1500), end: expected(6600, 7800, 10_800) })).toBe("ends ~14:10 (13:50–15:00)");
  expect(line("running", { not_before: at(7200) })).toBe("no end within the 2 h 0 min of the forecast");
  expect(line("pending", { not_before: at(7200) })).toBe("no start within the 2 h 0 min of the forecast");
  expect(line("pending", { not_before: at(7 * 86_400) })).toBe("no start within the 7 days of the forecast");
  // Its budget pauses it before its first step, so it has a time at which it gets slots and none of a first step.
  expect(line("pending", { slots_at: at(5), at_once: true, not_before: at(7 * 86_400) })).toBe("starts at once"); // this clock is behind
  expect(line("pending", { slots_at: at(-2), not_before: at(7 * 86_400) })).toBe("starts at once");
  expect(line("pending", { slots_at: at(7800), not_before: at(7 * 86_400) })).toBe("starts ~14:10");
  expect(line("running", { slots_at: at(-5), not_before: at(7200) })).toBe("no end within the 2 h 0 min of the forecast");
  expect(line("running", { basis: "unknown", not_before: at(-5) })).toBeNull();
  expect(line("running", null)).toBeNull();
  expect(line("succeeded", { end: expected(1, 2, 3) })).toBeNull();
});

test("who points at a forecast reads its times in full", () => {
  const title = (more: Partial<Forecast>) => forecastTitle({ state: "pending", forecast: forecast(more) });
  expect(title({ start: expected(480, 720, 1500) })).toMatch(/^expected .*12:12:00.*, in eight of ten cases between .*12:08:00.* and .*12:25:00/);
  expect(title({ end: expected(480, 720, 1500) })).toMatch(/12:12:00/);
  expect(title({})).toBeNull();
});

test("why there is no end, and how good forecasts were, is told in words", () => {
  expect(noEndText(forecast({ basis: "unknown", not_before: at(7200) }), now)).toMatch(/^Its end is not known: /);
  expect(noEndText(forecast({ not_before: at(7200) }), now)).toBe("The forecast looks 2 h 0 min ahead and sees no end.");
  expect(noEndText(forecast({ start: expected(480, 720, 1500), not_before: at(7200) }), now)).toBe("No end is in sight.");
  expect(observedText("end", { all: 200, within: 162 })).toBe("Of the last 200 forecasts of ends, 81\u00a0% came true within their interval; the aim is 80 %.");
  expect(observedText("start", { all: 3, within: 1 })).toBe("Of 3 forecasts of starts since the daemon was started, 1 came true within the interval; that is too few to judge by.");
  expect(observedText("end", { all: 0, within: 0 })).toBe(observedText("end", null));
  expect(observedText("end", undefined)).toMatch(/^No forecast of an end could be checked/);
});

test("the newest forecasts reach the jobs they are of, and one of another job is no job's", () => {
  const before = listed();
  const made = forecast({ end: expected(60, 90, 120) });
  const page = { items: [{ job: "job-1", name: "x", forecast: made }, { job: "job-77", name: "y", forecast: made }], next_cursor: null, as_of_seq: 90, computed_at: at(-5), policy: "tidal", observed: null };
  const after = withForecasts(before, page);
  expect(after.jobs.get("job-1")?.forecast).toBe(made);
  expect(after.jobs.size).toBe(1);
  expect(withForecasts(after, page).jobs.get("job-1")).toBe(after.jobs.get("job-1"));
  expect(withForecasts(after, { ...page, items: [] }).jobs.get("job-1")?.forecast).toBeNull();
  expect(job().forecast).not.toBeNull();
});

test("a forecast says which policy file was not asked for it", () => {
  expect(unaskedText(forecast())).toBeNull();
  expect(unaskedText(forecast({ unasked_policy: "capped@0123456789ab" }))).toBe("The policy file capped@0123456789ab, which decides, was not asked for this forecast.");
});

test("what a budget does to a job is told until the time has come, and an end by it as such", () => {
  const budget = (action: "shrink" | "pause" | "stop", seconds = 600) => ({ tenant: "lab", action, at: at(seconds) });
  expect(budgetText(forecast(), now)).toBeNull();
  expect(budgetText(forecast({ budget: budget("pause") }), now)).toBe("The budget of tenant lab pauses it at about 12:10.");
  expect(budgetText(forecast({ budget: budget("shrink") }), now)).toBe("The budget of tenant lab takes it down to its smallest size at about 12:10.");
  expect(budgetText(forecast({ budget: budget("pause", -1) }), now)).toBeNull();
  expect(budgetText(forecast({ budget: budget("stop") }), now)).toBeNull();
  const stopped = { end: expected(480, 600, 700), outcome: "cancelled", budget: budget("stop") };
  expect(budgetText(forecast(stopped), now)).toBe("The budget of tenant lab ends it at about 12:10.");
  expect(line("running", stopped)).toBe("is ended by its budget in ~10 min (8–12)");
});

test("a job that waits for another one's slots says whose, until the time has come", () => {
  const says = (how: "ends" | "gives_up_all" | "gives_up_some", state: "pending" | "running" = "pending", start = expected(480, 720, 1500)) =>
    startsAfterText({ state, forecast: forecast({ start, starts_after: { job: "job-7", how } }) }, now);
  expect(says("ends")).toBe("It starts when job-7 ends.");
  expect(says("gives_up_all")).toBe("It starts when job-7 releases its slots.");
  expect(says("gives_up_some")).toBe("It starts when job-7 releases some of its slots.");
  expect(says("ends", "running")).toBeNull();
  expect(says("ends", "pending", expected(-60, -10, 90))).toBeNull();
  expect(startsAfterText({ state: "pending", forecast: forecast({ start: expected(480, 720, 1500) }) }, now)).toBeNull();
});

test("a job whose slots others are going to have says whose and when", () => {
  const sizes = [{ at: at(-5), size: 4 }, { at: at(600), size: 2, taken_for: "job-9", taken_for_others: 1 }, { at: at(1200), size: 0, taken_for: "a job of another tenant", taken_for_others: 0 }];
  expect(takenText(forecast({ sizes }), now)).toBe("At about 12:10 slots of it go to job-9 and 1 more job, and it continues with 2 workers.");
  expect(takenText(forecast({ sizes }), now + 700_000)).toBe("At about 12:20 slots of it go to a job of another tenant, and it waits again.");
  expect(takenText(forecast({ sizes }), now + 1_300_000)).toBeNull();
  expect(takenText(forecast(), now)).toBeNull();
});

test("a job without a forecast says why in its state's words", () => {
  expect(noForecastText({ state: "suspended" })).toBe("None while it is suspended. Once it is resumed, there is one within seconds.");
  expect(noForecastText({ state: "pending" })).toMatch(/^None yet\..*; a job that cannot start has none\.$/);
  expect(noForecastText({ state: "running" })).toMatch(/^None yet\..* has changed\.$/);
});
