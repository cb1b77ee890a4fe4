import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Tenant, TenantTree, Usage } from "~/api/types";
import { kEmptyTenantPage } from "~/state/model";
import { reduceTenants } from "~/state/reduce_tenants";
import { budgetInForce, budgetMeter, currencyOf, rowsOf, scaleOf, sharesOf, withBelow } from "~/state/tenant_rows";
import { daysOf, usageDays } from "~/state/usage_days";
import { budgetText, dayText, defaultPairs, inForceText, limitPairs, outlookText, preemptionText,
  scarceText, sharesText, spentText, tenantsProblem, thresholdText, usageProblem, utcMoment } from "~/text/tenant_text";

const example = <T>(name: string): T =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`../../../api/examples/${name}.json`, import.meta.url)), "utf8")) as T;
const tree = (): TenantTree => example<TenantTree>("tenants");
const find = (name: string, from = tree()): Tenant => {
  const found = from.tenants.find((tenant) => tenant.name === name);
  if (!found) throw new Error(`the example has no ${name}`);
  return found;
};
const holding = (name: string, now: Partial<NonNullable<Tenant["now"]>>, more: Partial<Tenant> = {}): Tenant => {
  const tenant = find(name);
  return { ...tenant, ...more, now: tenant.now && { ...tenant.now, ...now } };
};

test("rows follow the tree, and what lies below a closed tenant is left out", () => {
  expect(rowsOf(tree(), new Set()).map(({ tenant, depth, children }) => [tenant.name, depth, children])).toEqual([["lab", 0, 1], ["vision", 1, 0], ["guests", 0, 0]]);
  expect(rowsOf(tree(), new Set(["lab"])).map(({ tenant }) => tenant.name)).toEqual(["lab", "guests"]);
  expect([...withBelow(tree(), "lab")]).toEqual(["lab", "vision"]);
});

test("what a tenant holds beyond its guarantee is borrowed, what it neither holds nor claims of it is lent", () => {
  expect(sharesOf(holding("vision", { held: 7, entitled: 9 }))).toMatchObject({ guarantee: 4, borrowed: 3, lent: 0 });
  expect(sharesOf(holding("vision", { held: 1, entitled: 2 }))).toMatchObject({ borrowed: 0, lent: 2 });
  // It still holds what others claim: that is not lent yet.
  expect(sharesOf(holding("vision", { held: 3, entitled: 1 }))).toMatchObject({ borrowed: 0, lent: 1 });
  // A policy that does not ask the tree lends nothing.
  expect(sharesOf(holding("vision", { held: 1, entitled: null }))).toMatchObject({ lent: 0, entitled: null });
  expect(sharesOf({ ...find("vision"), now: null })).toBeNull();
});

test("a tenant is owed what it wants and may have and does not hold, one by one of those below it", () => {
  const vision = holding("vision", { held: 7, entitled: 9, wanted: 12 });
  const speech = { ...holding("vision", { held: 3, entitled: 2, wanted: 3 }), name: "speech", path: ["lab", "speech"] };
  const all = { ...tree(), tenants: [find("lab"), vision, speech, find("guests")] };
  const owed = (from: TenantTree) => rowsOf(from, new Set()).map((row) => row.owed);
  expect(owed(all)).toEqual([2, 2, 0, 0]);
  const unknown = { ...tree(), tenants: [holding("guests", { entitled: null, wanted: null })] };
  expect(owed(unknown)).toEqual([0]);
});

test("a budget above the token's own tenant is told in the currency of the rest of the tree", () => {
  const lab = { ...find("lab"), now: null };
  const seen = { ...tree(), tenants: [lab, holding("vision", { currency: "EUR" })] };
  expect(budgetText({ limit: "2000.00", window: "month", thresholds: [] }, currencyOf(seen))).toBe("€2,000 a month");
});

test("a tree of ten thousand tenants is made into rows at once", () => {
  const tenants = Array.from({ length: 10_000 }, (_, n) => {
    const parent = n < 100 ? null : `t-${n % 100}`;
    return { ...find("guests"), name: `t-${n}`, parent, path: parent === null ? [`t-${n}`] : [parent, `t-${n}`] };
  });
  const began = performance.now();
  const rows = rowsOf({ ...tree(), tenants }, new Set());
  expect(rows.slice(0, 100).every((row) => row.children === 99)).toBe(true);
  expect(scaleOf({ ...tree(), tenants }, 0)).toBe(1);
  expect(performance.now() - began).toBeLessThan(3000);
});

test("bars have the scale of the pool, or a larger one where more is guaranteed or held", () => {
  expect(scaleOf(tree(), 16)).toBe(16);
  expect(scaleOf(tree(), 4)).toBe(9);
  expect(scaleOf({ ...tree(), tenants: [] }, 0)).toBe(1);
});

