// The dashboard in states that are hard to reach with a real daemon, in a real browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, openTab, shoot } from "./browser.mjs";
import { bigWorld, demoWorld, kSecret, pricedWorld, serve } from "./fixture_server.mjs";

const dist = process.env.TIDEPOOL_WEBUI_DIST;
let browser;
before(async () => {
  assert.ok(dist, "TIDEPOOL_WEBUI_DIST must name the built dashboard; ctest sets it");
  browser = await launch();
});
after(() => browser?.close());

// Runs `body` on a tab of `world`; afterwards nothing may have gone wrong behind the page.
async function onPage(world, { hash = "#/", ...look }, body) {
  const server = await serve(world, dist);
  const tab = await openTab(browser, { url: `${server.url}/${hash}${hash.includes("token=") ? "" : `&token=${kSecret}`}`, ...look });
  try {
    await body(tab.page, server);
    assert.deepEqual(tab.faults, []);
  } finally {
    await tab.close();
    await server.close();
  }
}

const noSidewaysScroll = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
const loaded = (page) => page.locator('[data-testid="slots-used"]').waitFor();
const jobLoaded = (page) => page.locator('[data-testid="why-summary"]').waitFor();

test("the token leaves the address and survives a reload", () => onPage(demoWorld(), {}, async (page, server) => {
  await loaded(page);
  assert.equal(page.url(), `${server.url}/#/`);
  await page.reload();
  await loaded(page);
}));

test("a wrong token asks for another one and takes it", () => onPage(demoWorld(), { hash: "#token=wrong", allow: /status of 401/ }, async (page) => {
  await page.getByLabel("Access token").fill(kSecret);
  assert.match(await page.getByRole("alert").innerText(), /this token is unknown/);
  await page.getByRole("button", { name: "Sign in" }).click();
  await loaded(page);
}));

test("an event changes the page without a reload", () => {
  const world = demoWorld();
  return onPage(world, {}, async (page) => {
    await loaded(page);
    await page.evaluate(() => { window.marked = true; });
    const row = page.locator('tbody[data-job="job-1"]');
    Object.assign(world.jobs.get("job-1"), { size: 3, target_size: 3 });
    world.nodes[0].slots[2] = { index: 2, job: "job-1", worker: "w-3" };
    world.emit("job.resized", { job: "job-1" }, { from: 2, to: 3 });
    await row.getByText("3 (1–4)").waitFor();
    await page.locator('[data-testid="slots-used"]', { hasText: "3" }).waitFor();
    assert.equal(await page.evaluate(() => window.marked), true);
  });
});

test("a reason that moves without an event of its own is read with the next steps", () => {
  const world = demoWorld();
  return onPage(world, {}, async (page) => {
    await loaded(page);
    await page.locator(".link-state.live").waitFor();
    const job = world.jobs.get("job-1");
    job.reason = { code: "AtMax", numbers: {}, text: "holds the largest size it may have" };
    world.emit("job.progressed", { job: "job-1" }, { step: 2400, size: 2, generation: 4, samples_per_second: 9000, step_ms: 56, loss: 1.9, epoch: 2, cost: "0.09", compute_ms: [41, 42] });
    await page.getByText("holds the largest size it may have").waitFor();
  });
});

test("a page that cannot be drawn says so and leaves the rest working", () => {
  const world = demoWorld();
  world.jobs.get("job-2").cost = null;
  return onPage(world, { hash: "#/jobs/job-2" }, async (page) => {
    await page.getByText("This page could not be drawn").waitFor();
    world.jobs.get("job-2").cost = world.jobs.get("job-1").cost;
    await page.reload();
    await jobLoaded(page);
  });
});

test("an outage is said, and what was missed arrives when it ends", () => {
  const world = demoWorld();
  return onPage(world, { allow: /net::ERR_/ }, async (page, server) => {
    await loaded(page);
    await page.locator(".link-state.live").waitFor();
    server.down(true);
    const banner = page.getByRole("alert");
    await banner.getByText("Disconnected").waitFor();
    assert.match(await banner.innerText(), /The connection was lost\. What you see is as of \d\d:\d\d:\d\d, (now|\d+ s ago)/);
    await shoot(page, "disconnected-wide-light");
    world.jobs.get("job-1").size = 4;
    world.emit("job.resized", { job: "job-1" }, { from: 2, to: 4 });
    await page.getByRole("button", { name: "Reconnect" }).click();
    await banner.getByText("Disconnected").waitFor();
    server.down(false);
    // The page may come back by itself before a second click; either way it must come back.
    await page.evaluate(() => document.querySelector('[role="alert"] button')?.click());
    await page.locator('tbody[data-job="job-1"]').getByText("4 (1–4)").waitFor();
    await banner.waitFor({ state: "detached" });
  });
});

