// Tenants, their slots and their budgets in words.
import type { Budget, BudgetAction, BudgetNow, Tenant, TenantNow, TenantTree } from "../api/types";
import type { Refusal } from "../state/model";
import type { BudgetInForce, SlotShares } from "../state/tenant_rows";
import { count, money } from "./format";

export const slots = (n: number): string => `${count(n)} ${n === 1 ? "slot" : "slots"}`;

// "1 Dec 00:00 UTC": windows of budgets are those of the calendar in UTC, wherever one reads this.
export function utcMoment(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "–";
  const day = date.toLocaleDateString("en-GB", { timeZone: "UTC", day: "numeric", month: "short" });
  return `${day} ${date.toISOString().slice(11, 16)} UTC`;
}

// "5 in use: 4 guaranteed and 1 borrowed"
export function sharesText({ held, guarantee, borrowed, lent, entitled }: SlotShares): string {
  const parts = [`${count(held)} in use`, `${count(guarantee)} guaranteed`];
  if (entitled !== null) parts.push(`${count(entitled)} entitled`);
  if (borrowed > 0) parts.push(`${count(borrowed)} borrowed`);
  if (lent > 0) parts.push(`${count(lent)} free to lend`);
  return parts.join(" · ");
}

const kEffects: Record<BudgetAction, string> = {
  warn: "warned", shrink: "at smallest sizes", pause: "paused", stop: "stopped",
};

// "paused until 1 Dec 00:00 UTC", of a budget above it "paused by lab's budget until …"
export function inForceText(inForce: BudgetInForce, tenant: string): string {
  const whose = inForce.tenant === tenant ? "" : ` by ${inForce.tenant}'s budget`;
  return `${kEffects[inForce.action]}${whose} until ${utcMoment(inForce.until)}`;
}

export function budgetText({ limit, window }: Budget, currency: string): string { return `${money(limit, currency)} a ${window}`; }

export function spentText(budget: Budget, now: BudgetNow, currency: string): string {
  return `${money(now.spent, currency)} of ${budgetText(budget, currency)}`;
}

// What comes of the budget if its jobs go on costing what they cost now.
export function outlookText(budget: Budget, now: BudgetNow, currency: string): string {
  const rate = Number(now.rate_per_hour);
  const spentAll = Number(now.spent) >= Number(budget.limit);
  const { next } = now;
  if (spentAll) {
    const then = next === null || next.percent <= 100 ? "" : `, reaches ${count(next.percent)} % ${utcMoment(next.at)}: ${kThresholds[next.action]}`;
    return `spent${then}; renewed ${utcMoment(now.window_ends_at)}`;
  }
  if (!(rate > 0)) return "nothing is being spent now";
  const pace = `at ${money(now.rate_per_hour, currency)} an hour`;
  if (next !== null && next.percent < 100) return `reaches ${count(next.percent)} % ${utcMoment(next.at)} ${pace}: ${kThresholds[next.action]}`;
  if (now.limit_reached_at !== null) return `reaches its limit ${utcMoment(now.limit_reached_at)} ${pace}`;
  return `lasts this ${budget.window}: ${money(now.expected, currency)} by its end ${pace}`;
}

const kThresholds: Record<BudgetAction, string> = {
  warn: "a warning", shrink: "jobs go to their smallest sizes", pause: "jobs save their state and wait", stop: "jobs are cancelled",
};

export function thresholdText({ percent, action }: { percent: number; action: BudgetAction }): string {
  return `at ${count(percent)} %: ${kThresholds[action]}`;
}

const kAtOnce = "0s";

// "8 slots, of these 4 of a100 and 2 of v100"
function guaranteeText({ guarantee, guarantee_by_type }: Tenant): string {
  const types = Object.entries(guarantee_by_type).filter(([, n]) => n > 0).map(([type, n]) => `${count(n)} of ${type}`);
  return types.length === 0 ? slots(guarantee) : `${slots(guarantee)}, of these ${types.join(" and ")}`;
}

// Its part of types of which there are not enough, such as "3 of a100"; null: there are enough of all.
export function scarceText({ entitled_by_type }: TenantNow): string | null {
  const parts = Object.entries(entitled_by_type ?? {}).map(([type, n]) => `${count(n)} of ${type}`);
  if (parts.length === 0) return null;
  return `Jobs ask for more slots of some types than there are; its jobs that do may have ${parts.join(" and ")} now.`;
}

