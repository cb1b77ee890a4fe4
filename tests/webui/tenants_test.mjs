// Tenants, budgets and forecasts on a real daemon with a real agent, in a real browser. Most jobs only sleep: their
// slots count, and the processor is left to the one that trains.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch, onTab, shoot } from "./browser.mjs";
import { eventually, source, startDaemon } from "./daemon.mjs";

const kTree = {
  half_life: "24h", rebalance_every: "5m", churn: { per_job: 9, window: "1h" },
  tenants: [
    { name: "lab", guarantee: 4, weight: 2, budget: { limit: "500.00", window: "month", thresholds: [{ percent: 80, action: "warn" }, { percent: 95, action: "shrink" }, { percent: 100, action: "pause" }] },
      tenants: [{ name: "vision", guarantee: 2, weight: 3, lend: 1, job_slots_max: 4 }, { name: "speech", guarantee: 2 }] },
    // A slot costs a dollar an hour: what three of them cost in 48 seconds.
    { name: "product", guarantee: 3, budget: { limit: "0.04", window: "week" } },
    { name: "guests", weight: 0 },
  ],
};
let daemon;
let browser;
const api = (...request) => daemon.api(...request);

const submit = (name, tenant, min, max, more) => api("POST", "/v1/jobs", { name, tenant, resources: { gpus_per_worker: 1 }, elastic: { min, max, preferred: max }, ...more });
const sleeps = (name, tenant, min, max) => submit(name, tenant, min, max, { run: { command: ["sleep", "3600"], resize: "restart" } });
const trains = (name, tenant, steps) => submit(name, tenant, 1, 1, {
  run: { trainer: "charlm", args: { data: [join(source, "README.md")], steps, hidden: 64 } }, batch: { global: 256, per_worker_max: 256 }, work: { samples: 256 * steps },
});

before(async () => {
  browser = await launch();
  daemon = await startDaemon({ slots: 8 });
});
after(async () => {
  await daemon?.stop();
  await browser?.close();
});

const onPage = ({ hash = "#/tenants", token, ...look }, body) => onTab(browser, { url: daemon.address(hash, token), ...look }, body);

const line = (page, tenant) => page.locator(`[data-testid="tenants"] tr[data-tenant="${tenant}"]`);

test("a tree that is set appears without a reload on the page that says how to begin", () => onPage({}, async (page) => {
  await page.getByText("schedctl tenants apply tenants.yaml").waitFor();
  await page.locator(".link-state.live").waitFor();
  await api("PUT", "/v1/tenants", kTree);
  await line(page, "speech").waitFor();
  assert.equal(await page.locator('[data-testid="tenants"] tbody tr').count(), 5);
  assert.equal(await page.getByTestId("preemption-limits").innerText(), "Beyond guarantees: a job is preempted at most 9 times in 1h.");
}));

test("each line says what the API says while jobs come, borrow and wait", async () => {
  await trains("faces", "vision", 100_000);
  await sleeps("detector", "vision", 2, 3);
  await sleeps("ranker", "product", 3, 3);
  await sleeps("try-it", "guests", 2, 2);
  await sleeps("asr", "speech", 2, 4);
  await onPage({}, async (page) => {
    await eventually("a full pool", async () => (await api("GET", "/v1/tenants")).tenants.reduce((sum, { parent, now }) => sum + (parent === null ? now.held : 0), 0) >= 7);
    await eventually("the lines to say what the API says", async () => {
      for (const { name, guarantee, now } of (await api("GET", "/v1/tenants")).tenants) {
        const said = await line(page, name).innerText();
        for (const words of [`${now.held} in use`, `${guarantee} guaranteed`, `${now.entitled} entitled`, `${now.jobs_running} running`, `${now.jobs_waiting} waiting`]) {
          if (!said.includes(words)) return false;
        }
      }
      return true;
    });
    await line(page, "lab").getByText(/of \$500\.00 a month/).waitFor();
  });
});

test("a budget that is spent says until when its jobs are paused, and the job says when it starts", () => onPage({}, async (page) => {
  await line(page, "product").getByText(/^paused until \d+ \w+ 00:00 UTC$/).waitFor({ timeout: 90_000 });
  const { items } = await api("GET", "/v1/jobs?limit=500");
  const ranker = items.find((job) => job.name === "ranker").id;
  await eventually("a forecast of its start", async () => (await api("GET", `/v1/jobs/${ranker}`)).forecast?.start, 60_000);
  await page.evaluate((id) => { location.hash = `#/jobs/${id}`; }, ranker);
  await page.locator('[data-testid="forecast"]', { hasText: /^Starts / }).waitFor({ timeout: 40_000 });
  await page.locator('[data-testid="observed"]').waitFor();
  await page.getByText(/^tenant product may have \d+ slots? now/).waitFor();
  await page.getByRole("link", { name: "product" }).click();
  await page.locator(".tenant-panel").getByRole("heading", { name: "product" }).waitFor();
}));

test("a chosen tenant shows its limits, its jobs and what it used by day, as the API has it", () => onPage({ hash: "#/tenants/vision" }, async (page) => {
  const panel = page.locator(".tenant-panel");
  await panel.getByText("at most 4", { exact: true }).waitFor();
  await panel.getByRole("link", { name: "detector" }).waitFor();
  await page.getByText("As a table").click();
  const today = page.locator('[data-testid="usage-days"] tbody tr').first();
  await today.waitFor();
  const { rows } = await api("GET", "/v1/usage?by=tenant,day&window=month");
  const used = rows.filter(({ by }) => by.tenant === "vision");
  assert.equal(await today.locator("td").first().innerText(), String(used[used.length - 1].jobs));
  await panel.getByRole("link", { name: "faces" }).click();
  await page.locator('[data-testid="why-summary"]').waitFor();
}));

test("a job that runs tells its end in the list", () => onPage({ hash: "#/" }, async (page) => {
  await page.locator(".job-table tbody", { has: page.getByRole("link", { name: "faces" }) }).locator(".forecast", { hasText: /^ends / }).waitFor({ timeout: 60_000 });
}));

test("a token of one tenant sees its own, and of those above it what is set", async () => {
  const { token } = await api("POST", "/v1/tokens", { name: "vision's", role: "viewer", tenant: "vision" });
  await onPage({ token }, async (page) => {
    await line(page, "lab").getByText("what it has is not shown to this token").waitFor();
    await line(page, "vision").getByText(/in use/).waitFor();
    assert.equal(await page.locator('[data-testid="tenants"] tbody tr').count(), 2);
  });
});

for (const size of ["wide", "narrow"]) {
  for (const theme of ["light", "dark"]) {
    test(`pictures of the tenants, ${size} and ${theme}`, () => onPage({ hash: "#/tenants/lab", size, theme }, async (page) => {
      await page.locator('[data-testid="usage-sum"]').waitFor();
      await page.locator(".link-state.live").waitFor();
      await page.locator('[data-testid="in-force"]').first().waitFor();
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page of tenants scrolls sideways");
      await shoot(page, `tenants-${size}-${theme}`);
    }));
  }
}