test("a straggler is named in words, in the bars and on the time line", () => onPage(demoWorld({ straggler: true }), { hash: "#/jobs/job-1" }, async (page) => {
  await jobLoaded(page);
  await page.getByText("rank 1 (w-2 on local) is slow: all others wait for it at each step.").waitFor();
  await page.locator('.bars li.slow[data-rank="1"]').waitFor();
  assert.equal(await page.locator(".rail .marker.warn").count(), 1);
  assert.equal(await page.locator(".rail .marker.change").count(), 3);
  await page.locator(".rail .marker.change").nth(1).hover();
  await page.locator(".bubble").getByText("growing 2 -> 3: the last worker added 62 % of a worker's throughput").waitFor();
}));

test("a refused action shows the daemon's words and takes the buttons away", () => onPage(demoWorld(), { hash: "#/jobs/job-1", allow: /status of 403/ }, async (page) => {
  await jobLoaded(page);
  await page.getByRole("button", { name: "Cancel …" }).click();
  await page.getByRole("button", { name: "Cancel the job" }).click();
  await page.getByText("this token's role is viewer").waitFor();
  assert.ok(await page.getByRole("button", { name: "Suspend" }).isDisabled());
}));

test("a thousand nodes draw on one canvas, fit, and can be walked with the keys", () => onPage(bigWorld(), {}, async (page) => {
  await loaded(page);
  const canvas = page.locator(".mosaic canvas");
  await canvas.waitFor();
  assert.equal(await page.locator('[data-testid="slots-used"]').innerText(), "7,080");
  const box = await canvas.boundingBox();
  assert.ok(box.height <= 380, `the mosaic is ${box.height} px tall`);
  await canvas.focus();
  for (const key of ["Home", "ArrowRight", "ArrowDown"]) await page.keyboard.press(key);
  assert.match(await page.locator("#mosaic-line").innerText(), /^gpu-\d{4}, slot 1: /);
  assert.equal(await page.locator(".job-table tbody").count(), 40);
  await page.getByLabel("Filter jobs").fill("sweep-7");
  await page.locator('.job-table a', { hasText: /^sweep-7$/ }).waitFor();
  assert.equal(await page.locator(".job-table tbody").count(), 1);
}));

const lines = (page, title) => page.locator(".why-part", { has: page.getByRole("heading", { name: title, exact: true }) }).locator("li").allInnerTexts();

test("the why panel has the size chosen first, each other with its score and reason, and what would help", () => {
  const world = pricedWorld();
  return onPage(world, { hash: "#/jobs/job-2", size: "narrow" }, async (page) => {
    await jobLoaded(page);
    const why = world.explanations.get("job-2");
    assert.equal(await page.locator('[data-testid="why-summary"]').innerText(), why.summary);
    const rows = await page.locator('[data-testid="why-sizes"] tbody tr').evaluateAll((found) => found.map((row) => [...row.children].map((cell) => cell.innerText.replace(/\s+/g, " ").trim())));
    assert.deepEqual(rows, [["0 chosen", "0", why.reason.text], ["2", "-8.35", why.reason.text], ["4", "-16.7", why.reason.text]]);
    assert.deepEqual(await lines(page, "Evidence"), why.evidence);
    assert.deepEqual(await lines(page, "What would change it"), why.unblocks);
    assert.ok(await noSidewaysScroll(page), "the why panel is wider than a phone");
    await page.locator(".why-part a", { hasText: "job-1" }).click();
    await page.getByRole("heading", { name: "charlm-demo" }).waitFor();
  });
});

test("what was changed stays in the feed behind decisions that only weighed anew", () => onPage(pricedWorld(), {}, async (page) => {
  await loaded(page);
  await page.locator('[data-testid="decisions"] .feed-line').nth(2).waitFor();
  assert.equal(await page.locator('[data-testid="decisions"] .feed-line').count(), 3);
}));

for (const size of ["wide", "narrow"]) {
  for (const theme of ["light", "dark"]) {
    test(`pictures, ${size} and ${theme}: nothing is wider than the screen`, async () => {
      for (const [name, world, hash, ready] of [["overview", demoWorld(), "#/", loaded], ["job-straggler", demoWorld({ straggler: true }), "#/jobs/job-1", jobLoaded], ["job-waiting", pricedWorld(), "#/jobs/job-2", jobLoaded], ["big", bigWorld(), "#/", loaded]]) {
        await onPage(world, { hash, size, theme }, async (page) => {
          await ready(page);
          await page.locator("canvas, .cell, .why-part").first().waitFor();
          await page.locator(".link-state.live").waitFor();
          assert.ok(await noSidewaysScroll(page), `${name} scrolls sideways at ${size}`);
          await shoot(page, `fixture-${name}-${size}-${theme}`);
        });
      }
    });
  }
}

test("an unknown page and an unknown job say so", async () => {
  await onPage(demoWorld(), { hash: "#/nowhere" }, (page) => page.getByText("No such page").waitFor());
});
