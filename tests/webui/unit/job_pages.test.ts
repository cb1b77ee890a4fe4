import { Client } from "~/api/client";
import { JobPages } from "~/state/job_pages";
import { Session } from "~/state/session";
import { Store } from "~/state/store";
import { isPartial, jobsLeftText } from "~/text/jobs_left_text";
import { event, job } from "./samples";

beforeEach(() => { vi.useFakeTimers(); });
afterEach(() => { vi.useRealTimers(); vi.unstubAllGlobals(); });

const seconds = (n: number) => vi.advanceTimersByTimeAsync(n * 1000);
const isEnded = (url: URL) => url.searchParams.get("state") === "succeeded,failed,cancelled";
// What is listed of each matters to none of these tests, and there are many.
const jobs = (from: number, to: number, state: "running" | "succeeded") =>
  Array.from({ length: from - to + 1 }, (_, n) => ({ id: `job-${from - n}`, state }));

// A daemon with 3 pages of jobs that have not ended and so many of those that have, 500 on each; job-1 is the oldest.
// Each page is answered once it is let out.
function daemon({ endedPages = 3 } = {}) {
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  const refused = { status: 0 };
  vi.stubGlobal("fetch", async (address: string) => {
    const url = new URL(address, "http://daemon");
    if (url.pathname === "/v1/events/stream") return new Promise(() => undefined);
    if (url.pathname !== "/v1/jobs") return new Response(JSON.stringify({ items: [], next_cursor: null, as_of_seq: 81 }));
    const ended = isEnded(url);
    const page = Number(url.searchParams.get("cursor") ?? 0);
    asked.push(`${ended ? "ended" : "live"} ${page}`);
    await new Promise<void>((out) => { waiting.push(out); });
    if (refused.status !== 0) return new Response("{}", { status: refused.status });
    const [pages, newest] = ended ? [endedPages, 500 * endedPages] : [3, 500 * (endedPages + 3)];
    const items = jobs(newest - 500 * page, newest - 500 * page - 499, ended ? "succeeded" : "running");
    return new Response(JSON.stringify({ items, next_cursor: page + 1 < pages ? String(page + 1) : null, as_of_seq: 81 }));
  });
  const letOut = async (n = 1) => {
    for (let i = 0; i < n; ++i) {
      await vi.waitUntil(() => waiting.length > 0, { interval: 1 });
      waiting.shift()?.();
      await seconds(0.01);
    }
  };
  return { asked, letOut, refused, waiting };
}

test("the first page of jobs shows before the others are read; those that have not ended come before those that have", async () => {
  const { asked, letOut } = daemon();
  const store = new Store();
  const session = new Session(new Client("secret"), store);
  await letOut();
  expect([store.state.jobs.size, store.state.jobsLeft]).toEqual([500, { part: "live", most: null, problem: null }]);
  await letOut(2);
  expect([store.state.jobs.size, store.state.jobsLeft]).toEqual([1500, { part: "ended", most: null, problem: null }]);
  await letOut();
  expect([store.state.jobs.size, store.state.jobsLeft]).toEqual([2000, { part: "ended", most: 1000, problem: null }]);
  await letOut(2);
  expect([store.state.jobs.size, store.state.jobsLeft]).toEqual([3000, null]);
  expect(asked).toEqual(["live 0", "live 1", "live 2", "ended 0", "ended 1", "ended 2"]);
  session.stop();
});

async function reading(endedPages = 3) {
  const fake = daemon({ endedPages });
  const store = new Store();
  const pages = new JobPages(new Client("secret"), store);
  const first = pages.first();
  await fake.letOut();
  store.dispatch({ type: "listed", seq: 81, jobs: (await first).items, nodes: [], policies: [], decisions: [], recent: [] });
  pages.readOn(await first);
  return { ...fake, store, pages };
}

test("what an event has said of a job stands, whatever a page says that was read before it", async () => {
  const { letOut, store } = await reading();
  store.dispatch({ type: "events", events: [event(82, "job.finished", { state: "failed" }, { job: "job-2400" })] });
  expect(store.state.needs.jobs.has("job-2400")).toBe(true);
  store.dispatch({ type: "jobs", jobs: [job({ id: "job-2400", state: "failed" })] });
  await letOut(2);
  expect(store.state.jobs.get("job-2400")?.state).toBe("failed");
  expect(store.state.jobs.get("job-2399")?.state).toBe("running");
});

test("a page that could not be read is told, and read again with what was read before in its place", async () => {
  const { asked, letOut, refused, store } = await reading();
  refused.status = 503;
  await letOut();
  expect(store.state.jobsLeft).toEqual({ part: "live", most: null, problem: "the daemon answered 503" });
  expect(store.state.jobs.size).toBe(500);
  refused.status = 0;
  await seconds(5);
  await letOut(5);
  expect([store.state.jobs.size, store.state.jobsLeft]).toEqual([3000, null]);
  expect(asked.slice(0, 3)).toEqual(["live 0", "live 1", "live 1"]);
});

test("nothing is read or shown after the end of the session", async () => {
  const { asked, letOut, store, pages } = await reading();
  pages.stop();
  await letOut();
  await seconds(30);
  expect([store.state.jobs.size, asked.length]).toEqual([500, 2]);
});

test("of very many ended jobs the newest are read, and the line says where the others are", async () => {
  const { asked, letOut, store } = await reading(50);
  await letOut(2 + 40);
  await seconds(30);
  expect(asked).toHaveLength(3 + 40);
  expect(store.state.jobsLeft).toEqual({ part: "older", most: 5000, problem: null });
  expect(jobsLeftText(store.state.jobsLeft!)).toBe("Only the newest ended jobs are listed here; older ones, at most 5,000, are listed by schedctl ls --state succeeded,failed,cancelled.");
});

test("a count says where it may grow", () => {
  const left = { part: "ended", most: 8499, problem: null } as const;
  expect(["active", "waiting", "ended", "all"].map((scope) => isPartial(left, scope as "all"))).toEqual([false, false, true, true]);
  expect(isPartial({ ...left, part: "live" }, "active")).toBe(true);
  expect(isPartial(null, "all")).toBe(false);
  expect(jobsLeftText(left)).toBe("Older ended jobs are being read, the newest first, at most 8,499.");
  expect(jobsLeftText({ ...left, problem: "the daemon answered 503" })).toBe("Not all ended jobs could be read: The daemon answered 503. The page tries again every 5 s.");
});