test("the strongest budget in force of a tenant and those above it holds", () => {
  const paused = (name: string, action: "shrink" | "pause") => holding(name, { budget: { ...find("lab").now!.budget!, action } });
  const both = { ...tree(), tenants: [paused("lab", "pause"), paused("vision", "shrink"), find("guests")] };
  expect(budgetInForce(both, find("vision", both))).toMatchObject({ action: "pause", tenant: "lab" });
  expect(budgetInForce(both, find("guests", both))).toBeNull();
  expect(budgetInForce(tree(), find("lab"))).toBeNull();
  const words = budgetInForce(both, find("vision", both))!;
  expect(inForceText(words, "vision")).toBe("paused by lab's budget until 1 Dec 00:00 UTC");
  expect(inForceText(words, "lab")).toBe("paused until 1 Dec 00:00 UTC");
  // Of two that pause it, its own is renewed before lab's.
  const sooner = holding("vision", { budget: { ...find("lab").now!.budget!, action: "pause", window_ends_at: "2026-11-29T00:00:00.000Z" } });
  const twice = { ...tree(), tenants: [paused("lab", "pause"), sooner] };
  expect(budgetInForce(twice, sooner)).toMatchObject({ tenant: "lab", until: "2026-12-01T00:00:00.000Z" });
});

test("a budget's bar holds its thresholds and what is spent", () => {
  expect(budgetMeter(find("lab"))).toEqual({ percent: 62.41, scale: 100, ticks: [{ percent: 80, action: "warn", reached: false }, { percent: 100, action: "pause", reached: false }] });
  const over = holding("lab", { budget: { ...find("lab").now!.budget!, spent: "6000.00" } });
  expect(budgetMeter(over)).toMatchObject({ percent: 120, scale: 120, ticks: [{ reached: true }, { reached: true }] });
  const nothing = holding("lab", {}, { budget: { ...find("lab").budget!, limit: "0.00" } });
  expect(budgetMeter(nothing)).toMatchObject({ percent: Infinity, scale: 200 });
  expect(budgetMeter(find("vision"))).toBeNull();
});

test("a budget says what comes of it", () => {
  const { budget, now } = find("lab");
  const spending = now!.budget!;
  expect(spentText(budget!, spending, "USD")).toBe("$3,121 of $5,000 a month");
  expect(outlookText(budget!, spending, "USD")).toBe("reaches its limit 28 Nov 19:23 UTC at $16.00 an hour");
  expect(outlookText(budget!, { ...spending, next: { percent: 80, action: "stop", at: "2026-11-20T10:00:00.000Z" } }, "USD")).toBe("reaches 80 % 20 Nov 10:00 UTC at $16.00 an hour: jobs are cancelled");
  expect(outlookText(budget!, { ...spending, limit_reached_at: null, expected: "4100.00" }, "USD")).toBe("lasts this month: $4,100 by its end at $16.00 an hour");
  expect(outlookText(budget!, { ...spending, rate_per_hour: "0.00", limit_reached_at: null }, "USD")).toBe("nothing is being spent now");
  expect(outlookText(budget!, { ...spending, spent: "5000.00", limit_reached_at: null }, "USD")).toBe("spent; renewed 1 Dec 00:00 UTC");
  expect(outlookText(budget!, { ...spending, spent: "5000.00", limit_reached_at: null, next: { percent: 120, action: "stop", at: "2026-11-20T10:00:00.000Z" } }, "USD")).toBe("spent, reaches 120 % 20 Nov 10:00 UTC: jobs are cancelled; renewed 1 Dec 00:00 UTC");
  expect(thresholdText({ percent: 95, action: "shrink" })).toBe("at 95 %: jobs go to their smallest sizes");
  expect(utcMoment("nonsense")).toBe("–");
});

test("a part of a type of which there is not enough is told, and nothing where there is", () => {
  const { now } = find("vision");
  expect(now && scarceText(now)).toBe("Jobs ask for more slots of some types than there are; its jobs that do may have 3 of a100 now.");
  expect(now && scarceText({ ...now, entitled_by_type: {} })).toBeNull();
  expect(now && scarceText({ ...now, entitled_by_type: null })).toBeNull();
});

test("limits and shares are told in words", () => {
  expect(sharesText({ held: 5, guarantee: 4, entitled: 6, borrowed: 1, lent: 0 })).toBe("5 in use · 4 guaranteed · 6 entitled · 1 borrowed");
  expect(sharesText({ held: 0, guarantee: 4, entitled: 0, borrowed: 0, lent: 4 })).toBe("0 in use · 4 guaranteed · 0 entitled · 4 free to lend");
  expect(Object.fromEntries(limitPairs(find("vision"), "USD"))).toMatchObject({ "May borrow": "8 slots", Lends: "at most 2 slots", "Price of a job": "at most $12.50 an hour" });
  expect(Object.fromEntries(limitPairs(find("vision"), "USD")).Guarantee).toBe("4 slots, of these 4 of a100");
  expect(Object.fromEntries(limitPairs(find("guests"), "USD")).Guarantee).toBe("0 slots");
  const guests = { Weight: "0, only what no other wants", "May borrow": "as many as there are", "Priority of a job": "at most 0", "Preempts others": "no wait of its own" };
  expect(Object.fromEntries(limitPairs(find("guests"), "USD"))).toMatchObject(guests);
  expect(Object.fromEntries(limitPairs(find("vision"), "USD"))).toMatchObject({ "Preempts others": "after 10m of waiting", "Notice extension": "at most 2m" });
  expect(Object.fromEntries(limitPairs(find("guests"), "USD"))["Notice extension"]).toBe("none of its own");
  expect(Object.fromEntries(limitPairs(find("vision"), "USD"))["Minimum runtime, cooldown"]).toBe("at most 1h each");
  expect(Object.fromEntries(limitPairs(find("guests"), "USD"))["Minimum runtime, cooldown"]).toBe("no limit of its own");
  expect(Object.fromEntries(limitPairs(find("vision"), "USD"))["Jobs at once"]).toBe("at most 200, 6 now");
  expect(Object.fromEntries(limitPairs({ ...find("vision"), now: null }, "USD"))["Jobs at once"]).toBe("at most 200");
  expect(Object.fromEntries(limitPairs(find("guests"), "USD"))["Jobs at once"]).toBe("no limit of its own");
  expect(Object.fromEntries(limitPairs(find("vision"), "USD"))["Exclusive nodes"]).toBe("granted: its jobs may close nodes to others");
  expect(Object.fromEntries(limitPairs(find("guests"), "USD"))["Exclusive nodes"]).toBe("not granted");
});

