// The list of jobs, and what addresses say of lists and charts, in a real browser before made-up answers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fixturePages } from "./fixture_pages.mjs";
import { demoWorld, sharedWorld } from "./fixture_server.mjs";

const onPage = fixturePages("#/");

const loaded = (page) => page.locator('[data-testid="slots-used"]').waitFor();
const tenantsLoaded = (page) => page.locator('[data-testid="usage-sum"]').waitFor();
const jobLoaded = (page) => page.locator('[data-testid="why-summary"]').waitFor();
const noSidewaysScroll = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
const foundJobs = (page) => page.locator(".job-table tbody").evaluateAll((rows) => rows.map((row) => row.dataset.job));

test("which jobs are shown, what is looked for and the order are in the address, and Back takes a choice back", () => onPage(demoWorld(), {}, async (page, server) => {
  await loaded(page);
  const hash = (wanted) => page.waitForFunction((text) => location.hash === text, wanted);
  const entries = () => page.evaluate(() => history.length);
  await page.getByRole("button", { name: /^All / }).click();
  await page.getByRole("button", { name: "Cost" }).click();
  const before = await entries();
  await page.getByLabel("Filter jobs").pressSequentially("charlm demo=");
  await page.getByLabel("Filter jobs").fill("charlm");
  await hash("#/?show=all&q=charlm&sort=cost");
  assert.equal(await entries(), before, "typing adds no entry");
  assert.deepEqual(await foundJobs(page), ["job-1", "job-3"]);
  await page.getByRole("button", { name: "Cost" }).click();
  await page.reload();
  await loaded(page);
  assert.equal(await page.getByLabel("Filter jobs").inputValue(), "charlm");
  assert.deepEqual(await foundJobs(page), ["job-3", "job-1"]);
  await page.getByRole("link", { name: "charlm-demo" }).first().click();
  await jobLoaded(page);
  await page.goBack();
  await hash("#/?show=all&q=charlm&sort=cost&order=asc");
  await page.goBack();
  await hash("#/?show=all&q=charlm&sort=cost");
  assert.deepEqual(await foundJobs(page), ["job-1", "job-3"]);
  await page.evaluate((address) => { location.href = address; }, `${server.url}/#/?show=ended&sort=nothing`);
  await page.waitForFunction(() => document.querySelectorAll(".job-table tbody").length === 1);
  assert.equal(await page.getByLabel("Filter jobs").inputValue(), "");
  assert.deepEqual(await foundJobs(page), ["job-3"]);
}));

// The demo with 81 more jobs that have ended: job-10 to job-90.
function longWorld() {
  const world = demoWorld();
  const [one] = world.jobs.values();
  for (let n = 90; n >= 10; --n) world.jobs.set(`job-${n}`, { ...one, id: `job-${n}`, name: `sweep-${n}`, state: "succeeded", size: 0, finished_at: new Date().toISOString() });
  return world;
}

test("Back from a job finds as many rows at the same place, and goes on from the link that was followed", () => onPage(longWorld(), { hash: "#/?show=ended" }, async (page) => {
  await loaded(page);
  await page.getByRole("button", { name: "Show 40 more of 82" }).click();
  await page.waitForFunction(() => location.hash === "#/?show=ended&rows=80");
  await page.locator('tbody[data-job="job-20"] a').focus();
  const top = await page.evaluate(() => scrollY);
  assert.ok(top > 1000, `scrolled to ${top}`);
  await page.keyboard.press("Enter");
  await jobLoaded(page);
  assert.equal(await page.evaluate(() => scrollY), 0);
  await page.goBack();
  await page.waitForFunction((wanted) => Math.abs(scrollY - wanted) <= 2, top);
  assert.equal((await foundJobs(page)).length, 80);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("href")), "#/jobs/job-20");
}));

test("the first page of jobs shows at once, and a line says what is still being read", () => {
  const world = longWorld();
  world.jobsPage = 50;
  return onPage(world, { hash: "#/?show=ended" }, async (page) => {
    await loaded(page);
    let answer;
    const asked = new Promise((done) => { answer = done; });
    await page.route(/\/v1\/jobs\?.*cursor=/, async (route) => { await asked; await route.continue(); });
    await page.reload();
    await page.locator('tbody[data-job="job-90"]').waitFor();
    assert.match(await page.getByTestId("jobs-left").innerText(), /^Older ended jobs are being read, the newest first, at most \d+\.$/);
    assert.deepEqual(await page.locator(".jobs .segments button").allInnerTexts(), ["Active 2", "Waiting 1", "Ended 50+", "All 52+"]);
    answer();
    await page.getByRole("button", { name: "Ended 82", exact: true }).waitFor();
    assert.equal(await page.getByTestId("jobs-left").count(), 0);
  });
});

