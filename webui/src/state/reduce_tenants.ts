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

export function reduceTenants(page: TenantPage | null, action: TenantAction): TenantPage | null {
  if (action.type === "opened") return kEmptyTenantPage;
  if (action.type === "closed" || page === null) return null;
  switch (action.type) {
    case "tree":
      return { ...page, tree: action.tree, problem: null };
    case "no_tree":
      return { ...page, tree: null, problem: action.problem };
    case "window":
      return { ...page, window: action.window, usage: null, usageProblem: null };
    case "usage":
      return action.window === page.window ? { ...page, usage: action.usage, usageProblem: null } : page;
    case "no_usage":
      return action.window === page.window ? { ...page, usage: null, usageProblem: action.problem } : page;
  }
}