test("what holds preemptions up in the whole pool is told in a sentence, and nothing where nothing does", () => {
  expect(preemptionText(tree())).toBe("Beyond guarantees: a job waits 5m before others are preempted for it; a job is preempted at most 3 times in 1h; all jobs together at most 20 times in 1h.");
  expect(preemptionText({ ...tree(), preempt_after: "0s", churn: { per_job: 1, pool: null, window: "30m" } })).toBe("Beyond guarantees: a job is preempted at most once in 30m.");
  expect(preemptionText({ ...tree(), preempt_after: "0s", churn: null })).toBeNull();
});

test("what cannot be shown is said in a plain sentence", () => {
  expect(tenantsProblem({ status: 403, message: "not for this token" })).toBe("This token may not see tenants: not for this token");
  expect(tenantsProblem({ status: 404, message: "x" })).toMatch(/has no list of them$/);
  expect(usageProblem({ status: 500, message: "no disk" })).toBe("What was used could not be read: no disk");
});

const usage = (): Usage => {
  const row = (tenant: string, day: string, jobs: number, slot_seconds: number, cost: string) => ({ by: { tenant, day }, jobs, slot_seconds, cost });
  return { ...example<Usage>("usage"), by: ["tenant", "day"], from: "2026-11-23", to: "2026-11-29",
    rows: [row("vision", "2026-11-23", 2, 7200, "2.50"), row("speech", "2026-11-23", 1, 3600, "1.00"), row("vision", "2026-11-25", 1, 1800, "0.50")] };
};

test("use by day has every day up to today, summed over the tenants that are asked for", () => {
  const days = usageDays(usage(), new Set(["lab", "vision"]), "2026-11-25");
  expect(days).toEqual([{ day: "2026-11-23", jobs: 2, slotHours: 2, cost: 2.5 }, { day: "2026-11-24", jobs: 0, slotHours: 0, cost: 0 }, { day: "2026-11-25", jobs: 1, slotHours: 0.5, cost: 0.5 }]);
  expect(usageDays(usage(), null, "2026-11-23")).toEqual([{ day: "2026-11-23", jobs: 3, slotHours: 3, cost: 3.5 }]);
  expect(daysOf("2026-02-27", "2026-03-02")).toEqual(["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"]);
  expect(dayText("2026-11-03")).toBe("Tue 3 Nov");
});

test("what arrives late, or of a window that is no longer shown, changes nothing", () => {
  const open = reduceTenants(null, { type: "opened" });
  expect(open).toEqual(kEmptyTenantPage);
  const week = reduceTenants(open, { type: "window", window: "week" });
  expect(reduceTenants(week, { type: "usage", window: "month", usage: usage() })).toBe(week);
  expect(reduceTenants(week, { type: "usage", window: "week", usage: usage() })?.usage).not.toBeNull();
  expect(reduceTenants(null, { type: "tree", tree: tree() })).toBeNull();
  const refused = reduceTenants(reduceTenants(open, { type: "tree", tree: tree() }), { type: "no_tree", problem: { status: 403, message: "no" } });
  expect(refused).toMatchObject({ tree: null, problem: { status: 403 } });
  expect(reduceTenants(refused, { type: "tree", tree: tree() })?.problem).toBeNull();
  const shown = reduceTenants(open, { type: "tree", tree: tree() });
  expect(reduceTenants(shown, { type: "no_tree", problem: { status: 503, message: "busy" } })).toMatchObject({ tree: { tenants: [{}, {}, {}] }, problem: { status: 503 } });
});

test("defaults of job settings are told field by field", () => {
  expect(defaultPairs(find("vision").defaults)).toEqual([["priority", "5"], ["elastic.cooldown", "1m"], ["scaling.price_cap", "10.00"]]);
  expect(defaultPairs({ placement: { selector: { disk: ["ssd"] } } })).toEqual([["placement.selector", '{"disk":["ssd"]}']]);
  expect(defaultPairs({})).toEqual([]);
});