test("the times that charts show are in the address, and a link to another tenant keeps them", async () => {
  const pressed = (page) => page.locator('.segments [aria-pressed="true"]').innerText();
  await onPage(demoWorld(), { hash: "#/jobs/job-1?last=5m" }, async (page) => {
    await jobLoaded(page);
    assert.equal(await pressed(page), "5 min");
    await page.getByRole("button", { name: "1 min" }).click();
    await page.waitForFunction(() => location.hash === "#/jobs/job-1?last=1m");
    await page.reload();
    await jobLoaded(page);
    assert.equal(await pressed(page), "1 min");
  });
  await onPage(sharedWorld(), { hash: "#/tenants?usage=week" }, async (page) => {
    await tenantsLoaded(page);
    await page.locator('[data-testid="usage-sum"]', { hasText: "this week" }).waitFor();
    await page.locator('[data-testid="tenants"] tr[data-tenant="vision"]').getByRole("link").click();
    await page.getByRole("heading", { name: "Usage by day of vision" }).waitFor();
    assert.equal(await pressed(page), "Week");
  });
});

test("what is folded on the page of tenants stays so when another is chosen, and after Back", () => onPage(sharedWorld(), { hash: "#/tenants" }, async (page) => {
  const line = (tenant) => page.locator(`[data-testid="tenants"] tr[data-tenant="${tenant}"]`);
  await tenantsLoaded(page);
  assert.equal(await line("vision").count(), 1);
  await page.getByRole("button", { name: "tenants below lab" }).click();
  await page.waitForFunction(() => location.hash === "#/tenants?folded=lab");
  await line("bio").getByRole("link").click();
  await page.waitForFunction(() => location.hash === "#/tenants/bio?folded=lab");
  await page.evaluate(() => { location.hash = "#/jobs/job-1"; });
  await jobLoaded(page);
  await page.goBack();
  await tenantsLoaded(page);
  assert.equal(await line("bio").count(), 1);
  assert.equal(await line("vision").count(), 0);
}));

test("on a phone, where the table has no head, jobs are ordered by a choice", () => onPage(demoWorld(), { hash: "#/?show=all", size: "narrow" }, async (page) => {
  await loaded(page);
  const order = page.getByLabel("Order", { exact: true });
  assert.equal(await order.inputValue(), "submitted");
  await order.selectOption("cost");
  await page.waitForFunction(() => location.hash === "#/?show=all&sort=cost");
  assert.deepEqual(await foundJobs(page), ["job-1", "job-3", "job-2"]);
  await page.getByRole("button", { name: "descending, change to ascending" }).click();
  await page.getByRole("button", { name: "ascending, change to descending", exact: true }).waitFor();
  assert.deepEqual(await foundJobs(page), ["job-2", "job-3", "job-1"]);
  assert.ok(await noSidewaysScroll(page), "the choice is wider than a phone");
}));

