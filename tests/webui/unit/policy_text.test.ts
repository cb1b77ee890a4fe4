import { reduce } from "~/state/reducer";
import { policyTrouble } from "~/text/policy_text";
import { apply, event, listed } from "./samples";

const gaveWay = { policy: "mine", version: "0123456789abcdef", to: null, to_version: null, why: "3 rounds in a row have failed" };
const nobody = { job: null, actor: null };

test("that a policy file gave way is told until one is activated", () => {
  const back = apply(listed(), event(83, "policy.rolled_back", gaveWay, nobody));
  expect(policyTrouble(back.policyNews)).toBe("Policy mine, version 0123456789ab was replaced by the daemon's own: 3 rounds in a row have failed.");
  expect(policyTrouble(apply(back, event(84, "policy.activated", { policy: "mine", version: "0" }, nobody)).policyNews)).toBeNull();
});

test("a rollback that somebody asked for is no failure, nor is a round that the file may answer the next time", () => {
  const asked = event(82, "policy.rolled_back", gaveWay, { job: null, actor: { token: "tok-1", name: "admin" } });
  expect(policyTrouble(asked)).toBeNull();
  expect(policyTrouble(null)).toBeNull();
  const failed = { policy: "mine", version: "0", code: "policy.runtime_error", error: "policy.lua:3: no row", failures: 1 };
  expect(apply(listed(), event(82, "policy.error", failed, nobody)).policyNews).toBeNull();
});

test("what is read anew takes the place of what was told, as after a restart with an older state", () => {
  const back = apply(listed(), event(90, "policy.rolled_back", gaveWay, nobody));
  expect(reduce(back, { type: "policy_news", event: event(70, "policy.activated", {}) }).policyNews?.seq).toBe(70);
  expect(reduce(back, { type: "policy_news", event: null }).policyNews).toBeNull();
});
