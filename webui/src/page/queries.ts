// The query part of the address: what of a page's lists is shown, and in what order. What it leaves out is the page's
// default, and so is what it cannot say: anything may be written into an address by hand.
import type { UsageWindow } from "../api/types";
import { type Column, descendsFirst, kColumns, kScopes, type Order, type Scope } from "../state/job_order";

export interface JobsView {
  scope: Scope | null; // null: not chosen
  text: string; // what is looked for
  order: Order;
  rows: number; // at most so many are shown
}

// The tenants' page: what of its lists is opened.
export interface TenantsView {
  usage: UsageWindow;
  rows: number; // tenants, at most
  jobs: number; // of the chosen tenant, at most
  folded: ReadonlySet<string>; // tenants that hide what lies below them
}

export const kNewestFirst: Order = { column: "submitted", descending: true };
export const kMostText = 200;
export const kPageRows = 40;
export const kTenantsAtFirst: TenantsView = { usage: "month", rows: 100, jobs: 12, folded: new Set() };
const kSpans: readonly [string, number][] = [["15m", 900], ["5m", 300], ["1m", 60]];

export function readJobsView(query: URLSearchParams): JobsView {
  const column = oneOf<Column>(kColumns, query.get("sort"));
  const order = oneOf(["asc", "desc"], query.get("order"));
  return {
    scope: oneOf<Scope>(kScopes, query.get("show")),
    text: (query.get("q") ?? "").slice(0, kMostText),
    order: column === null ? kNewestFirst : { column, descending: order === null ? descendsFirst(column) : order === "desc" },
    rows: readRows(query, "rows", kPageRows),
  };
}

export function jobsQuery({ scope, text, order: { column, descending }, rows }: JobsView): string {
  const isDefault = column === kNewestFirst.column && descending === kNewestFirst.descending;
  return written([
    ["show", scope], ["q", text.trim() === "" ? null : text.slice(0, kMostText)], ["sort", isDefault ? null : column],
    ["order", descending === descendsFirst(column) ? null : descending ? "desc" : "asc"],
    ["rows", rows === kPageRows ? null : String(rows)],
  ]);
}

// Seconds of a job's charts that are shown; 0: all of them.
export function readSpan(query: URLSearchParams): number {
  return kSpans.find(([word]) => word === query.get("last"))?.[1] ?? 0;
}

export function spanQuery(seconds: number): string {
  return written([["last", kSpans.find(([, length]) => length === seconds)?.[0] ?? null]]);
}

export function readTenantsView(query: URLSearchParams): TenantsView {
  return {
    usage: query.get("usage") === "week" ? "week" : "month",
    rows: readRows(query, "rows", kTenantsAtFirst.rows),
    jobs: readRows(query, "jobs", kTenantsAtFirst.jobs),
    folded: new Set((query.get("folded") ?? "").split(",").filter((name) => name !== "")),
  };
}

export function tenantsQuery({ usage, rows, jobs, folded }: TenantsView): string {
  return written([
    ["usage", usage === "month" ? null : usage], ["rows", rows === kTenantsAtFirst.rows ? null : String(rows)],
    ["jobs", jobs === kTenantsAtFirst.jobs ? null : String(jobs)], ["folded", folded.size === 0 ? null : [...folded].join(",")],
  ]);
}

function readRows(query: URLSearchParams, name: string, least: number): number {
  return Math.max(least, Number(/^\d{1,5}$/.exec(query.get(name) ?? "")?.[0] ?? 0));
}

function oneOf<T extends string>(known: readonly T[], word: string | null): T | null {
  return known.find((each) => each === word) ?? null;
}

function written(fields: readonly [string, string | null][]): string {
  const query = new URLSearchParams(fields.filter((field): field is [string, string] => field[1] !== null)).toString();
  return query === "" ? "" : `?${query}`;
}
