// Serves the built dashboard and made-up answers in the shapes of api/examples, for states that are hard to
// reach with a real daemon: a thousand nodes, a straggler, a daemon that goes away. Not a daemon: it decides nothing.
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const source = process.env.TIDEPOOL_SOURCE_DIR ?? join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../..");
export const example = (name) => JSON.parse(readFileSync(join(source, "api/examples", `${name}.json`), "utf8"));
const kTypes = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
export const kPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const kStart = Date.now() - 150_000;
const at = (seconds) => new Date(kStart + seconds * 1000).toISOString();
export const kSecret = "fixture-token";

class World {
  constructor() {
    this.seq = 0;
    this.events = [];
    this.jobs = new Map();
    this.jobsPage = Infinity; // jobs on a page at most, as if the page asked for so few
    this.nodes = [];
    this.points = new Map();
    this.workers = new Map();
    this.explanations = new Map();
    this.decisions = [];
    this.tenants = example("tenants"); // null: a daemon that knows none
    this.observed = { start: { all: 40, within: 33 }, end: { all: 200, within: 162 } };
    this.role = "submitter"; // of the token
    this.streams = new Set();
  }

  emit(type, more, data) {
    const event = { ...example("event"), seq: ++this.seq, at: new Date().toISOString(), type, job: null, node: null, decision: null, ...more, data };
    this.events.push(event);
    for (const stream of this.streams) stream.write(`id: ${event.seq}\nevent: ${type}\ndata: ${JSON.stringify(event)}\n\n`);
    return event;
  }

  page(items) { return { ...example("job_list"), items, next_cursor: null, as_of_seq: this.seq }; }
}

// Seconds from now on.
const expected = (early, middle, late, basis = "declared") => {
  const from = (seconds) => new Date(Date.now() + seconds * 1000).toISOString();
  return { early: from(early), expected: from(middle), late: from(late), basis };
};
const forecastOf = (start, end) => ({ ...example("job").forecast, start, end, computed_at: new Date().toISOString() });

const reasonOf = (code, text, numbers = {}) => ({ code, numbers, text });
const kSpeed = { 1: 5626, 2: 9121, 3: 9260, 4: 9010 };

// The job of api/examples at the end of its exploration: 1, 2, 3 workers tried, 2 kept; optionally a slow rank.
export function demoWorld({ straggler = false } = {}) {
  const world = new World();
  const job = { ...example("job"), state: "running", size: 2, target_size: 2, generation: 4, submitted_at: at(0), started_at: at(1.4) };
  job.progress = { ...job.progress, step: 2370, steps_total: 4000, fraction: 2370 / 4000, samples: 1213440, loss: 1.94, samples_per_second: 9121, first_loss: 4.52 };
  job.cost = { amount: "0.0831", currency: "USD", slot_seconds: 299, per_hour: "2.00" };
  job.forecast = forecastOf(null, expected(150, 215, 330));
  job.sizes = [1, 2, 3].map((size) => ({ size, steps: 300 + 10 * size, step_ms: 512_000 / kSpeed[size], samples_per_second: kSpeed[size], efficiency: [null, 0.62, 0.04][size - 1] }));
  const why = example("explain");
  why.as_of_seq = 0;
  job.reason = why.reason;
  world.jobs.set(job.id, job);
  const other = { ...structuredClone(job), id: "job-2", name: "mlp-wine", tenant: "research", state: "pending", size: 0, target_size: 0, min: 2, max: 4, sizes: [], started_at: null, generation: 0, labels: {},
    submitted_at: at(120), reason: reasonOf("WaitingForSlots", "waits for 2 slots: 2 are free, and 1 job is ahead"), forecast: forecastOf(expected(470, 725, 1490), expected(6600, 7800, 10_800, "kin")), cost: { ...job.cost, amount: "0", per_hour: "0", slot_seconds: 0 },
    progress: { ...job.progress, step: 0, fraction: 0, samples: 0, loss: null, first_loss: null, samples_per_second: 0 } };
  const done = { ...structuredClone(job), id: "job-3", name: "charlm-small", state: "succeeded", size: 0, target_size: 0, finished_at: at(60), submitted_at: at(-400), forecast: null, reason: reasonOf("Finished", "finished after 4,000 steps"),
    cost: { ...job.cost, amount: "0.0412", per_hour: "0" }, progress: { ...job.progress, step: 4000, fraction: 1, loss: 1.41 } };
  world.jobs.set(other.id, other).set(done.id, done);
  world.nodes = [example("node")];
  world.nodes[0].slots[2] = { index: 2, job: null, worker: null };
  world.explanations.set(job.id, why);
  world.workers.set(job.id, [0, 1].map((rank) => ({ ...example("worker"), id: `w-${rank + 1}`, rank, slots: [rank], compute_ms: 41 + rank * 0.7, straggler_score: 0.98 })));
  seedHistory(world, job, straggler);
  return world;
}

