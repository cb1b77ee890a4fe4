// What a plan says, for people who know other schedulers. Times are told as of the moment for which it was made.
import type { Plan, PlanChange, PlanEffect, SubmitDecision } from "../api/plan_types";
import type { Forecast } from "../api/types";
import type { PlanProblem } from "../state/plan_desk";
import type { SizeSpan } from "../state/size_spans";
import { budgetText, type ExpectedParts, expectedParts, isStopped, lookedAhead, moment, noEndText, restsOn, whenExpected } from "./forecast_text";
import { count, duration, money } from "./format";

export interface Figure {
  value: string;
  note: string;
}

export const workers = (n: number | null): string => `${count(n)} ${n === 1 ? "worker" : "workers"}`;
const jobs = (n: number): string => `${count(n)} ${n === 1 ? "job" : "jobs"}`;
const madeAt = ({ computed_at }: Forecast): number => Date.parse(computed_at);

function betweenText({ between }: ExpectedParts): string {
  if (between === null) return "";
  return `${between.from}–${between.to}${between.unit === "" ? "" : ` ${between.unit}`} in eight of ten cases`;
}

// As far as the plan looked ahead it is given no slots.
export function neverStarts({ forecast }: Plan): boolean { return forecast.start === null && (forecast.slots_at ?? null) === null; }

// "4 on gpu-1, 2 on gpu-2"
export function placesText({ places }: SubmitDecision): string {
  return places.map((place) => `${count(place.workers)} on ${place.node_name || place.node}`).join(", ");
}

export function startFigure(plan: Plan, decision: SubmitDecision | null): Figure {
  const now = madeAt(plan.forecast);
  const { start } = plan.forecast;
  if (decision?.starts) return { value: "at once", note: `with ${workers(decision.size)}: ${placesText(decision)}` };
  if (plan.forecast.at_once) return { value: "at once", note: "" };
  if (start === null && plan.forecast.slots_at) return { value: `~${moment(Date.parse(plan.forecast.slots_at), now)}`, note: "" };
  if (start === null) return { value: "not in sight", note: `the plan looked ahead to ${moment(Date.parse(plan.until), now)}` };
  const parts = expectedParts(start, now);
  return { value: parts.when, note: betweenText(parts) };
}

export function endFigure({ forecast }: Plan): Figure {
  const now = madeAt(forecast);
  if (forecast.end === null) {
    const ahead = lookedAhead(forecast, now);
    return { value: "unknown", note: ahead === null ? "" : `none within the ${ahead} that the plan looks ahead` };
  }
  const parts = expectedParts(forecast.end, now);
  const how = isStopped(forecast) ? "ended by its budget" : forecast.outcome === "failed" ? "ended at a limit of its file" : "";
  return { value: parts.when, note: [betweenText(parts), how].filter((part) => part !== "").join("; ") };
}

export function costFigure(plan: Plan): Figure {
  const { low, expected, high } = plan.forecast.cost;
  const show = (amount: string) => money(amount, plan.currency);
  if (neverStarts(plan)) return { value: show("0"), note: "while it waits" };
  if (plan.forecast.end === null) {
    return { value: "unknown", note: Number(expected) > 0 ? `at least ${show(expected)}` : "as its end is" };
  }
  return { value: show(expected), note: low === high ? "" : `${show(low)}–${show(high)}` };
}

// What the times rest on, or what would have to be known for one to be told.
export function basisText(plan: Plan): string | null {
  const { forecast } = plan;
  if (neverStarts(plan)) return null;
  const budget = budgetText(forecast, madeAt(forecast));
  if (budget !== null) return budget;
  if (forecast.end !== null) return `The end is forecast ${restsOn(forecast.end.basis)}.`;
  return forecast.basis === "unknown"
    ? "End and cost can be told of a job that declares its work (work.samples), once jobs like it have run."
    : noEndText(forecast, madeAt(forecast));
}

function startWords({ forecast }: Plan, decision: SubmitDecision | null, now: number): string {
  if (decision?.starts || forecast.at_once) return "at once";
  return forecast.start === null ? `at about ${moment(Date.parse(forecast.slots_at ?? ""), now)}` : whenExpected(forecast.start, now);
}

// In a sentence, for the question before it is submitted and for those who hear the page.
export function planSentence(plan: Plan, decision: SubmitDecision | null): string {
  const now = madeAt(plan.forecast);
  const { end } = plan.forecast;
  if (neverStarts(plan)) return "It would not start as far as can be seen.";
  const starts = `It would start ${startWords(plan, decision, now)}`;
  return end === null ? `${starts}; its end is unknown.` : `${starts} and end ${whenExpected(end, now)}, for ${costFigure(plan).value}.`;
}

