// That a policy has failed, until it answers again or another decides. A return to the policy before it that somebody
// asked for is no failure.
import type { TideEvent } from "../api/types";
import type { DecisionLine } from "../state/model";
import { describe } from "./event_text";
import { sentence } from "./format";

// `last`: the newest decision.
export function policyTrouble(news: TideEvent | null, last: Pick<DecisionLine, "at" | "policy"> | undefined): string | null {
  if (news === null) return null;
  const answers = last !== undefined && last.at > news.at && last.policy === news.data.policy;
  const failed = news.type === "policy.error" ? !answers : news.type === "policy.rolled_back" && !news.actor;
  return failed ? sentence(describe(news)) : null;
}
