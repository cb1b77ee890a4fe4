// Hash paths, so that any static server can serve the page: #/, #/jobs/job-1, #/tenants and #/tenants/vision, #/plan and
// #/plan/job-1, which begins with that job's file.
export type Route =
  | { page: "overview" }
  | { page: "job"; id: string }
  | { page: "tenants"; chosen: string | null }
  | { page: "plan"; like: string | null }
  | { page: "unknown"; path: string };

export function parseRoute(hash: string): Route {
  const path = hash.replace(/^#/, "").replace(/\/+$/, "");
  if (path === "") return { page: "overview" };
  if (path === "/tenants") return { page: "tenants", chosen: null };
  if (path === "/plan") return { page: "plan", like: null };
  const [, list, name] = /^\/(jobs|tenants|plan)\/([^/]+)$/.exec(path) ?? [];
  if (list !== undefined && name !== undefined) {
    try {
      const id = decodeURIComponent(name);
      if (list === "plan") return { page: "plan", like: id };
      return list === "jobs" ? { page: "job", id } : { page: "tenants", chosen: id };
    } catch {
      return { page: "unknown", path };
    }
  }
  return { page: "unknown", path };
}

export function jobHref(id: string): string {
  return `#/jobs/${encodeURIComponent(id)}`;
}

export function tenantHref(name: string): string {
  return `#/tenants/${encodeURIComponent(name)}`;
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

// Tells tabs and entries of the history apart.
export function titleOf(route: Route): string {
  switch (route.page) {
    case "overview": return "Tidepool";
    case "job": return `${route.id} · Tidepool`;
    case "tenants": return `${route.chosen ?? "Tenants"} · Tidepool`;
    case "plan": return "Plan · Tidepool";
    case "unknown": return "No such page · Tidepool";
  }
}
