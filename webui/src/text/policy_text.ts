// That a policy file gave way after failed rounds, until a file is activated. A return to the policy before it that
// somebody asked for is no failure.
import type { TideEvent } from "../api/types";
import { describe } from "./event_text";
import { sentence } from "./format";

export function policyTrouble(news: TideEvent | null): string | null {
  return news !== null && news.type === "policy.rolled_back" && !news.actor ? sentence(describe(news)) : null;
}
