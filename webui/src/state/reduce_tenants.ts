// How the page of tenants changes. Pure. What arrives after the page was closed, or of another window, is dropped.
import type { TenantTree, Usage, UsageWindow } from "../api/types";
import { kEmptyTenantPage, type Refusal, type TenantPage } from "./model";

export type TenantAction =
  | { type: "opened" }
  | { type: "closed" }
  | { type: "tree"; tree: TenantTree }
  | { type: "no_tree"; problem: Refusal }
  | { type: "window"; window: UsageWindow }
  | { type: "usage"; window: UsageWindow; usage: Usage }
  | { type: "no_usage"; window: UsageWindow; problem: Refusal };

// There is nothing to see, then; after any other failure what was read before stays.
function isFinal({ status }: Refusal): boolean { return status === 403 || status === 404; }

export function reduceTenants(page: TenantPage | null, action: TenantAction): TenantPage | null {
  if (action.type === "opened") return kEmptyTenantPage;
  if (action.type === "closed" || page === null) return null;
  switch (action.type) {
    case "tree":
      return { ...page, tree: action.tree, problem: null };
    case "no_tree":
      return { ...page, tree: isFinal(action.problem) ? null : page.tree, problem: action.problem };
    case "window":
      return { ...page, window: action.window, usage: null, usageProblem: null };
    case "usage":
      return action.window === page.window ? { ...page, usage: action.usage, usageProblem: null } : page;
    case "no_usage":
      return action.window === page.window ? { ...page, usage: isFinal(action.problem) ? null : page.usage, usageProblem: action.problem } : page;
  }
}
