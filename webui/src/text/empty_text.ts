// What is said where there is nothing to show.
import type { Scope } from "../state/job_order";
import type { PoolSums } from "../state/pool";
import { percent } from "./format";

const kNone: Record<Scope, string> = {
  active: "No job runs or waits.", waiting: "No job waits.", ended: "No job has ended.", all: "No jobs yet.",
};

// Of a list of jobs; `isFiltered`: something is looked for in it.
export function noneFoundText(scope: Scope, isFiltered: boolean): string {
  if (!isFiltered) return kNone[scope];
  return `No job matches. Clear the filter${scope === "all" ? "" : " or choose All"}.`;
}

// The share of the slots that is in use, or why there are none.
export function usedText({ used, total, nodesLost }: Pick<PoolSums, "used" | "total" | "nodesLost">): string {
  if (total > 0) return percent(used / total);
  return nodesLost > 0 ? "no node is up" : "no node has joined yet";
}

// What the colours of slots mean; in rows a slot says the rest itself. `others`: some are of tenants that the token may
// not see.
export function slotLegend(inRows: boolean, others: boolean): string {
  if (inRows) return others ? "colour = job, grey = another tenant's" : "colour = job";
  return `colour = job; pale = free, grey = closed,${others ? " stronger grey = another tenant's," : ""} crossed = quarantined, red edge = lost`;
}