// Jobs that wait, run or are suspended: "at most 200, 6 now"
function jobsText({ jobs_max, now }: Tenant): string {
  if (jobs_max === null) return "no limit of its own";
  return now === null ? `at most ${count(jobs_max)}` : `at most ${count(jobs_max)}, ${count(now.jobs)} now`;
}

// What is set of a tenant, as pairs of a name and a value.
export function limitPairs(tenant: Tenant, currency: string): [string, string][] {
  const own = (value: number | null, say: (n: number) => string) => (value === null ? "no limit of its own" : say(value));
  return [
    ["Guarantee", guaranteeText(tenant)],
    ["Weight", tenant.weight === 0 ? "0, only what no other wants" : count(tenant.weight)],
    ["May borrow", tenant.borrow === null ? "as many as there are" : slots(tenant.borrow)],
    ["Lends", tenant.lend === null ? "all it does not use" : `at most ${slots(tenant.lend)}`],
    ["Priority of a job", own(tenant.priority_max, (n) => `at most ${n}`)],
    ["Slots of a job", own(tenant.job_slots_max, (n) => `at most ${count(n)}`)],
    ["Price of a job", tenant.job_price_max === null ? "no limit of its own" : `at most ${money(tenant.job_price_max, currency)} an hour`],
    ["Grace of a job", tenant.job_grace_max === null ? "no limit of its own" : `at most ${tenant.job_grace_max}`],
    ["Minimum runtime, cooldown", tenant.job_hold_max === null ? "no limit of its own" : `at most ${tenant.job_hold_max} each`],
    ["Jobs at once", jobsText(tenant)],
    ["Exclusive nodes", tenant.exclusive_nodes ? "granted: its jobs may close nodes to others" : "not granted"],
    ["Preempts others", tenant.preempt_after === kAtOnce ? "no wait of its own" : `after ${tenant.preempt_after} of waiting`],
    ["Notice extension", tenant.notice_extension === null ? "none of its own" : `at most ${tenant.notice_extension}`],
    ["Refusal to leave", tenant.notice_refusal === null ? "none of its own" : `holds for at most ${tenant.notice_refusal}`],
  ];
}

// When jobs are preempted for others, by what is set of the whole tree; null: nothing holds it up.
export function preemptionText({ preempt_after, churn }: TenantTree): string | null {
  const times = (count: number) => (count === 1 ? "once" : `${count} times`);
  const parts: string[] = [];
  if (preempt_after !== kAtOnce) parts.push(`a job waits ${preempt_after} before others are preempted for it`);
  if (churn?.per_job != null) parts.push(`a job is preempted at most ${times(churn.per_job)} in ${churn.window}`);
  if (churn?.pool != null) parts.push(`all jobs together at most ${times(churn.pool)} in ${churn.window}`);
  if (parts.length === 0) return null;
  return `Beyond guarantees: ${parts.join("; ")}.`;
}

// What its jobs take where their files are silent, as pairs of a field such as "elastic.cooldown" and a value.
export function defaultPairs(defaults: Record<string, unknown>, prefix = ""): [string, string][] {
  return Object.entries(defaults).flatMap(([name, value]): [string, string][] => {
    const isPart = typeof value === "object" && value !== null && !Array.isArray(value) && name !== "selector";
    if (isPart) return defaultPairs(value as Record<string, unknown>, `${prefix}${name}.`);
    return [[`${prefix}${name}`, typeof value === "string" ? value : JSON.stringify(value)]];
  });
}

// Why there is no tree to show.
export function tenantsProblem({ status, message }: Refusal): string {
  if (status === 403) return `This token may not see tenants: ${message}`;
  if (status === 404) return "This daemon does not share slots by tenants: it has no list of them";
  return `The tenants could not be read: ${message}`;
}

export function usageProblem({ status, message }: Refusal): string {
  if (status === 403) return `This token may not see what was used: ${message}`;
  if (status === 404) return "This daemon does not sum what was used by day";
  return `What was used could not be read: ${message}`;
}

// "2026-11-03" as "Tue 3 Nov"
export function dayText(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return day;
  return date.toLocaleDateString("en-GB", { timeZone: "UTC", weekday: "short", day: "numeric", month: "short" }).replace(",", "");
}
