import { Client, errorOf } from "~/api/client";
import type { TideEvent } from "~/api/types";
import { isUnknown, mayChange } from "~/state/model";
import { Session } from "~/state/session";
import { Store } from "~/state/store";
import { event, job, node } from "./samples";

beforeEach(() => { vi.useFakeTimers(); });
afterEach(() => { vi.useRealTimers(); vi.unstubAllGlobals(); });

const seconds = (n: number) => vi.advanceTimersByTimeAsync(n * 1000);
const line = (sent: TideEvent) => new TextEncoder().encode(`id: ${sent.seq}\nevent: ${sent.type}\ndata: ${JSON.stringify(sent)}\n\n`);
const page = (items: unknown[]) => ({ items, next_cursor: null, as_of_seq: 81 });

// A daemon that answers each path with what `answer` gives, or else an empty list; a status alone is a refusal, and
// null never an answer; each takes `takesMs`. Each stream that was opened can be spoken to, until its reader has gone.
function daemon(answer: (path: string) => object | number | null | undefined = () => undefined, takesMs = 0) {
  const asked: string[] = [];
  const reads = { now: 0, most: 0 };
  const streams: { after: string; open: boolean; send(sent: TideEvent): void; fail(): void }[] = [];
  const answered = (path: string) => answer(path) ?? (path === "/v1/jobs" ? page([job()]) : path === "/v1/nodes" ? page([node()]) : page([]));
  vi.stubGlobal("fetch", async (address: string, init: RequestInit) => {
    const url = new URL(address, "http://daemon");
    asked.push(url.pathname);
    if (answer(url.pathname) === null) return new Promise((_, reject) => init.signal?.addEventListener("abort", () => reject(new Error("aborted"))));
    if (url.pathname === "/v1/events/stream" && answer(url.pathname) === undefined) {
      let out!: ReadableStreamDefaultController<Uint8Array>;
      const body = new ReadableStream<Uint8Array>({ start: (controller) => { out = controller; } });
      const stream = { after: url.searchParams.get("after") ?? "", open: true, send: (sent: TideEvent) => out.enqueue(line(sent)), fail: () => out.error() };
      init.signal?.addEventListener("abort", () => { stream.open = false; out.error(new DOMException("", "AbortError")); });
      streams.push(stream);
      return new Response(body);
    }
    const given = answered(url.pathname);
    reads.most = Math.max(reads.most, ++reads.now);
    await new Promise((done) => { setTimeout(done, takesMs); });
    reads.now -= 1;
    return typeof given === "number" ? new Response("{}", { status: given }) : new Response(JSON.stringify(given));
  });
  const store = new Store();
  const session = new Session(new Client("secret"), store);
  return { session, store, streams, reads, times: (path: string) => asked.filter((one) => one === path).length, all: () => asked.length };
}

test("however often one asks to try again while the lists are read, one stream is followed", async () => {
  const { session, store, streams } = daemon();
  for (let n = 0; n < 5; ++n) session.retryNow();
  await seconds(1);
  expect(streams.filter(({ open }) => open)).toHaveLength(1);
  expect(store.state.link.kind).toBe("live");
  session.stop();
  expect(streams.filter(({ open }) => open)).toHaveLength(0);
});

test("lists that cannot be read are tried again by one timer, however often one asked", async () => {
  const { session, times } = daemon((path) => (path === "/v1/jobs" ? 503 : undefined));
  for (let n = 0; n < 5; ++n) session.retryNow();
  await seconds(1);
  const before = times("/v1/jobs");
  await seconds(5);
  expect(times("/v1/jobs") - before).toBe(1);
  session.stop();
  await seconds(60);
  expect(times("/v1/jobs") - before).toBe(1);
});

test("what is read for a session that has been stopped does not reach the next one", async () => {
  const { session, store, streams, times } = daemon(undefined, 200);
  await seconds(3);
  streams[0]?.send(event(82, "job.started", { size: 2 }));
  const before = times("/v1/jobs");
  await vi.waitUntil(() => times("/v1/jobs") > before);
  session.stop();
  const dispatched = vi.spyOn(store, "dispatch");
  await seconds(60);
  expect(dispatched).not.toHaveBeenCalled();
});

test("what the token may is known with the first lists, also of a daemon that does not tell", async () => {
  for (const [told, role] of [[{ role: "viewer" }, "viewer"], [404, null]] as const) {
    const { session, store } = daemon((path) => (path === "/v1/whoami" ? told : undefined));
    let known: unknown; // once there are jobs to show
    store.subscribe(() => { if (known === undefined && store.state.jobs.size > 0) known = store.state.role; });
    await seconds(1);
    expect([store.state.link.kind, known, mayChange(store.state)]).toEqual(["live", role, role === null]);
    expect(store.state.ownTenant).toBeNull();
    session.stop();
  }
  const { session, store } = daemon((path) => (path === "/v1/whoami" ? { role: "viewer", tenant: "search" } : undefined));
  await seconds(1);
  expect(store.state.ownTenant).toBe("search");
  session.stop();
});

