// Planning a job, and submitting it, on a real daemon with a real agent whose slots are all held, in a real browser. The
// jobs only sleep: their slots count.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, onTab, shoot } from "./browser.mjs";
import { eventually, startDaemon } from "./daemon.mjs";

const kSlots = 4;
let daemon;
let browser;
let low;
const api = (...request) => daemon.api(...request);
const sleeper = (name, more) => ({ name, tenant: "demo", run: { command: ["sleep", "3600"], resize: "restart" }, elastic: { min: 1, max: 1 }, labels: { team: "night" }, ...more });
const kUrgent = sleeper("urgent", { priority: "high", elastic: { min: kSlots, max: kSlots }, work: { samples: 100_000 } });

before(async () => {
  browser = await launch();
  daemon = await startDaemon({ slots: kSlots });
  low = [];
  for (let n = 1; n <= kSlots; ++n) low.push((await api("POST", "/v1/jobs", sleeper(`low-${n}`, { priority: "low", work: { samples: 100_000 } }))).id);
  await eventually("a full pool", async () => (await api("GET", "/v1/jobs")).items.every((job) => job.state === "running"), 60_000);
});
after(async () => {
  await daemon?.stop();
  await browser?.close();
});

const onPage = ({ hash = "#/plan", token, ...look }, body) => onTab(browser, { url: daemon.address(hash, token), ...look }, body);

const text = (page) => page.getByLabel("Job file", { exact: true });
const cells = (page) => page.getByTestId("touched").locator("tbody tr").evaluateAll((rows) => rows.map((row) => [row.dataset.job, row.querySelector("a").innerText, row.querySelector(".tag").innerText]));

// Presses Plan and gives what the daemon has answered.
async function planned(page) {
  const [response] = await Promise.all([
    page.waitForResponse((answer) => new URL(answer.url()).pathname === "/v1/plan"),
    page.getByRole("button", { name: "Plan", exact: true }).click(),
  ]);
  await page.locator('form[aria-busy="false"]').waitFor();
  return response.json();
}

test("a job like another is planned from that job's page, and nothing is stored", () => onPage({ hash: `#/jobs/${low[0]}` }, async (page) => {
  await page.getByRole("link", { name: "plan one like this" }).click();
  await page.getByText("Copied from low-1").waitFor();
  const { spec } = await api("GET", `/v1/jobs/${low[0]}`);
  assert.match(await text(page).inputValue(), /^name: low-1$[^]*^labels: \{team: night\}$/m);
  const [tried] = await Promise.all([page.waitForResponse(/\/v1\/jobs\?dry_run=true$/), planned(page)]);
  assert.deepEqual((await tried.json()).spec, spec);
  await page.getByTestId("plan-answer").getByText("low-1, submitted now").waitFor();
  assert.equal((await api("GET", "/v1/jobs")).items.length, kSlots);
}));

test("what the daemon has against a text stands at its line, and a press on that shows the place", () => onPage({ allow: /status of 4/ }, async (page) => {
  await text(page).fill("run: {comand: [true]}\nelastic:\n  min: 8\n  max: 4\n");
  await planned(page);
  const said = page.getByRole("alert");
  await said.getByText("elastic.min: min is 8; it must not exceed max, which is 4").waitFor();
  await said.getByText('comand is not a field here; did you mean "command"?').waitFor();
  await said.getByRole("button", { name: "line 3, show it in the text" }).click();
  assert.equal(await text(page).evaluate((area) => area.value.slice(area.selectionStart, area.selectionEnd)), "min: 8");
  assert.equal(await text(page).getAttribute("aria-invalid"), "true");
  await text(page).fill("name: x\nname: y\n");
  await planned(page);
  await said.getByText("The text cannot be read as YAML").waitFor();
  await said.getByText('the field "name" appears twice; keep one of them').waitFor();
  await said.getByRole("button", { name: "line 2, show it in the text" }).waitFor();
}));

test("a job that can never start says why, and what would change it", () => onPage({}, async (page) => {
  await text(page).fill(JSON.stringify({ ...kUrgent, elastic: { min: 9, max: 9 } }));
  await planned(page);
  assert.equal(await page.getByTestId("plan-start").innerText(), "not in sight");
  const why = page.getByTestId("plan-waits");
  await why.getByText(`cannot start: it needs 9 slots, and the whole cluster has room for ${kSlots}`).waitFor();
  await why.getByText(`lower elastic.min to ${kSlots}`).waitFor();
  await page.getByTestId("touched-sum").getByText("No other job would be affected.").waitFor();
}));

test("a token that may only read is told so", async () => {
  const { token } = await api("POST", "/v1/tokens", { name: "looks", role: "viewer" });
  await onPage({ token }, async (page) => {
    await page.getByText("Your token may only read.").waitFor();
    assert.equal(await text(page).count(), 0);
  });
});

for (const size of ["wide", "narrow"]) {
  for (const theme of ["light", "dark"]) {
    test(`pictures of a plan, ${size} and ${theme}`, () => onPage({ size, theme }, async (page) => {
      await text(page).fill(JSON.stringify(kUrgent, null, 2));
      await planned(page);
      await page.getByTestId("touched").waitFor();
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the plan scrolls sideways");
      await shoot(page, `plan-${size}-${theme}`);
    }));
  }
}

test("on a full pool a plan names each job that it touches, and what was planned is submitted", () => onPage({ hash: "#/" }, async (page) => {
  await page.getByRole("link", { name: "Plan a job" }).click();
  await text(page).fill(JSON.stringify(kUrgent));
  await text(page).press("Control+Enter");
  const table = page.getByTestId("touched");
  await table.waitFor();
  assert.deepEqual((await cells(page)).sort(), low.map((id, n) => [id, `low-${n + 1}`, "preempted"]));
  await page.getByTestId("touched-sum").getByText(`${kSlots} jobs would be preempted.`).waitFor();
  // A look at one of them, and the answer is still there.
  await table.getByRole("link", { name: "low-2" }).click();
  await page.locator('[data-testid="why-summary"]').waitFor();
  await page.goBack();
  await table.waitFor();
  await text(page).press("End");
  await text(page).press("Enter");
  await page.getByText("The text has changed since").waitFor();
  assert.ok(await page.getByRole("button", { name: "Submit this job …" }).isDisabled());
  await page.getByRole("button", { name: "Back to that text" }).click();
  await page.getByRole("button", { name: "Submit this job …" }).click();
  const question = page.getByRole("dialog");
  await question.getByText(`${kSlots} jobs would be preempted.`).waitFor();
  await question.getByRole("button", { name: "Submit this job" }).click();
  await page.getByRole("heading", { name: "urgent", level: 1 }).waitFor();
  const made = (await api("GET", "/v1/jobs")).items.filter((job) => job.name === "urgent");
  assert.equal(made.length, 1);
  assert.equal(new URL(page.url()).hash, `#/jobs/${made[0].id}`);
  const { spec } = await api("GET", `/v1/jobs/${made[0].id}`);
  assert.deepEqual([spec.run.command, spec.elastic.min, spec.work.samples], [kUrgent.run.command, kSlots, 100_000]);
  await eventually("the jobs that were named to give up their slots", async () => (await Promise.all(low.map((id) => api("GET", `/v1/jobs/${id}`)))).every((job) => job.size === 0), 90_000);
  await page.getByRole("link", { name: "Plan", exact: true }).click();
  await page.getByRole("status").getByText("Submitted as urgent").waitFor();
}));
