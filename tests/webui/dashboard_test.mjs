// The dashboard on a real daemon with a real agent and a real job, in a real browser.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch, onTab, shoot } from "./browser.mjs";
import { eventually, source, startDaemon } from "./daemon.mjs";

const kLearnMs = 120_000; // for the engine to have tried a second size
let daemon;
let browser;
let job;
const api = (...request) => daemon.api(...request);

before(async () => {
  browser = await launch();
  daemon = await startDaemon({ slots: 4 });
  const made = await api("POST", "/v1/jobs", {
    name: "charlm-demo", tenant: "demo",
    run: { trainer: "charlm", args: { data: [join(source, "README.md"), join(source, "docs")], steps: 100_000, hidden: 64 } },
    resources: { gpus_per_worker: 1 }, elastic: { min: 1, max: 4, preferred: 1, cooldown: "1s" },
    batch: { global: 256, per_worker_max: 256 }, scaling: { every_steps: 10, efficiency_threshold: 0.1 }, labels: { project: "demo" },
  });
  job = made.id;
});

after(async () => {
  await daemon?.stop();
  await browser?.close();
});

const onPage = ({ hash = "#/", ...look }, body) => onTab(browser, { url: daemon.address(hash), ...look }, body);

test("steps, size and cost move on the overview without a reload", () => onPage({}, async (page) => {
  const row = page.locator(`tbody[data-job="${job}"]`);
  await row.waitFor();
  await page.evaluate(() => { window.marked = true; });
  const step = async () => Number((/step ([\d,]+)/.exec(await row.locator(".progress-cell").getAttribute("title")) ?? [])[1]?.replaceAll(",", ""));
  const first = await eventually("a first step", async () => (await step()) || null, 60_000);
  await eventually("ten more steps", async () => (await step()) >= first + 10, 60_000);
  await page.locator(`.cell[data-job="${job}"]`).first().waitFor();
  assert.equal(await page.evaluate(() => window.marked), true);
}));

test("the job page marks each resize and says why in the engine's words", () => onPage({ hash: `#/jobs/${job}` }, async (page) => {
  await eventually("a change of size in the job's events", async () =>
    (await api("GET", `/v1/jobs/${job}/events?limit=1000`)).items.some((event) => event.type === "job.resized"), kLearnMs);
  await page.locator(".rail .marker.change").first().waitFor();
  await page.locator('[data-testid="generations"] tbody tr').first().waitFor();
  await eventually("the panel to say what the API says", async () => {
    const shown = await page.locator('[data-testid="why-summary"]').innerText();
    const why = await api("GET", `/v1/jobs/${job}/explain`);
    return shown === why.summary;
  });
  const marker = page.locator(".rail .marker.change").first();
  await marker.focus();
  const sentences = (await api("GET", `/v1/jobs/${job}/events?limit=1000`)).items.filter((event) => event.type === "job.resizing").map((event) => event.data.reason.text);
  const bubble = await page.locator(".bubble").innerText();
  assert.ok(sentences.some((sentence) => bubble.includes(sentence)), `${bubble} holds none of ${sentences}`);
}));

test("a job that waits says what a slot is worth to it, and what came nearest", async () => {
  const waiting = (await api("POST", "/v1/jobs", {
    name: "charlm-late", tenant: "demo", priority: "low",
    run: { trainer: "charlm", args: { data: [join(source, "README.md")], steps: 100_000, hidden: 64 } },
    resources: { gpus_per_worker: 1 }, elastic: { min: 4, max: 4, preferred: 4 }, batch: { global: 256, per_worker_max: 256 },
  })).id;
  const explained = () => api("GET", `/v1/jobs/${waiting}/explain`);
  await onPage({ hash: `#/jobs/${waiting}` }, async (page) => {
    await eventually("a plan that gives the job nothing", async () => { const why = await explained(); return why.state === "pending" && why.chosen?.size === 0 && why.alternatives.length > 0; });
    await eventually("the panel to show what the API says", async () => {
      const why = await explained();
      const shown = await page.locator('[data-testid="why-sizes"] tbody tr').evaluateAll((rows) => rows.map((row) => [row.children[0].innerText.replace(/\s*chosen$/, " chosen"), row.children[2].innerText.trim()]));
      const told = [["0 chosen", why.chosen.reason.text], ...why.alternatives.map((other) => [String(other.size), other.reason.text])];
      return JSON.stringify(shown) === JSON.stringify(told);
    });
    await page.getByRole("heading", { name: "What would change it" }).waitFor();
  });
});

for (const size of ["wide", "narrow"]) {
  for (const theme of ["light", "dark"]) {
    test(`pictures of the running job, ${size} and ${theme}`, async () => {
      for (const [name, hash, ready] of [["overview", "#/", ".job-table tbody"], ["job", `#/jobs/${job}`, ".why-summary"]]) {
        await onPage({ hash, size, theme }, async (page) => {
          await page.locator(ready).first().waitFor();
          await page.locator(".link-state.live").waitFor();
          if (name === "job") await page.locator(".history canvas").first().waitFor();
          assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} scrolls sideways`);
          await shoot(page, `${name}-${size}-${theme}`);
        });
      }
    });
  }
}

test("the keyboard stays on the button that suspends the job and resumes it", () => onPage({ hash: `#/jobs/${job}` }, async (page) => {
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  await page.getByRole("button", { name: "Suspend" }).focus();
  await page.keyboard.press("Enter");
  await page.locator(".chip", { hasText: "suspended" }).waitFor({ timeout: 60_000 });
  await eventually("the button to resume it", async () => (await focused()) === "Resume");
  await page.keyboard.press("Enter");
  await eventually("the button to suspend it", async () => (await focused()) === "Suspend");
}));

test("a wish for a size, and cancelling with a second question, reach the daemon", () => onPage({ hash: `#/jobs/${job}` }, async (page) => {
  await page.getByRole("button", { name: "Resize …" }).click();
  await page.getByRole("spinbutton", { name: "Workers" }).fill("3");
  await page.getByRole("button", { name: "Pin to 3" }).click();
  await page.getByText("pinned to 3").waitFor();
  assert.equal((await api("GET", `/v1/jobs/${job}`)).pinned_size, 3);
  await page.locator('[data-testid="size"]', { hasText: /^3$/ }).waitFor({ timeout: 60_000 });
  await page.getByRole("button", { name: "Cancel …" }).click();
  await page.getByRole("button", { name: "Cancel the job" }).click();
  await page.locator(".chip", { hasText: "cancelled" }).waitFor({ timeout: 60_000 });
}));