test("that a policy has failed before the page was opened is known with the first lists", async () => {
  const news = [event(70, "policy.activated", {}, { job: null }), event(71, "policy.rolled_back", {}, { job: null })];
  const { session, store } = daemon((path) => (path === "/v1/events" ? page(news) : undefined));
  await seconds(1);
  expect(store.state.policyNews?.seq).toBe(71);
  session.stop();
});

const submitted = (n: number) => event(82 + n, "job.submitted", { name: "new" }, { job: `job-${100 + n}` });
const idOf = (path: string) => /^\/v1\/jobs\/(job-\d+)$/.exec(path)?.[1];

test("of many jobs that events tell of a bounded number is read at once, and one that failed is read again", async () => {
  let failing = true;
  const { store, streams, reads } = daemon((path) => {
    const id = idOf(path);
    if (id === undefined) return undefined;
    return failing && id === "job-107" ? 503 : id === "job-108" ? 404 : job({ id });
  });
  await seconds(1);
  for (let n = 0; n < 60; ++n) streams[0]?.send(submitted(n));
  await seconds(3);
  expect(reads.most).toBeLessThanOrEqual(22); // beside them the reasons and the forecasts
  expect(store.state.jobs.size).toBe(1 + 58);
  expect(store.state.jobs.has("job-107")).toBe(false);
  failing = false;
  await seconds(6);
  expect(store.state.jobs.has("job-107")).toBe(true);
  expect(store.state.needs.jobs.size).toBe(0);
});

test("of very many jobs the list is read, which leaves the file of one that was read before", async () => {
  let all = [job()];
  const { store, streams, times } = daemon((path) => (path === "/v1/jobs" ? page(all) : idOf(path) ? null : undefined));
  await seconds(1);
  const spec = { run: { resize: "restart" } } as unknown as NonNullable<ReturnType<typeof job>["spec"]>;
  store.dispatch({ type: "jobs", jobs: [job({ id: "job-100", spec })] });
  const { spec: _, ...listedJob } = job();
  all = Array.from({ length: 1000 }, (_unused, n) => ({ ...listedJob, id: `job-${100 + n}`, size: 7 }));
  for (let n = 0; n < 1000; ++n) streams[0]?.send(submitted(n));
  const before = times("/v1/jobs");
  await seconds(1);
  expect(times("/v1/jobs") - before).toBeLessThanOrEqual(2);
  expect(store.state.jobs.size).toBe(1001);
  expect(store.state.jobs.get("job-100")).toMatchObject({ size: 7, spec });
  expect(store.state.jobs.get("job-1")?.size).not.toBe(7);
});

test("nodes are read again when slots were released, once more when all has settled, and after an outage", async () => {
  const { streams, times } = daemon();
  await seconds(1);
  expect(times("/v1/nodes")).toBe(1);
  streams[0]?.send(event(82, "slots.released", { worker: "w-1", seconds: 3 }, { node: "node-1" }));
  await seconds(1);
  expect(times("/v1/nodes")).toBe(2);
  await seconds(20);
  expect(times("/v1/nodes")).toBe(3);
  streams[0]?.fail();
  await seconds(2);
  expect(streams).toHaveLength(2);
  expect(times("/v1/nodes")).toBe(4);
});

test("what no event tells of is read again after an outage: reasons and forecasts", async () => {
  const { streams, times } = daemon();
  await seconds(20);
  const before = [times("/v1/jobs"), times("/v1/forecast")];
  streams[0]?.fail();
  await seconds(5);
  expect([times("/v1/jobs"), times("/v1/forecast")]).toEqual(before.map((n) => n + 1));
});

test("a token that is revoked while the page is open is told of at once, and nothing is asked with it any more", async () => {
  let revoked = false;
  const { store, streams, all } = daemon(() => (revoked ? 401 : undefined));
  await seconds(1);
  streams[0]?.send(event(82, "job.started", { size: 2 }));
  revoked = true;
  streams[0]?.fail();
  await seconds(2);
  expect(store.state.link).toEqual({ kind: "refused", message: "the daemon answered 401" });
  const before = all();
  await seconds(300);
  expect(all()).toBe(before);
});

test("the active policy is the one that was activated or rolled back to last", async () => {
  let active = "fifo";
  const { store, streams } = daemon((path) => (path === "/v1/policies" ? page([{ name: active, active: true }]) : undefined));
  await seconds(1);
  for (const [type, name] of [["policy.activated", "mine"], ["policy.rolled_back", "fifo"]] as const) {
    active = name;
    streams[0]?.send(event(store.state.seq + 1, type, { policy: "mine" }, { job: null }));
    await seconds(1);
    expect(store.state.policies).toMatchObject([{ name, active: true }]);
  }
});

