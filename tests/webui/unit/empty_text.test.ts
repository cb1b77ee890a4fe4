import { kScopes } from "~/state/job_order";
import { sumPool } from "~/state/pool";
import { noneFoundText, usedText, slotLegend } from "~/text/empty_text";
import { node } from "./samples";

test("an empty list of jobs says of a filter only where there is one", () => {
  expect(kScopes.map((scope) => noneFoundText(scope, false))).toEqual(["No job runs or waits.", "No job waits.", "No job has ended.", "No jobs yet."]);
  expect([noneFoundText("waiting", true), noneFoundText("all", true)]).toEqual(["No job matches. Clear the filter or choose All.", "No job matches. Clear the filter."]);
});

test("a pool whose nodes are all lost is not one that no node has joined", () => {
  const lost = { ...node(), state: "lost" };
  expect([[], [lost], [lost, node()]].map((nodes) => usedText(sumPool(nodes)))).toEqual(["no node has joined yet", "no node is up", "75\u00a0%"]);
});

test("the grey of other tenants' slots is explained where there are some", () => {
  expect([slotLegend(true, false), slotLegend(true, true)]).toEqual(["colour = job", "colour = job, grey = another tenant's"]);
  expect(slotLegend(false, false)).toBe("colour = job; pale = free, grey = closed, crossed = quarantined, red edge = lost");
  expect(slotLegend(false, true)).toBe("colour = job; pale = free, grey = closed, stronger grey = another tenant's, crossed = quarantined, red edge = lost");
});
