// Hash paths, so that any static server can serve the page: #/ and #/jobs/job-1.
export type Route = { page: "overview" } | { page: "job"; id: string } | { page: "unknown"; path: string };

export function parseRoute(hash: string): Route {
  const path = hash.replace(/^#/, "").replace(/\/+$/, "");
  if (path === "") return { page: "overview" };
  const job = /^\/jobs\/([^/]+)$/.exec(path);
  if (job?.[1]) {
    try {
      return { page: "job", id: decodeURIComponent(job[1]) };
    } catch {
      return { page: "unknown", path };
    }
  }
  return { page: "unknown", path };
}

export function jobHref(id: string): string {
  return `#/jobs/${encodeURIComponent(id)}`;
}
