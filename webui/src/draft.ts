// The job file that is being written in this tab: kept in sessionStorage, so that a reload does not lose it. It goes when
// its writer signs out, and when the tab closes.
import { kEmptyDesk, keptText, type PlanDesk } from "./state/plan_desk";
import type { Store } from "./state/store";

const kKey = "tidepool.plan";

type Draft = Pick<PlanDesk, "text" | "begun" | "before">;

// Anything may stand in a browser's storage; what is no draft is none.
export function readDraft(stored: string | null): Draft | null {
  try {
    const { text, begun, before } = JSON.parse(stored ?? "null") as Draft;
    const isBegun = begun === null || (typeof begun.text === "string" && typeof begun.name === "string");
    return typeof text === "string" && isBegun ? { text, begun, before: before ?? null } : null;
  } catch {
    return null;
  }
}

export function keepDraft(store: Store): void {
  const found = readDraft(sessionStorage.getItem(kKey));
  if (found !== null) store.dispatch({ type: "plan", action: { type: "found", desk: keptText({ ...kEmptyDesk, ...found }) } });
  let last: Draft = store.state.plan;
  store.subscribe(() => {
    const { text, begun, before } = store.state.plan;
    if (text === last.text && begun === last.begun && before === last.before) return;
    last = { text, begun, before };
    try {
      if (text === "" && before === null) sessionStorage.removeItem(kKey);
      else sessionStorage.setItem(kKey, JSON.stringify(last));
    } catch {
      // There is no room for it: a reload loses what was written since.
    }
  });
}