test("a click into a row opens its job, the end of marking text does not", () => onPage(demoWorld(), {}, async (page) => {
  await loaded(page);
  const why = page.locator('tbody[data-job="job-1"]');
  await why.locator(".why td").first().selectText();
  await why.locator("td[data-title=Cost]").dispatchEvent("click");
  assert.match(page.url(), /#\/$/);
  await page.evaluate(() => getSelection().removeAllRanges());
  await why.locator("td[data-title=Cost]").click({ modifiers: ["Control"] });
  assert.match(page.url(), /#\/$/);
  for (const cell of [why.locator("td[data-title=Cost]"), why.locator(".why td").first()]) {
    await cell.click();
    await jobLoaded(page);
    await page.goBack();
    await why.waitFor();
  }
}));

test("the tile of waiting jobs and the tab beside it say the same number", () => {
  const world = demoWorld();
  Object.assign(world.jobs.get("job-3"), { state: "suspended", finished_at: null });
  return onPage(world, {}, async (page) => {
    await loaded(page);
    assert.match(await page.locator(".facts > div", { hasText: "Waiting" }).innerText(), /2\s+1 of them suspended$/);
    await page.getByRole("button", { name: "Waiting 2" }).waitFor();
  });
});

test("a long name of a job or tenant leaves all columns in sight", () => {
  const world = demoWorld();
  const name = "a-very-long-job-name-that-has-exactly-sixty-three-characters-xx";
  Object.assign(world.jobs.get("job-2"), { name, tenant: name.replace("job", "ten") });
  return onPage(world, {}, async (page) => {
    await loaded(page);
    assert.equal(await page.locator('tbody[data-job="job-2"] .name a').getAttribute("title"), name);
    assert.ok(await page.locator(".jobs .table-scroll").evaluate((box) => box.scrollWidth <= box.clientWidth), "the table of jobs scrolls sideways");
  });
});

test("a name of usual length is whole beside a long forecast, the id always, and no row lies outside the screen", async () => {
  const world = demoWorld();
  const [first, second] = ["job-1", "job-2"].map((id) => world.jobs.get(id));
  Object.assign(first, { name: "charlm-documents", tenant: "a-tenant-with-quite-a-long-name-of-more-than-fifty-characters" });
  first.progress.loss = 0.0000779;
  Object.assign(first, { size: 96, min: 1, max: 192 });
  const ended = world.jobs.get("job-3");
  Object.assign(ended.progress, { fraction: 1, loss: 0.00198 });
  ended.cost.amount = "0.000413";
  const far = (hours) => new Date(Date.now() + hours * 3_600_000).toISOString();
  Object.assign(second, { name: "charlm-documents", forecast: { ...second.forecast, start: { ...second.forecast.start, early: far(20), expected: far(30), late: far(60) } } });
  const cut = (page, part) => page.locator(part).evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.innerText));
  for (const size of ["wide", "laptop", "tablet", "narrow"]) {
    await onPage(world, { hash: "#/?show=all", size }, async (page) => {
      await loaded(page);
      assert.deepEqual(await cut(page, size === "laptop" ? ".name-line a + .sub" : ".name-line a, .name-line a + .sub"), [], size);
      assert.deepEqual(await cut(page, ".jobs .table-scroll, .job-table .chip, .job-table .progress-text, .job-table tr:not(.why) td:not(.name)"), [], `${size}: a row is wider than the list`);
      if (size === "wide") assert.ok((await page.locator('tbody[data-job="job-1"] td[data-title="Size"]').boundingBox()).height < 36, "size and its line are below each other");
      assert.equal(await page.locator('tbody[data-job="job-1"] .progress-text').innerText().then((text) => text.includes("7.79e-5")), true);
    });
  }
});

test("a job of which no share is known has no empty bar", () => {
  const world = demoWorld();
  Object.assign(world.jobs.get("job-1").progress, { fraction: null, step: 120 });
  return onPage(world, {}, async (page) => {
    await loaded(page);
    const cell = page.locator('tbody[data-job="job-1"] .progress-cell');
    assert.match(await cell.innerText(), /^step 120/);
    assert.equal(await cell.getByRole("progressbar").count(), 0);
  });
});

test("a node's note lies beside its slots, and slots too narrow for a name tell the worker alone", () => {
  const world = demoWorld();
  const slots = (job) => Array.from({ length: 8 }, (_, index) => ({ index, job, worker: job === null ? null : `w-${index + 10}` }));
  const long = "gpu-rack-7-with-a-rather-long-host-name.example.org";
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  const drain = { drained: false, deadline: tomorrow, reason: "new firmware", cause: "maintenance", maintenance: { begun: true, begins: tomorrow, ends: tomorrow } };
  const made = (n, more) => ({ ...world.nodes[0], id: `node-${n}`, name: `gpu-${n}`, slots: slots("job-1"), ...more });
  world.nodes = [made(1, { name: long }), made(2, { slots: slots(null), drain })];
  const shown = (page, part) => page.locator(`${part}:visible`).count();
  return onPage(world, {}, async (page) => {
    await loaded(page);
    const boxes = (part) => page.locator(part).evaluateAll((all) => all.map((each) => each.getBoundingClientRect()).map(({ left, right }) => ({ left, right })));
    const [names, rows] = [await boxes(".node-name .tag"), await boxes(".cells")];
    assert.ok(names.every((name) => name.right < rows[0].left), "a note reaches into the slots");
    assert.equal(await page.locator(".node-name b").last().getAttribute("title"), `${long}, node-1`);
    assert.equal(await shown(page, ".cell-job"), 8);
    assert.equal(await page.locator(".cell.cordoned").first().getAttribute("title"), "slot 0: closed: its node is draining");
    assert.match(await page.locator(".legend").innerText(), /8\s+closed/);
    await page.setViewportSize({ width: 390, height: 844 });
    assert.equal(await shown(page, ".cell-job"), 0);
    assert.equal(await shown(page, ".cell-worker"), 8);
    assert.ok(await page.locator(".cell-worker").evaluateAll((all) => all.every((each) => each.scrollWidth <= each.clientWidth)), "a worker's id is cut");
  });
});
