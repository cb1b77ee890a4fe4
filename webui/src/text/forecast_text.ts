// When a job starts and ends, as people say it. In eight of ten cases it lies between the two times in brackets.
import type { ExpectedTime, Forecast, ForecastBasis, ForecastObserved, Job } from "../api/types";
import { isOver } from "../state/model";
import { absolute, count, dayOfMonth, duration, percent } from "./format";

const kMinuteMs = 60_000;
const kRelativeMs = 60 * kMinuteMs; // what is over within this is told as "in 12 min", else by the clock
const kEnough = 16; // forecasts that came about, to tell a share of them

// How exactly a time to go is told: below a minute to the second, below three to ten seconds.
const kMinutes = { below: kRelativeMs, step: kMinuteMs, unit: kMinuteMs, word: "min" };
const kScales = [
  { below: kMinuteMs, step: 1_000, unit: 1_000, word: "s" }, { below: 3 * kMinuteMs, step: 10_000, unit: 1_000, word: "s" },
];

// "14:10", of another day than `besideMs` "25 Nov 14:10".
export function moment(ms: number, besideMs: number): string {
  const at = new Date(ms);
  const time = at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (at.toDateString() === new Date(besideMs).toDateString()) return time;
  return `${dayOfMonth(ms)} ${time}`;
}

// Of a short stretch, whose moments would all be of one minute, "in 40 s"; else as moment().
export function momentWithin(ms: number, now: number, until: number): string {
  return until - now < 3 * kMinuteMs ? `in ${duration(Math.max(0, ms - now) / 1000)}` : moment(ms, now);
}

// "in ~12 min (8–25)", "~14:10 (13:50–15:00)"
export function whenExpected(time: ExpectedTime, now: number): string {
  const { when, between } = expectedParts(time, now);
  return between === null ? when : `${when} (${between.from}–${between.to})`;
}

// The same in parts; `unit` is that of the interval's two numbers, "" where they are times of day.
export interface ExpectedParts {
  when: string;
  between: { from: string; to: string; unit: string } | null; // null: no wider than its words
}

export function expectedParts(time: ExpectedTime, now: number): ExpectedParts {
  const [expected, early, late] = [time.expected, time.early, time.late].map((text) => Date.parse(text)) as [number, number, number];
  if (late <= now) return { when: `late: was expected by ${moment(late, now)}`, between: null };
  if (expected <= now) return { when: `now (by ${moment(late, now)})`, between: null };
  if (late - now > kRelativeMs) {
    const [from, to] = [moment(Math.max(early, now), expected), moment(late, expected)];
    return { when: `~${moment(expected, now)}`, between: from === to ? null : { from, to, unit: "" } };
  }
  const { step, unit, word } = kScales.find(({ below }) => late - now < below) ?? kMinutes;
  const from = Math.max(0, Math.floor((early - now) / step));
  const to = Math.ceil((late - now) / step);
  const middle = Math.max(1, Math.round((expected - now) / step));
  const shown = (steps: number) => String((steps * step) / unit);
  return { when: `in ~${shown(middle)} ${word}`, between: to - from <= 1 ? null : { from: shown(from), to: shown(to), unit: word } };
}

// It is its budget that ends it.
export function isStopped({ outcome, budget }: Forecast): boolean { return outcome === "cancelled" && budget?.action === "stop"; }

function endsVerb(forecast: Forecast): string {
  if (isStopped(forecast)) return "is ended by its budget";
  return forecast.outcome === "failed" ? "is ended at a limit" : "ends";
}

// "The budget of tenant lab pauses it at about 15:10."; null: none does anything to it that is still to come.
export function budgetText(forecast: Forecast, now: number): string | null {
  const { budget } = forecast;
  if (!budget || Date.parse(budget.at) <= now || (budget.action === "stop" && !isStopped(forecast))) return null;
  const does = { shrink: "takes it down to its smallest size", pause: "pauses it", stop: "ends it" }[budget.action];
  return `The budget of tenant ${budget.tenant} ${does} at about ${moment(Date.parse(budget.at), now)}.`;
}

// "7 days": how far a forecast looked that found neither start nor end; null: it found one, or is past that.
export function lookedAhead(forecast: Forecast, now: number): string | null {
  const { not_before } = forecast;
  if (not_before === null || forecast.start !== null || not_before === forecast.computed_at) return null;
  const until = Date.parse(not_before);
  return until > now ? duration((until - Date.parse(forecast.computed_at)) / 1000) : null;
}

// A job that has begun to step since its forecast was made starts no more.
export function startOf(job: Pick<Job, "state" | "forecast">): ExpectedTime | null {
  return job.state === "running" || job.state === "resizing" ? null : job.forecast?.start ?? null;
}

