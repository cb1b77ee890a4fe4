import { reduce } from "~/state/reducer";
import { policyTrouble } from "~/text/policy_text";
import { apply, event, listed } from "./samples";

const failed = { policy: "mine", version: "0123456789abcdef", code: "policy.runtime_error", error: "policy.lua:3: no row", failures: 2 };
const gaveWay = { policy: "mine", version: "0123456789abcdef", to: null, to_version: null, why: "3 rounds in a row have failed" };
const nobody = { job: null, actor: null };

test("a policy that fails or gave way is told until one is activated", () => {
  const troubled = apply(listed(), event(82, "policy.error", failed, nobody));
  expect(policyTrouble(troubled.policyNews, undefined)).toBe("Policy mine failed (policy.runtime_error), so the built-in default decided: policy.lua:3: no row.");
  const back = apply(troubled, event(83, "policy.rolled_back", gaveWay, nobody));
  expect(policyTrouble(back.policyNews, undefined)).toBe("Policy mine, version 0123456789ab gave way to the daemon's own: 3 rounds in a row have failed.");
  expect(policyTrouble(apply(back, event(84, "policy.activated", { policy: "mine", version: "0" }, nobody)).policyNews, undefined)).toBeNull();
});

test("a rollback that somebody asked for is no failure, and nothing is none", () => {
  const asked = event(82, "policy.rolled_back", gaveWay, { job: null, actor: { token: "tok-1", name: "admin" } });
  expect(policyTrouble(asked, undefined)).toBeNull();
  expect(policyTrouble(null, undefined)).toBeNull();
});

test("a failed round is told until the policy answers one; the built-in one that decides meanwhile is no answer", () => {
  const news = event(82, "policy.error", failed, { ...nobody, at: "2026-12-01T03:08:23.506Z" });
  const told = (policy: string, at: string) => policyTrouble(news, { policy, at }) !== null;
  expect([told("tidal", "2026-12-01T03:09:00.000Z"), told("mine", "2026-12-01T03:08:00.000Z"), told("mine", "2026-12-01T03:09:00.000Z")]).toEqual([true, true, false]);
});

test("what was read does not take the place of what came after it", () => {
  const back = apply(listed(), event(90, "policy.rolled_back", gaveWay, nobody));
  expect(reduce(back, { type: "policy_news", event: event(70, "policy.activated", {}) }).policyNews?.seq).toBe(90);
  expect(reduce(back, { type: "policy_news", event: null }).policyNews?.seq).toBe(90);
  expect(reduce(listed(), { type: "policy_news", event: event(70, "policy.error", failed) }).policyNews?.seq).toBe(70);
});