// Forty points a size, a switch between sizes, and the decisions that caused them.
function seedHistory(world, job, straggler) {
  const spans = [[1, 2, 30], [2, 30, 70], [3, 70, 105], [2, 105, 150]];
  const points = [];
  let step = 0;
  for (const [size, from, to] of spans) {
    for (let second = from; second < to; second += 1) {
      step += kSpeed[size] / 512;
      const wave = 1 + 0.025 * Math.sin(second * 1.7) + 0.012 * Math.cos(second * 4.1);
      const compute = Array.from({ length: size }, (_, rank) => (82 / size) * wave * (1 + 0.03 * Math.sin(second + rank * 2)) * (straggler && rank === 1 && second > 125 ? 2 : 1));
      points.push({ at: at(second), step: Math.round(step), size, generation: spans.findIndex((span) => span[1] === from) + 1, samples_per_second: kSpeed[size] * wave,
        step_ms: 512_000 / kSpeed[size], loss: 1.7 + 2.8 * Math.exp(-second / 55) + 0.03 * Math.sin(second * 2.3), compute_ms: compute });
    }
  }
  world.points.set(job.id, points);
  const put = (second, type, data, more = {}) => { world.emit(type, { job: job.id, tenant: "demo", at: at(second), ...more }, data); };
  put(0, "job.submitted", { name: job.name, min: 1, max: 4, preferred: 2 });
  put(2, "job.started", { size: 1 });
  const moves = [
    [30, 1, 2, reasonOf("ExploreUp", "growing 1 -> 2: only one size has been measured")],
    [70, 2, 3, reasonOf("EfficientUp", "growing 2 -> 3: the last worker added 62 % of a worker's throughput, more than the 10 % asked for")],
    [105, 3, 2, reasonOf("InefficientDown", "shrinking 3 -> 2: the last worker added 4 % of a worker's throughput, less than the 10 % asked for")],
  ];
  moves.forEach(([second, from, to, reason], index) => {
    const id = `dec-${index + 2}`;
    const kind = to > from ? "grow" : "shrink";
    world.decisions.unshift({ ...example("decision"), id, at: at(second - 0.4), intents: [{ kind, job: job.id, job_name: job.name, workers: ["w-3"], from, to, reason }], verdicts: [] });
    put(second - 0.4, "job.resizing", { from, to, reason }, { decision: id });
    put(second, "generation.switched", { generation: index + 2, reason, from_size: from, to_size: to, stall_ms: 31.5 + 8 * index, steps_redone: 0, samples_repeated: 0, build_ms: 412, bytes_moved: to > from ? 1_843_200 : 0, switch_step: 300 * (index + 1) });
    put(second + 0.1, "job.resized", { from, to });
  });
  put(96, "data.epoch_audited", { epoch: 1, expected: 65536, used: 65536, checksum_ok: true });
  if (straggler) {
    put(131, "worker.straggling", { worker: "w-2", detector: "change_point", score: 0.49, threshold: 0.92, follows: "worker", node_peers: 1, node_slow: 0, waited_s: 1.2, next_action: "replace", action_cost_s: 3.4 });
    Object.assign(world.workers.get(job.id)[1], { straggler: true, straggler_score: 0.49, compute_ms: 83.1 });
  }
}

