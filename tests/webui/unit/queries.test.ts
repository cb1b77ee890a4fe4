import { type JobsView, kMostText, kNewestFirst, kPageRows, kTenantsAtFirst } from "~/page/queries";
import { jobHref, overviewHref, parseRoute, tenantHref } from "~/page/router";
import { kColumns, kScopes } from "~/state/job_order";

const kDefault: JobsView = { scope: null, text: "", order: kNewestFirst, rows: kPageRows };
const viewAt = (hash: string) => {
  const route = parseRoute(hash);
  return route.page === "overview" ? route.jobs : null;
};

test("whatever is chosen and looked for in the list of jobs comes back from its address", () => {
  for (const scope of [null, ...kScopes]) {
    for (const column of kColumns) {
      for (const descending of [false, true]) {
        const view = { scope, text: "a&token=b #1 + ü ?", order: { column, descending }, rows: descending ? 120 : kPageRows };
        expect(viewAt(overviewHref(view))).toEqual(view);
      }
    }
  }
});

test("an address holds what was chosen and no more", () => {
  expect(overviewHref(kDefault)).toBe("#/");
  expect(overviewHref({ ...kDefault, text: " " })).toBe("#/");
  expect(overviewHref({ ...kDefault, scope: "ended", text: "vision llm", order: { column: "cost", descending: true } })).toBe("#/?show=ended&q=vision+llm&sort=cost");
  expect(overviewHref({ ...kDefault, rows: 80 })).toBe("#/?rows=80");
  expect(overviewHref({ ...kDefault, order: { column: "submitted", descending: false } })).toBe("#/?sort=submitted&order=asc");
  expect(jobHref("job-1", 0)).toBe("#/jobs/job-1");
  expect(tenantHref(null)).toBe("#/tenants");
});

test("what an address cannot say is the default", () => {
  expect(viewAt("#/?show=gone&sort=__proto__&order=up&other=1")).toEqual(kDefault);
  expect(viewAt("#/?sort=cost&order=constructor")?.order).toEqual({ column: "cost", descending: true });
  expect(viewAt("#/?sort=name")?.order).toEqual({ column: "name", descending: false });
  expect(viewAt(`#/?q=${"x".repeat(5000)}`)?.text).toHaveLength(kMostText);
  for (const rows of ["39", "-80", "8e9", "123456", "many"]) expect(viewAt(`#/?rows=${rows}`)?.rows).toBe(kPageRows);
  expect(viewAt("#/?q=%E0%A4%A")).not.toBeNull();
  expect(parseRoute("#/jobs/job-1?last=2h")).toEqual({ page: "job", id: "job-1", spanS: 0 });
  expect(parseRoute("#/tenants/a?usage=year")).toEqual({ page: "tenants", chosen: "a", view: kTenantsAtFirst });
  expect(parseRoute("#/tenants?rows=99&jobs=-1&folded=,,")).toEqual({ page: "tenants", chosen: null, view: kTenantsAtFirst });
});

test("the time that charts show comes back from the address of a job and of a tenant", () => {
  for (const spanS of [0, 60, 300, 900]) expect(parseRoute(jobHref("job-1", spanS))).toEqual({ page: "job", id: "job-1", spanS });
  for (const usage of ["week", "month"] as const) {
    const view = { ...kTenantsAtFirst, usage };
    for (const chosen of [null, "vision"]) expect(parseRoute(tenantHref(chosen, view))).toEqual({ page: "tenants", chosen, view });
  }
});

test("what was opened on the page of tenants comes back from its address", () => {
  const view = { ...kTenantsAtFirst, rows: 300, jobs: 52, folded: new Set(["lab", "old_team.a"]) };
  for (const chosen of [null, "vision"]) expect(parseRoute(tenantHref(chosen, view))).toEqual({ page: "tenants", chosen, view });
  expect(tenantHref("vision", view)).toBe("#/tenants/vision?rows=300&jobs=52&folded=lab%2Cold_team.a");
});