// "It starts when job-7 ends."; null: it waits for no job's slots, or has started since.
export function startsAfterText(job: Pick<Job, "state" | "forecast">, now: number): string | null {
  const start = startOf(job);
  const after = job.forecast?.starts_after;
  if (!start || !after || Date.parse(start.expected) <= now) return null;
  if (after.how === "ends") return `It starts when ${after.job} ends.`;
  return `It starts when ${after.job} releases ${after.how === "gives_up_some" ? "some of its slots" : "its slots"}.`;
}

// "At about 15:10 slots of it go to job-9 and 1 more job.": the next time that others take some; null: as far as can be seen none do.
export function takenText(forecast: Forecast, now: number): string | null {
  const next = forecast.sizes.find(({ at, taken_for }) => taken_for !== undefined && Date.parse(at) > now);
  if (next === undefined) return null;
  const others = next.taken_for_others ?? 0;
  const more = others > 0 ? ` and ${count(others)} more ${others === 1 ? "job" : "jobs"}` : "";
  const then = next.size === 0 ? "it waits again" : `it continues with ${count(next.size)} ${next.size === 1 ? "worker" : "workers"}`;
  return `At about ${moment(Date.parse(next.at), now)} slots of it go to ${next.taken_for}${more}, and ${then}.`;
}

// The one line of a job in a list; null: nothing to say.
export function forecastLine(job: Pick<Job, "state" | "forecast">, now: number): string | null {
  const forecast = job.forecast;
  if (!forecast || isOver(job.state)) return null;
  const start = startOf(job);
  if (start) return `starts ${whenExpected(start, now)}`;
  if (forecast.end) return `${endsVerb(forecast)} ${whenExpected(forecast.end, now)}`;
  // Its budget pauses it before its first step.
  if (job.state === "pending" && typeof forecast.slots_at === "string") {
    return forecast.at_once || Date.parse(forecast.slots_at) <= now ? "starts at once" : `starts ~${moment(Date.parse(forecast.slots_at), now)}`;
  }
  const ahead = lookedAhead(forecast, now);
  const what = job.state === "pending" ? "no start" : "no end";
  return ahead === null ? null : `${what} within the ${ahead} of the forecast`;
}

// The times of that line in full; null: it tells none.
export function forecastTitle(job: Pick<Job, "state" | "forecast">): string | null {
  const time = startOf(job) ?? job.forecast?.end;
  if (!time) return null;
  return `expected ${absolute(time.expected)}, in eight of ten cases between ${absolute(time.early)} and ${absolute(time.late)}`;
}

const kRests: Record<ForecastBasis, string> = {
  declared: "from the work that its job file declares",
  told: "from the length that its program reports",
  kin: "from how long similar jobs took",
  unknown: "without knowing how long the jobs before it take",
};

export function restsOn(basis: ForecastBasis): string { return kRests[basis] ?? ""; }

// The daemon's own policy stands for it.
export function unaskedText({ unasked_policy }: Forecast): string | null {
  return unasked_policy ? `The policy file ${unasked_policy}, which decides, was not asked for this forecast.` : null;
}

// Why a job that has not ended has no forecast.
export function noForecastText({ state }: Pick<Job, "state">): string {
  if (state === "suspended" || state === "suspending") return "None while it is suspended. Once it is resumed, there is one within seconds.";
  const yet = "None yet. The daemon makes forecasts a few seconds after something has changed";
  return state === "pending" ? `${yet}; a job that cannot start has none.` : `${yet}.`;
}

// Why a forecast has no end.
export function noEndText(forecast: Forecast, now: number): string {
  const ahead = lookedAhead(forecast, now);
  if (forecast.basis !== "unknown") return ahead === null ? "No end is in sight." : `The forecast looks ${ahead} ahead and sees no end.`;
  return "Its end is not known: its work is not declared (work.samples) or its speed not measured yet, and no similar jobs have run.";
}

// How good forecasts were; `observed` null = none has been made since the daemon was started, or it keeps no count.
export function observedText(what: "start" | "end", observed: ForecastObserved | undefined | null): string {
  const many = what === "start" ? "starts" : "ends";
  if (!observed || observed.all === 0) return `No forecast of ${what === "start" ? "a start" : "an end"} could be checked since the daemon was started, so the interval is wide.`;
  if (observed.all < kEnough) {
    const some = `${count(observed.all)} ${observed.all === 1 ? "forecast" : "forecasts"}`;
    return `Of ${some} of ${many} since the daemon was started, ${count(observed.within)} came true within the interval; that is too few to judge by.`;
  }
  return `Of the last ${count(observed.all)} forecasts of ${many}, ${percent(observed.within / observed.all)} came true within their interval; the aim is 80 %.`;
}