// The demo's waiting job as a policy for the whole cluster explains it; and behind what changed something, decisions that
// only weighed anew.
export function pricedWorld({ quiet = 90 } = {}) {
  const world = demoWorld();
  const waits = reasonOf("PriceWait", "waits: a slot is worth 0.0041 to it, and the price of a slot is 4.18", { needed: 2, worth: 0.0041, price: 4.18, rival: 1, rival_worth: 4.26 });
  const job = world.jobs.get("job-2");
  job.reason = waits;
  world.explanations.set(job.id, { ...example("explain"), job: job.id, state: "pending", summary: waits.text, reason: waits,
    evidence: ["score by its policy's measure: holding nothing 0, 2 workers -8.35"], chosen: { size: 0, score: 0, reason: waits },
    alternatives: [{ size: 2, score: -8.3518, reason: waits }, { size: 4, score: -16.7, reason: waits }], ahead: ["job-1"], as_of_seq: world.seq,
    unblocks: ["a price of a slot below 0.0041; it is 4.18", "the end of job-1, to which a slot is worth 4.26, the least of all that hold one"] });
  for (let n = 0; n < quiet; ++n) world.decisions.unshift({ ...example("decision"), id: `dec-${n + 20}`, at: at(150 + n * 0.1), intents: [], verdicts: [], targets: [] });
  return world;
}

// A thousand nodes of eight slots with a few hundred jobs; one node in fifty is lost or cordoned.
export function bigWorld({ nodes = 1000, slots = 8 } = {}) {
  const world = new World();
  const template = example("job");
  let number = 0;
  let left = 0;
  const held = new Map();
  for (let n = 0; n < nodes; ++n) {
    const state = n % 97 === 41 ? "lost" : "up";
    const cordoned = n % 61 === 17;
    const node = { ...example("node"), id: `node-${n + 1}`, name: `gpu-${String(n + 1).padStart(4, "0")}`, state, cordoned, slot_type: "h200", price_per_slot_hour: "3.20", slots: [] };
    for (let index = 0; index < slots; ++index) {
      if (left === 0) { left = [4, 8, 16, 24, 64, 96][(number * 7 + n) % 6]; number += 1; }
      const idle = state !== "up" || cordoned || (n * 13) % 11 === 3;
      if (idle) { node.slots.push({ index, job: null, worker: null }); continue; }
      left -= 1;
      const job = `job-${number}`;
      held.set(job, (held.get(job) ?? 0) + 1);
      node.slots.push({ index, job, worker: `w-${n * slots + index}` });
    }
    world.nodes.push(node);
  }
  for (const [id, size] of held) {
    const seconds = Number(id.slice(4)) * 31;
    const fraction = (Number(id.slice(4)) * 37 % 100) / 100;
    world.jobs.set(id, { ...structuredClone(template), id, name: `${["llm-7b", "vit-l", "whisper", "gnn-mol", "dlrm"][size % 5]}-run-${id.slice(4)}`, tenant: ["vision", "language", "search", "bio"][size % 4], state: "running", size, target_size: size, min: 1, max: size * 2,
      submitted_at: at(-seconds), cost: { amount: String(seconds * size * 0.0009), currency: "USD", slot_seconds: seconds * size, per_hour: String(size * 3.2) },
      progress: { ...template.progress, fraction, step: Math.round(fraction * 40000), steps_total: 40000, samples_per_second: size * 812.4, loss: 2.1 + fraction },
      forecast: null, reason: reasonOf("EfficiencySettled", `keeps ${size} workers: one more would add 6 % of a worker's throughput, less than the 10 % asked for`) });
  }
  for (let n = 1; n <= 40; ++n) {
    const id = `job-${number + n}`;
    world.jobs.set(id, { ...structuredClone(template), id, name: `sweep-${n}`, state: "pending", size: 0, target_size: 0, min: 8, max: 64, submitted_at: at(-n * 20), sizes: [], forecast: null,
      reason: reasonOf("WaitingForSlots", `waits for 8 slots together: ${n % 7} are free, and ${n} jobs are ahead`), cost: { ...template.cost, amount: "0", per_hour: "0" },
      progress: { ...template.progress, step: 0, fraction: 0, loss: null, samples_per_second: 0 } });
  }
  world.emit("policy.activated", {}, { policy: "tidal" });
  return world;
}

