// Takes the pictures of docs/images that show a live pool, for tools/take-pictures: the overview, a job, the tenants. A
// daemon with four nodes on this machine, four tenants at the top and nine jobs. Most jobs only sleep; two train.
import { spawn } from "node:child_process";
import { mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, onTab } from "./browser.mjs";
import { eventually, source, startDaemon } from "./daemon.mjs";

const kNodes = ["node-a1", "node-a2", "node-b1", "node-b2"];
const kSlots = 4; // of a node
const kTrainMs = 30_000; // so that the curves of the job have a shape
const kLimits = (limit, window) => ({ limit, window, thresholds: [{ percent: 80, action: "warn" }, { percent: 100, action: "pause" }] });
const kTree = {
  half_life: "24h", rebalance_every: "5m", churn: { per_job: 20, window: "1h" },
  tenants: [
    { name: "research", guarantee: 8, weight: 2, budget: kLimits("250.00", "month"), tenants: [{ name: "language", guarantee: 4, weight: 2 }, { name: "vision", guarantee: 4 }] },
    { name: "search", guarantee: 5, budget: kLimits("8.00", "day") },
    { name: "bio", guarantee: 3, budget: kLimits("0.02", "week") }, // a slot costs a dollar an hour: 36 seconds of two
    { name: "guests", weight: 0 },
  ],
};
const sleeps = (name, tenant, min, max, more) => ({ name, tenant, run: { command: ["sleep", "3600"], resize: "restart" }, elastic: { min, max, cooldown: "1s" }, labels: { team: tenant }, ...more });
const trains = (name, tenant, max, steps) => ({
  name, tenant, run: { trainer: "charlm", args: { data: ["README.md", "docs"], steps, hidden: 192 }, workdir: source }, elastic: { min: 1, max, cooldown: "2s" },
  batch: { global: 512, per_worker_max: 512 }, scaling: { every_steps: 20, efficiency_threshold: 0.1 }, labels: { project: "demo" },
});
const kJobs = [ // the newest stand on top
  sleeps("folding", "bio", 2, 2), sleeps("segment", "vision", 2, 3), sleeps("embed", "search", 4, 6), sleeps("detector", "vision", 2, 2),
  sleeps("ranker", "search", 3, 4), sleeps("try-it", "guests", 2, 4), trains("notes-lm", "language", 1, 6000), trains("docs-lm", "language", 4, 9000), sleeps("sweep", "guests", 4, 4),
];

const folder = mkdtempSync(join(tmpdir(), "tidepool-pictures-"));
const state = join(folder, "state");
const agents = [];

function startNode(name) {
  const log = openSync(join(folder, `${name}.log`), "a");
  const where = ["--daemon-socket", join(state, "agent.sock"), "--token-file", join(state, "agent.token"), "--state-dir", join(folder, name)];
  const agent = spawn(join(process.env.TIDEPOOL_BIN_DIR, "agentd"), [...where, "--node", name, "--slots", String(kSlots), "--isolation", "none", "--stop-workers"], { stdio: ["ignore", log, log] });
  agents.push({ agent, ended: new Promise((ended) => { agent.once("exit", ended); }) });
}

// Returns the job whose page is shown.
async function lively(daemon) {
  for (const name of kNodes) startNode(name);
  await eventually("the nodes", async () => (await daemon.api("GET", "/v1/nodes")).items.length === kNodes.length);
  await daemon.api("PUT", "/v1/tenants", kTree);
  const ids = [];
  for (const job of kJobs) ids.push((await daemon.api("POST", "/v1/jobs", job)).id);
  await eventually("a spent budget", async () => (await daemon.api("GET", "/v1/tenants")).tenants.some(({ now }) => now.budget?.action === "pause"), 120_000);
  await new Promise((passed) => { setTimeout(passed, kTrainMs); });
  return ids[kJobs.findIndex(({ name }) => name === "docs-lm")];
}

async function takePictures(daemon, browser, job) {
  const of = (name, hash, theme, ready) => onTab(browser, { url: daemon.address(hash), theme }, async (page) => {
    await page.locator(ready).first().waitFor();
    await page.locator(".link-state.live").waitFor();
    await page.waitForTimeout(2000); // for the first events after the page was read
    await page.screenshot({ path: join(source, `docs/images/${name}.png`) });
  });
  await of("overview", "#/", "light", ".job-table tbody");
  await of("job", `#/jobs/${job}`, "dark", ".history canvas");
  await of("tenants", "#/tenants/research", "light", '[data-testid="usage-sum"]');
}

const browser = await launch();
const daemon = await startDaemon({ stateDir: state });
try {
  const job = await lively(daemon);
  await takePictures(daemon, browser, job);
} finally {
  await browser.close();
  await daemon.stop();
  for (const { agent, ended } of agents) {
    agent.kill();
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
}
