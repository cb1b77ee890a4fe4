// Made-up answers to plans in the shapes of api/examples: of a job that takes workers from others, of one that starts at
// once, of one that never does. `world.asked` has each request that was sent, `world.plan` is what answers them.
import { example, demoWorld } from "./fixture_server.mjs";

const kFile = {
  batch: { global: 512, on_resize: "constant", per_worker_max: 512 }, elastic: { cooldown: "2s", max: 4, min: 1, preferred: 2, sizes: [1, 2, 3, 4], step: null },
  labels: { project: "demo" }, name: "charlm-demo", priority: 0, resources: { cpus: null, gpus_per_worker: 1 },
  run: { args: { data: ["README.md", "docs"], hidden: 384, steps: 2400 }, env: {}, trainer: "charlm", workdir: null }, tenant: "demo",
};

// Seconds from one moment on: that of the call, so that no millisecond between two times makes 25 minutes 26.
function timesFromNow() {
  const now = Date.now();
  return (seconds) => new Date(now + seconds * 1000).toISOString();
}

export function planOf(more = {}) {
  const at = timesFromNow();
  const expected = (early, middle, late) => ({ early: at(early), expected: at(middle), late: at(late), basis: "kin" });
  const plan = example("plan");
  const change = (job, name, effect, rest) => ({ ...plan.changes[0], job, name, effect, at: null, from: null, to: null, starts_later_s: null, ends_later_s: null, ...rest });
  plan.forecast = {
    ...plan.forecast, computed_at: at(0), slots_at: at(600), start: expected(380, 610, 1500), end: expected(5100, 6900, 9200),
    sizes: [[0, 0], [600, 2], [2100, 4], [5400, 3], [6900, 0]].map(([from, size]) => ({ at: at(from), size })),
  };
  plan.changes = [
    change("job-1", "charlm-demo", "preempted", { at: at(600), from: 2, to: 0, ends_later_s: 6420.5 }),
    change("job-12", "a-night-run-with-a-rather-long-name-2026", "shrunk", { at: at(600), from: 4, to: 2, ends_later_s: 1260.5 }),
    change("job-2", "mlp-wine", "later", { starts_later_s: 4200, ends_later_s: 4200 }),
  ];
  return { ...plan, ...more };
}

export const kWaits = { ...example("submit_decision"), starts: false, size: 0, places: [], summary: "waits for 2 slots; 1 is free", evidence: ["it takes slots of type h100"], unblocks: ["cancel job-1, which holds 2 slots", "add a node with 1 free slot"] };

export function neverPlan() {
  const at = timesFromNow();
  const forecast = { ...example("plan").forecast, computed_at: at(0), slots_at: null, start: null, end: null, basis: "unknown", outcome: null, not_before: at(604_800), sizes: [{ at: at(0), size: 0 }], cost: { low: "0.00", expected: "0.00", high: "0.00" } };
  return planOf({ forecast, until: at(604_800), changes: [], others_changed: 0 });
}

// The demo, whose first job tells its file; a submitted one joins it as job-9. Each of these may be put in another's place.
export function planningWorld() {
  const world = demoWorld();
  Object.assign(world.jobs.get("job-1"), { spec: kFile, defaults_from: { "elastic.cooldown": "demo" } });
  world.asked = [];
  world.plan = () => ({ status: 200, body: planOf() });
  world.decision = () => ({ status: 200, body: { ...world.jobs.get("job-2"), id: null, decision: kWaits } });
  world.submitted = () => {
    const job = { ...structuredClone(world.jobs.get("job-2")), id: "job-9", name: "charlm-demo" };
    world.jobs.set(job.id, job);
    return { status: 201, body: job };
  };
  world.onFile = (what, text, key) => {
    world.asked.push({ what, text, key });
    return world[what](text);
  };
  return world;
}

export const refusal = (status, code, detail, more = {}) => ({ status, body: { ...example("problem"), title: code, status, code, detail, errors: [], hint: null, ...more } });
