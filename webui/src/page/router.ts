// Hash paths, so that any static server can serve the page: #/, #/jobs/job-1, #/tenants and #/tenants/vision, #/plan and
// #/plan/job-1, which begins with that job's file. What is shown of a page's lists follows as a query.
import {
  type JobsView, jobsQuery, kTenantsAtFirst, readJobsView, readSpan, readTenantsView, spanQuery, tenantsQuery, type TenantsView,
} from "./queries";

export type Route =
  | { page: "overview"; jobs: JobsView }
  | { page: "job"; id: string; spanS: number } // spanS: of its charts; 0: all
  | { page: "tenants"; chosen: string | null; view: TenantsView }
  | { page: "plan"; like: string | null }
  | { page: "unknown"; path: string };

export function parseRoute(hash: string): Route {
  const [, address = "", asked = ""] = /^#?([^?]*)\??(.*)$/.exec(hash) ?? [];
  const path = address.replace(/\/+$/, "");
  const query = new URLSearchParams(asked);
  if (path === "") return { page: "overview", jobs: readJobsView(query) };
  if (path === "/tenants") return { page: "tenants", chosen: null, view: readTenantsView(query) };
  if (path === "/plan") return { page: "plan", like: null };
  const [, list, name] = /^\/(jobs|tenants|plan)\/([^/]+)$/.exec(path) ?? [];
  if (list !== undefined && name !== undefined) {
    try {
      const id = decodeURIComponent(name);
      if (list === "plan") return { page: "plan", like: id };
      if (list === "jobs") return { page: "job", id, spanS: readSpan(query) };
      return { page: "tenants", chosen: id, view: readTenantsView(query) };
    } catch {
      return { page: "unknown", path };
    }
  }
  return { page: "unknown", path };
}

export function overviewHref(jobs: JobsView): string { return `#/${jobsQuery(jobs)}`; }

export function jobHref(id: string, spanS = 0): string {
  return `#/jobs/${encodeURIComponent(id)}${spanQuery(spanS)}`;
}

// Null: all of them.
export function tenantHref(name: string | null, view: TenantsView = kTenantsAtFirst): string {
  return `#/tenants${name === null ? "" : `/${encodeURIComponent(name)}`}${tenantsQuery(view)}`;
}

export const kPlanHref = "#/plan";

// Plans a job like this one.
export function planLikeHref(job: string): string {
  return `${kPlanHref}/${encodeURIComponent(job)}`;
}

// What stays on the screen when the address changes: another job is another page, another chosen tenant is not.
export function pageKey(route: Route): string {
  return route.page === "job" ? `job ${route.id}` : route.page;
}

// Tells tabs and entries of the history apart. `jobName`: of the job that is shown; null: not known yet.
export function titleOf(route: Route, jobName: string | null = null): string {
  switch (route.page) {
    case "overview": return "Tidepool";
    case "job": return `${jobName === null ? "" : `${jobName} · `}${route.id} · Tidepool`;
    case "tenants": return `${route.chosen ?? "Tenants"} · Tidepool`;
    case "plan": return "Plan · Tidepool";
    case "unknown": return "No such page · Tidepool";
  }
}