test("changes of membership are read however far back they lie", async () => {
  const kSwitched = [8, 7].map((generation) => event(generation, "generation.switched", { generation }));
  const { store, session } = daemon((path) => (path === "/v1/jobs/job-1/events" ? page(kSwitched) : undefined));
  await seconds(1);
  session.open("job-1");
  await seconds(1);
  expect(store.state.detail?.switches.map((entry) => entry.data.generation)).toEqual([7, 8]);
});

test("a part of a job's page that cannot be read is told, and read again although the stream lives", async () => {
  let status: number | undefined = 503;
  const { store, session, times } = daemon((path) => (path.endsWith("/explain") ? status : path === "/v1/jobs/job-1" ? job() : undefined));
  await seconds(1);
  session.open("job-1");
  await seconds(1);
  expect(store.state.detail).toMatchObject({ loaded: false, missing: { status: 503, message: "the daemon answered 503" } });
  status = undefined;
  await seconds(6);
  expect(store.state.detail).toMatchObject({ loaded: true, missing: null });
  status = 404;
  session.open("job-1");
  await seconds(1);
  const before = times("/v1/jobs/job-1/explain");
  await seconds(30);
  expect(times("/v1/jobs/job-1/explain")).toBe(before);
  expect(store.state.detail).toMatchObject({ loaded: false, missing: { status: 404, message: "the daemon answered 404" } });
});

test("of a job that does not exist it is asked once, and again only when an event names it", async () => {
  let made = false;
  const { store, session, streams, times, all } = daemon((path) => (path === "/v1/jobs/job-77" ? (made ? job({ id: "job-77" }) : 404) : undefined));
  await seconds(1);
  const before = all();
  session.open("job-77");
  await seconds(1);
  expect(isUnknown(store.state)).toBe(true);
  expect(all()).toBe(before + 1);
  streams[0]?.send(event(82, "decision.made", { policy: "tidal", intents: [] }, { job: null, decision: "dec-9" }));
  streams[0]?.fail();
  await seconds(30);
  expect(streams).toHaveLength(2);
  expect([times("/v1/jobs/job-77"), times("/v1/jobs/job-77/explain")]).toEqual([1, 0]);
  made = true;
  streams[1]?.send(event(83, "job.submitted", { name: "new" }, { job: "job-77" }));
  await seconds(2);
  expect(store.state.detail).toMatchObject({ loaded: true, missing: null });
});

const openOf = (streams: { open: boolean }[]) => streams.filter(({ open }) => open).length;

test("a hidden tab gives its connection back, and goes on from the last event when it is seen", async () => {
  const { session, store, streams } = daemon();
  await seconds(1);
  streams[0]?.send(event(82, "job.resized", { from: 2, to: 3 }));
  session.see(false);
  await seconds(5);
  expect(openOf(streams)).toBe(1);
  await seconds(60);
  expect([openOf(streams), streams.length]).toEqual([0, 1]);
  session.see(true);
  await seconds(1);
  expect([openOf(streams), streams[1]?.after, store.state.link.kind]).toEqual([1, "82", "live"]);
  session.see(false);
  await seconds(5);
  session.see(true);
  await seconds(20);
  expect([openOf(streams), streams.length]).toEqual([1, 2]);
});

test("a connection that does not open is given up after a while, and at once on Reconnect", async () => {
  const { session, store, times } = daemon((path) => (path === "/v1/events/stream" ? null : undefined));
  await seconds(1);
  session.retryNow();
  await seconds(1);
  expect(times("/v1/events/stream")).toBe(2);
  expect(store.state.link.kind).toBe("loading");
  await seconds(16);
  expect(store.state.link).toMatchObject({ kind: "down", message: "the daemon does not answer" });
  expect(times("/v1/events/stream")).toBeGreaterThan(2);
  session.stop();
});

test("a refusal is told with its hint, unless that names a request of the API", async () => {
  const told = async (hint: string) => (await errorOf(new Response(JSON.stringify({ detail: "there is no job job-9", hint }), { status: 404 }))).message;
  expect(await told("GET /v1/jobs lists the jobs that this token may see")).toBe("there is no job job-9");
  expect(await told("ask an admin")).toBe("there is no job job-9; ask an admin");
});

test("what is said of one field alone is not told twice", async () => {
  const detail = "size is 3; this job allows 1, 2, 4";
  const told = async (errors: object[]) => (await errorOf(new Response(JSON.stringify({ detail, errors }), { status: 422 }))).message;
  expect(await told([{ code: "Invalid", pointer: "/size", message: detail }])).toBe(detail);
  expect(await told([{ code: "Invalid", pointer: "/size", message: "size is 3" }])).toBe(`${detail}; /size: size is 3`);
});