// Starts listening on a free port. `down(true)` drops every connection and refuses new ones until down(false).
export async function serve(world, dist) {
  let refusing = false;
  const server = createServer((request, response) => {
    if (refusing) return request.socket.destroy();
    const url = new URL(request.url, "http://fixture");
    if (url.pathname.startsWith("/v1/")) return answer(world, url, request, response);
    return file(dist, url.pathname, response);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    down(value) {
      refusing = value;
      if (value) server.closeAllConnections();
    },
    close: () => new Promise((closed) => { server.close(closed); server.closeAllConnections(); }),
  };
}

function file(dist, path, response) {
  const name = join(dist, normalize(path === "/" ? "/index.html" : path));
  if (!name.startsWith(dist) || !existsSync(name)) return response.writeHead(404).end();
  response.writeHead(200, { "Content-Type": kTypes[extname(name)] ?? "application/octet-stream", "Content-Security-Policy": kPolicy });
  return createReadStream(name).pipe(response);
}

function send(response, status, body) {
  response.writeHead(status, { "Content-Type": status < 400 ? "application/json" : "application/problem+json" }).end(JSON.stringify(body));
}

function answer(world, url, request, response) {
  const problem = (status, code, detail) => send(response, status, { ...example("problem"), title: code, status, code, detail, errors: [], hint: "" });
  if (request.headers.authorization !== `Bearer ${kSecret}`) return problem(401, "Unauthorized", "this token is unknown");
  const [, , what, id, sub] = url.pathname.split("/");
  const after = Number(url.searchParams.get("after") ?? 0);
  if (request.method === "POST" && (what === "plan" || (what === "jobs" && id === undefined)) && world.onFile) {
    return takeFile(world, what === "plan" ? "plan" : url.searchParams.has("dry_run") ? "decision" : "submitted", request, response);
  }
  if (what === "events" && id === "stream") return stream(world, after, request, response);
  if (what === "events") return send(response, 200, world.page(eventsOf(world, null, url.searchParams)));
  if (what === "whoami") return send(response, 200, { id: "tok-1", name: "fixture", role: world.role, tenant: world.ownTenant ?? null, created_at: at(0), expires_at: null, state: "valid", revoked: false });
  if (what === "nodes") return send(response, 200, world.page(world.nodes));
  if (what === "policies") return send(response, 200, world.page([example("policy")]));
  if (what === "decisions") {
    const [from, limit] = [Number(url.searchParams.get("cursor") ?? 0), Number(url.searchParams.get("limit") ?? 100)];
    const rest = from + limit < world.decisions.length ? String(from + limit) : null;
    return send(response, 200, { ...world.page(world.decisions.slice(from, from + limit)), next_cursor: rest });
  }
  if (what === "forecast") return send(response, 200, forecasts(world));
  if (what === "tenants" && world.tenants !== null) return send(response, 200, world.tenants);
  if (what === "usage" && world.tenants !== null) return send(response, 200, usageOf(url.searchParams.get("window")));
  if (what !== "jobs") return problem(404, "NotFound", `there is no ${url.pathname}`);
  if (id === undefined) return send(response, 200, jobsOf(world, url.searchParams));
  const job = world.jobs.get(id);
  if (!job) return problem(404, "NotFound", `there is no job ${id}`);
  if (request.method !== "GET") return problem(403, "Forbidden", "this needs a token with the role submitter or admin");
  const points = world.points.get(id) ?? [];
  const curve = [1, 2, 3, 4].map((size) => ({ size, samples_per_second: (kSpeed[1] * size) / (1 + 0.2 * (size - 1) + 0.06 * size * (size - 1)) }));
  const answers = {
    undefined: () => job,
    metrics: () => ({ ...example("job_metrics"), job: id, points, sizes: job.sizes, fit: job.sizes.length > 1 ? { model: "usl", sigma: 0.2, kappa: 0.06, curve } : null, as_of_seq: world.seq }),
    workers: () => world.page(world.workers.get(id) ?? []),
    explain: () => world.explanations.get(id) ?? { ...example("explain"), job: id, state: job.state, summary: job.reason.text, reason: job.reason, evidence: [], alternatives: [], unblocks: [], as_of_seq: world.seq },
    events: () => world.page(eventsOf(world, id, url.searchParams)),
  };
  return answers[sub] ? send(response, 200, answers[sub]()) : problem(404, "NotFound", `there is no ${url.pathname}`);
}

function jobsOf(world, asked) {
  const states = asked.get("state")?.split(",");
  const found = [...world.jobs.values()].filter((job) => states === undefined || states.includes(job.state)).map(({ spec, ...listed }) => listed);
  const [from, limit] = [Number(asked.get("cursor") ?? 0), Math.min(Number(asked.get("limit") ?? 100), world.jobsPage)];
  return { ...world.page(found.slice(from, from + limit)), next_cursor: from + limit < found.length ? String(from + limit) : null };
}

// Of one job; null: of all.
function eventsOf(world, job, asked) {
  const [after, type] = [Number(asked.get("after") ?? 0), asked.get("type")];
  const found = world.events.filter((event) => (job === null || event.job === job) && event.seq > after && (type === null || event.type === type));
  return asked.get("order") === "desc" ? found.reverse() : found;
}

// A job file; plan_fixture.mjs says what becomes of it.
async function takeFile(world, what, request, response) {
  let text = "";
  for await (const part of request) text += part;
  const { status, body } = await world.onFile(what, text, request.headers["idempotency-key"]);
  if (!response.destroyed) send(response, status, body);
}

function forecasts(world) {
  const items = [...world.jobs.values()].flatMap(({ id, name, forecast }) => (forecast ? [{ job: id, name, forecast }] : []));
  return { ...world.page(items), computed_at: new Date().toISOString(), until: null, cut_short: false, policy: "tidal", observed: world.observed };
}

// Of the days up to today, the same each time.
function usageOf(window) {
  const today = new Date();
  const monday = today.getUTCDate() - ((today.getUTCDay() + 6) % 7);
  const [first, last] = window === "week" ? [monday, monday + 6] : [1, new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 0)).getUTCDate()];
  const day = (number) => new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), number)).toISOString().slice(0, 10);
  const rows = [];
  for (let number = first; number <= today.getUTCDate(); ++number) {
    const hours = 40 + ((number * 37) % 60);
    rows.push({ by: { tenant: "vision", day: day(number) }, jobs: 2 + (number % 5), slot_seconds: hours * 3600, cost: (hours * 2).toFixed(2) });
    if (number % 3 === 0) rows.push({ by: { tenant: "guests", day: day(number) }, jobs: 1, slot_seconds: 7200, cost: "4.00" });
  }
  return { ...example("usage"), by: ["tenant", "day"], from: day(first), to: day(last), rows };
}