const kDelayTold = 60; // seconds; a shorter one is within what forecasts are off by

// Nothing but such a delay: it is counted and not listed.
export function isSlight({ effect, starts_later_s, ends_later_s }: PlanChange): boolean {
  if (effect === "ended" || effect === "preempted" || effect === "shrunk" || (starts_later_s === null && ends_later_s === null)) return false;
  return Math.max(Math.abs(starts_later_s ?? 0), Math.abs(ends_later_s ?? 0)) < kDelayTold;
}

// "1 job would be preempted and 2 jobs would start or end later."
export function touchedText({ changes, others_changed }: Plan): string {
  const of = (effect: PlanEffect) => changes.filter((change) => change.effect === effect && !isSlight(change)).length;
  const told: [number, string][] = [
    [of("ended"), "would be ended by a budget"], [of("preempted"), "would be preempted"], [of("shrunk"), "would have fewer workers"],
    [of("later"), "would start or end later"], [of("sooner"), "would start or end sooner"],
    [changes.filter(isSlight).length, "would start or end less than a minute later or sooner"],
  ];
  const parts = told.filter(([n]) => n > 0).map(([n, what]) => `${jobs(n)} ${what}`);
  if (others_changed > 0) parts.push(`${jobs(others_changed)} of other tenants would be moved or delayed`);
  if (parts.length === 0) return "No other job would be affected.";
  const last = parts[parts.length - 1] ?? "";
  return `${parts.length === 1 ? last : `${parts.slice(0, -1).join(", ")} and ${last}`}.`;
}

const kEffects: Record<PlanEffect, string> = { ended: "ended", preempted: "preempted", shrunk: "fewer workers", later: "later", sooner: "sooner" };

export function effectText(effect: PlanEffect): string { return kEffects[effect] ?? effect; }

// ", as slots of it go to job-5 and 1 more job"
function shrunkFor({ shrunk_for, shrunk_for_others }: PlanChange): string {
  if (shrunk_for === null) return "";
  return `, as slots of it go to ${shrunk_for}${shrunk_for_others > 0 ? ` and ${count(shrunk_for_others)} more ${shrunk_for_others === 1 ? "job" : "jobs"}` : ""}`;
}

// ", as the budget of tenant lab pauses it"
function byBudget({ budget }: PlanChange): string {
  if (!budget) return "";
  return `, as the budget of tenant ${budget.tenant} ${budget.action === "pause" ? "pauses it" : "takes it down to its smallest size"}`;
}

// "releases its 4 workers at about 22:10", "has 2 in place of 4 workers from about 22:10"
export function changeText(change: PlanChange, now: number): string {
  const when = change.at === null ? "" : moment(Date.parse(change.at), now);
  if (change.effect === "preempted") return `releases its ${workers(change.from)}${change.preempted_for === null ? "" : ` for ${change.preempted_for}`} at about ${when}${byBudget(change)}, with its state saved, and waits again`;
  if (change.effect === "ended") return `is ended by the budget of tenant ${change.budget?.tenant ?? ""} at about ${when}`;
  if (change.effect === "shrunk") return `has ${count(change.to)} in place of ${workers(change.from)} from about ${when}${shrunkFor(change)}${byBudget(change)}`;
  if (change.starts_later_s === null && change.ends_later_s === null) return "no longer has a time that can be told";
  if (change.effect === "sooner") return "gains by it";
  return delayText(change.starts_later_s) === null ? "runs on, and ends later" : "waits longer for its start";
}

// "21 min later"; null: as without the job.
export function delayText(seconds: number | null): string | null {
  if (seconds === null || Math.abs(seconds) < 1) return null;
  return `${duration(Math.abs(seconds))} ${seconds > 0 ? "later" : "sooner"}`;
}

// "waits 10 min, then 2 workers for 21 min, then 4 workers"
export function sizesText(spans: readonly SizeSpan[]): string {
  return spans.map((span, index) => {
    const what = span.size === 0 ? (index === 0 ? "waits" : "holds nothing") : workers(span.size);
    const long = span.to === null ? "" : duration((span.to - span.from) / 1000);
    return long === "" ? what : `${what}${span.size === 0 ? "" : " for"} ${long}`;
  }).join(", then ");
}

// What the reader can do that the daemon's words do not say; null: nothing more.
export function adviceText({ of, status, code }: PlanProblem): string | null {
  if (code === "Forbidden") return "This token may look but not submit; sign in with one that may.";
  if (status === 401) return "Sign out and in with a token that is known.";
  if (status === 0 && code === "Unreachable") {
    return of === "submit"
      ? "Whether it was submitted is not known. Submit it again when the daemon is back: it makes no second job."
      : "The text stays here; try again when the daemon is back.";
  }
  return null;
}
