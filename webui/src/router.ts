// Hash paths, so that any static server can serve the page: #/, #/jobs/job-1, #/tenants and #/tenants/vision.
export type Route =
  | { page: "overview" }
  | { page: "job"; id: string }
  | { page: "tenants"; chosen: string | null }
  | { page: "unknown"; path: string };

export function parseRoute(hash: string): Route {
  const path = hash.replace(/^#/, "").replace(/\/+$/, "");
  if (path === "") return { page: "overview" };
  if (path === "/tenants") return { page: "tenants", chosen: null };
  const [, list, name] = /^\/(jobs|tenants)\/([^/]+)$/.exec(path) ?? [];
  if (list !== undefined && name !== undefined) {
    try {
      const id = decodeURIComponent(name);
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

// What stays on the screen when the address changes: another job is another page, another chosen tenant is not.
export function pageKey(route: Route): string {
  return route.page === "job" ? `job ${route.id}` : route.page;
}