// A tree whose tenants show all that a tree can: borrowed, lent and owed slots, budgets that last, near their end, spent.
export function sharedWorld() {
  const world = demoWorld();
  const [lab, vision, guests] = world.tenants.tenants;
  const now = (more) => ({ ...guests.now, ...more });
  const budget = (limit, spent, rate, more = {}) => ({ budget: { ...lab.budget, limit }, now: { spent, rate_per_hour: rate, expected: spent, window_ends_at: lab.now.budget.window_ends_at, limit_reached_at: null, action: null, next: null, ...more } });
  const spent = budget("800.00", "803.20", "0.00", { action: "pause" });
  const near = budget("2000.00", "1720.00", "12.00", { limit_reached_at: "2026-11-29T21:40:00.000Z", next: { percent: 100, action: "pause", at: "2026-11-29T21:40:00.000Z" } });
  const made = (name, parent, more, held) => ({ ...guests, name, parent, path: parent ? [parent, name] : [name], weight: 1, ...more, now: now(held) });
  world.tenants.tenants = [
    { ...lab, now: { ...lab.now, held: 9, entitled: 11, wanted: 14 } },
    { ...vision, now: { ...vision.now, held: 7, entitled: 7, wanted: 10 } },
    made("speech", "lab", { guarantee: 4 }, { held: 2, entitled: 4, wanted: 4, satisfied: false, jobs_running: 1, jobs_waiting: 1, slot_hours: 310, cost: "620.00" }),
    made("search", null, { guarantee: 6, weight: 3, budget: near.budget }, { held: 3, entitled: 3, wanted: 3, jobs_running: 2, slot_hours: 860, cost: "1720.00", budget: near.now }),
    made("bio", null, { guarantee: 2, budget: spent.budget }, { jobs_waiting: 3, slot_hours: 401.6, cost: "803.20", budget: spent.now }),
    guests,
  ];
  world.nodes = [0, 1].map((n) => ({ ...example("node"), id: `node-${n + 1}`, name: `gpu-${n + 1}`, slots: Array.from({ length: 8 }, (_, index) => ({ index, job: null, worker: null, busy: n * 8 + index < 12 })) }));
  Object.assign(world.jobs.get("job-1"), { tenant: "vision" });
  Object.assign(world.jobs.get("job-2"), { tenant: "speech" });
  return world;
}

function stream(world, after, request, response) {
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  response.write(": open\n\n");
  for (const event of world.events.filter((old) => old.seq > after)) response.write(`id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  world.streams.add(response);
  request.on("close", () => world.streams.delete(response));
}
