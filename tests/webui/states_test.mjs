// The dashboard in states that are hard to reach with a real daemon, in a real browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { shoot } from "./browser.mjs";
import { fixturePages } from "./fixture_pages.mjs";
import { bigWorld, demoWorld, kSecret, pricedWorld, sharedWorld } from "./fixture_server.mjs";
import { planningWorld } from "./plan_fixture.mjs";

const onPage = fixturePages("#/");

const noSidewaysScroll = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
const loaded = (page) => page.locator('[data-testid="slots-used"]').waitFor();
const tenantsLoaded = (page) => page.locator('[data-testid="usage-sum"]').waitFor();
const planLoaded = async (page) => {
  await page.getByText("Copied from charlm-demo").waitFor();
  await page.getByRole("button", { name: "Plan", exact: true }).click();
  await page.getByTestId("touched").waitFor();
};
const jobLoaded = (page) => page.locator('[data-testid="why-summary"]').waitFor();

test("the token leaves the address and survives a reload", () => onPage(demoWorld(), {}, async (page, server) => {
  await loaded(page);
  assert.equal(page.url(), `${server.url}/#/`);
  await page.reload();
  await loaded(page);
}));

test("quarantined slots are told apart from those in use, with why", () => {
  const world = demoWorld();
  const quarantine = { since: "2026-11-20T21:53:20.100Z", why: "memory of GPU-1 is still held" };
  world.nodes[0].slots[1].quarantine = quarantine;
  return onPage(world, {}, async (page) => {
    await loaded(page);
    const cell = page.locator(".cell.quarantined");
    const began = new Date(quarantine.since);
    const since = `${began.toLocaleDateString("en-GB", { day: "numeric", month: "short" })} ${began.toLocaleTimeString("en-GB")}`;
    assert.equal(await cell.count(), 1);
    assert.match(await cell.getAttribute("title"), new RegExp(`^slot 1: quarantined since ${since}: worker w-2 has ended, and memory of GPU-1 is still held$`));
    assert.equal(await page.locator('[data-testid="slots-used"]').innerText(), "1");
    assert.match(await page.locator(".legend").innerText(), /1\s+quarantined/);
    const [note, slots] = await Promise.all([".node-name .tag", ".cells"].map((part) => page.locator(part).boundingBox()));
    assert.ok(note.x + note.width <= slots.x, "the note lies beside the slots");
    await shoot(page, "quarantine");
  });
});

test("a wrong token asks for another one and takes it", () => onPage(demoWorld(), { hash: "#token=wrong", allow: /status of 401/ }, async (page) => {
  await page.getByLabel("Access token").fill(kSecret);
  assert.match(await page.getByRole("alert").innerText(), /this token is unknown/);
  await page.getByRole("button", { name: "Sign in" }).click();
  await loaded(page);
}));

test("an address with another token, entered in a tab that is open, begins a session with it", () => onPage(demoWorld(), { hash: "#token=wrong", allow: /status of 401/ }, async (page, server) => {
  await page.getByRole("alert").waitFor();
  await page.evaluate((address) => { location.href = address; }, `${server.url}/#/jobs/job-1&token=${kSecret}`);
  await jobLoaded(page);
  await page.evaluate((address) => { location.href = address; }, `${server.url}/#token=wrong`);
  await page.getByLabel("Access token").waitFor();
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

test("what keeps a job waiting is read again when another job has changed", () => {
  const world = demoWorld();
  return onPage(world, {}, async (page) => {
    await loaded(page);
    await page.locator(".link-state.live").waitFor();
    world.jobs.get("job-2").reason = { code: "WaitingForSlots", numbers: {}, text: "waits for 6 slots; 5 are free" };
    world.emit("job.resized", { job: "job-1" }, { from: 2, to: 2 });
    await page.getByText("waits for 6 slots; 5 are free").waitFor();
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

test("the longest names there may be scroll no page sideways", async () => {
  const world = sharedWorld();
  const name = "n".repeat(63);
  for (const job of world.jobs.values()) Object.assign(job, { name });
  for (const decision of world.decisions) for (const intent of decision.intents) intent.job_name = name;
  for (const size of ["wide", "narrow"]) {
    for (const [hash, ready] of [["#/", loaded], ["#/jobs/job-1", jobLoaded], ["#/tenants/vision", tenantsLoaded]]) {
      await onPage(world, { hash, size }, async (page) => {
        await ready(page);
        if (hash === "#/") await page.getByTestId("decisions").getByText(name).first().waitFor();
        assert.ok(await noSidewaysScroll(page), `${hash} ${size}`);
        if (hash !== "#/jobs/job-1") return;
        for (const question of ["Resize …", "Cancel …"]) {
          await page.getByRole("button", { name: question }).click();
          const dialog = page.getByRole("dialog");
          assert.ok(await dialog.evaluate((box) => box.scrollWidth <= box.clientWidth), `${question} ${size}`);
          await page.keyboard.press("Escape");
          await dialog.waitFor({ state: "detached" });
        }
      });
    }
  }
});

test("an outage is said, and what was missed arrives when it ends", () => {
  const world = demoWorld();
  return onPage(world, { allow: /net::ERR_/ }, async (page, server) => {
    await loaded(page);
    await page.locator(".link-state.live").waitFor();
    server.down(true);
    const banner = page.locator(".banner");
    await banner.getByText("Disconnected").waitFor();
    assert.equal(await page.getByRole("alert").innerText(), "Disconnected");
    assert.match(await banner.innerText(), /(The connection was lost|The daemon does not answer)\. What you see is as of \d\d:\d\d:\d\d, (now|\d+ s ago)/);
    await shoot(page, "disconnected-wide-light");
    world.jobs.get("job-1").size = 4;
    world.emit("job.resized", { job: "job-1" }, { from: 2, to: 4 });
    await page.getByRole("button", { name: "Reconnect" }).click();
    await banner.getByText("Disconnected").waitFor();
    server.down(false);
    // The page may come back by itself before a second click; either way it must come back.
    await page.evaluate(() => document.querySelector(".banner button")?.click());
    await page.locator('tbody[data-job="job-1"]').getByText("4 (1–4)").waitFor();
    await banner.waitFor({ state: "detached" });
  });
});

test("what was not read before the daemon went says so, and is there when it is back", () => onPage(demoWorld(), { allow: /net::ERR_/ }, async (page, server) => {
  await loaded(page);
  await page.locator(".link-state.live").waitFor();
  server.down(true);
  await page.getByRole("alert").getByText("Disconnected").waitFor();
  await page.evaluate(() => { location.hash = "#/tenants"; });
  await page.getByRole("heading", { name: "The tenants could not be read" }).waitFor();
  await page.evaluate(() => { location.hash = "#/jobs/job-77"; });
  await page.getByRole("heading", { name: "job-77 could not be read" }).waitFor();
  await page.evaluate(() => { location.hash = "#/jobs/job-1"; });
  await page.getByRole("heading", { name: "Its history and its reasons could not be read" }).waitFor();
  server.down(false);
  await page.evaluate(() => document.querySelector(".banner button")?.click());
  await jobLoaded(page);
  await page.locator(".history canvas").first().waitFor();
}));

test("a job with a long label fits a phone", () => {
  const world = demoWorld();
  world.jobs.get("job-1").labels = { team: "a".repeat(120) };
  return onPage(world, { hash: "#/jobs/job-1", size: "narrow" }, async (page) => {
    await jobLoaded(page);
    assert.ok(await noSidewaysScroll(page), "the job's page is wider than a phone");
  });
});

test("a job whose tenant and last output have words without a break fits a phone", () => {
  const world = demoWorld();
  const error = `w-1 exited with code 3; last output: "<b>${"W".repeat(200)}"`;
  Object.assign(world.jobs.get("job-1"), { state: "failed", finished_at: "2026-11-20T21:54:00.000Z", error, tenant: "t".repeat(63) });
  Object.assign(world.explanations.get("job-1"), { summary: `failed: ${"v".repeat(200)}`, evidence: ["e".repeat(200)] });
  return onPage(world, { hash: "#/jobs/job-1", size: "narrow" }, async (page) => {
    await jobLoaded(page);
    assert.equal(await page.getByRole("alert").innerText(), error);
    assert.ok(await noSidewaysScroll(page), "the job's page is wider than a phone");
  });
});

test("what is still being read is not said to be missing", () => onPage(demoWorld(), {}, async (page) => {
  await loaded(page);
  let answer;
  const asked = new Promise((done) => { answer = done; });
  await page.route(/\/v1\/jobs\/job-1\//, async (route) => { await asked; await route.continue(); });
  await page.evaluate(() => { location.hash = "#/jobs/job-1"; });
  await page.locator(".ranks .skeleton").waitFor();
  assert.equal(await page.getByText("No worker holds a rank now.").count(), 0);
  answer();
  await page.locator(".ranks .bars li").first().waitFor();
}));

test("a job's page that is being read says so to who cannot see it", () => onPage(demoWorld(), {}, async (page) => {
  await loaded(page);
  let answer;
  const asked = new Promise((done) => { answer = done; });
  await page.route(/\/v1\/jobs\?/, async (route) => { await asked; await route.continue(); });
  await page.evaluate(() => { location.hash = "#/jobs/job-1"; });
  await page.reload();
  await page.getByRole("status").getByText("Loading job-1").waitFor({ state: "attached" });
  answer();
  await jobLoaded(page);
}));

test("a job that has ended is not told what will be known of its cost", () => {
  const world = demoWorld();
  const cost = (page) => page.locator('[aria-labelledby="cost-title"]').innerText();
  return onPage(world, { hash: "#/jobs/job-2" }, async (page) => {
    await jobLoaded(page);
    assert.match(await cost(page), /per hour now[^]*known once throughput at/);
    Object.assign(world.jobs.get("job-2"), { state: "failed", finished_at: new Date().toISOString() });
    await page.reload();
    await jobLoaded(page);
    assert.doesNotMatch(await cost(page), /now|known once/);
  });
});

test("the page of a failed job says once of what it has failed", () => {
  const world = demoWorld();
  const error = 'w-3 exited with code 1; last output: "KeyError: data"';
  Object.assign(world.jobs.get("job-2"), { state: "failed", error, generation: 0, finished_at: new Date().toISOString() });
  world.explanations.set("job-2", { ...world.explanations.get("job-1"), job: "job-2", state: "failed", summary: `gave up after 3 losses: ${error}`, evidence: [`lost workers 3 times so far; newest: ${error}`] });
  for (const worker of ["w-1", "w-2", "w-3"]) world.emit("worker.lost", { job: "job-2" }, { worker, exit_code: 1, signal: 0, detail: 'last output: "KeyError: data"' });
  world.emit("job.finished", { job: "job-2" }, { state: "failed", error, steps: 0, loss: null });
  return onPage(world, { hash: "#/jobs/job-2" }, async (page) => {
    await jobLoaded(page);
    await page.getByText("worker w-3 lost (exit code 1)", { exact: true }).waitFor();
    await page.getByText("Its output, if there is any: schedctl logs job-2").waitFor();
    assert.match(await page.locator(".figures > div", { hasText: "Cost" }).innerText(), /in all$/);
    assert.equal((await page.locator("main").innerText()).split("KeyError").length, 2);
  });
});

test("on a phone a generation's reason has the width of the page, and a forecast begins where the reason above it does", async () => {
  const left = (box) => Math.round(box.x);
  await onPage(demoWorld(), { hash: "#/jobs/job-1", size: "narrow" }, async (page) => {
    await jobLoaded(page);
    const row = page.getByTestId("generations").locator("tbody tr").first();
    assert.ok((await row.locator(".reason").boundingBox()).width > 300, "the reason is squeezed");
    assert.match(await row.innerText(), /3 → 2/);
    assert.equal(await page.locator(".table-scroll").evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).length), 0, "a table scrolls sideways");
  });
  await onPage(demoWorld(), { size: "narrow" }, async (page) => {
    await loaded(page);
    const [why, forecast] = await Promise.all([".why td:first-child", ".why .forecast"].map((part) => page.locator(`tbody[data-job="job-1"] ${part}`).boundingBox()));
    assert.equal(left(forecast), left(why));
  });
});

test("of a decision for many jobs the feed has the first lines, and one for all workers of a job", () => {
  const world = demoWorld();
  const stops = [1, 2, 3].map((n) => ({ kind: "stop_worker", job: "job-1", text: `charlm-demo: stopping w-${n}`, reason: null }));
  const starts = Array.from({ length: 30 }, (_, n) => ({ kind: "start", job: `job-${n + 100}`, text: `started ${n}`, reason: null }));
  world.decisions.unshift({ ...world.decisions[0], id: "dec-99", at: new Date().toISOString(), intents: [...stops, ...starts] });
  return onPage(world, {}, async (page) => {
    await loaded(page);
    const newest = page.getByTestId("decisions").locator("li").first();
    assert.equal(await newest.locator(".feed-line").count(), 5);
    assert.match(await newest.locator(".feed-line").first().innerText(), /stopping w-1 · and 2 more$/);
    await newest.getByRole("button", { name: "Show all 31 of this decision" }).click();
    assert.equal(await newest.locator(".feed-line").count(), 31);
  });
});

test("above the decisions stands that a policy file gave way, also after a reload", () => {
  const world = demoWorld();
  world.emit("policy.rolled_back", { actor: null }, { policy: "mine", version: "0123456789abcdef", to: null, to_version: null, why: "3 rounds in a row have failed" });
  return onPage(world, {}, async (page) => {
    const said = page.getByTestId("policy-trouble");
    await said.getByText("Policy mine, version 0123456789ab was replaced by the daemon's own: 3 rounds in a row have failed.").waitFor();
    world.emit("policy.activated", { actor: null }, { policy: "mine", version: "0123456789abcdef", before: null, before_version: null });
    await said.waitFor({ state: "detached" });
  });
});

test("on a phone the state of the connection lies over no link, whether it is live or lost", () => onPage(demoWorld(), { size: "narrow", allow: /net::ERR_/ }, async (page, server) => {
  const apart = async () => {
    const [link, state] = await Promise.all([page.getByRole("link", { name: "Plan", exact: true }), page.locator(".link-state")].map((part) => part.boundingBox()));
    return link.x + link.width <= state.x;
  };
  await page.locator(".link-state.live").waitFor();
  assert.ok(await apart(), "live");
  server.down(true);
  await page.locator(".link-state.down").waitFor();
  assert.ok(await apart(), "down");
}));

test("what has happened to a job is told with its time of day, of another day with the day", () => {
  const world = demoWorld();
  const first = world.events.find(({ type }) => type === "job.submitted");
  first.at = "2026-01-02T03:04:05.000Z";
  return onPage(world, { hash: "#/jobs/job-1", zone: "UTC" }, async (page) => {
    await jobLoaded(page);
    const newest = world.events.findLast(({ type }) => type === "job.resized");
    assert.match(await page.locator(".event-list").innerText(), new RegExp(newest.at.slice(11, 19)));
    assert.equal(await page.locator(".event-list time").last().innerText(), "2 Jan 03:04:05");
    assert.match(await page.locator(".event-list time").last().getAttribute("title"), /^\d+ days ago, /);
    assert.match(await page.getByTestId("generations").locator("time").first().innerText(), /\d\d:\d\d:\d\d$/);
  });
});

test("a slot of a lost node is told apart from one in use, though a job is on it", () => {
  const world = demoWorld();
  world.nodes.push({ ...structuredClone(world.nodes[0]), id: "node-2", name: "spot-7", state: "lost" });
  return onPage(world, {}, async (page) => {
    await loaded(page);
    await page.getByRole("link", { name: "charlm-demo, worker w-1, slot 0 of spot-7, which is lost", exact: true }).waitFor();
    const looks = await page.locator(".cell.held").evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell).outlineStyle));
    assert.deepEqual([...new Set(looks)].sort(), ["none", "solid"]);
    assert.deepEqual(await page.locator(".lost .cell.held").evaluateAll((cells) => [...new Set(cells.map((cell) => getComputedStyle(cell).opacity))]), ["1"], "its text would lose its contrast");
  });
});

test("on a phone a worker's id that does not fit its slot is left out, not cut to another's", () => {
  const world = demoWorld();
  world.nodes[0].slots = Array.from({ length: 12 }, (_, index) => ({ index, job: "job-1", worker: `w-${index + 30}` }));
  return onPage(world, { size: "narrow" }, async (page) => {
    await loaded(page);
    assert.deepEqual(await page.locator(".cell-worker").evaluateAll((ids) => [...new Set(ids.map((id) => getComputedStyle(id).visibility))]), ["hidden"]);
  });
});

test("the keyboard stops once at the slots of a job that lie beside each other", () => onPage(demoWorld(), {}, async (page) => {
  await loaded(page);
  assert.deepEqual(await page.locator('.cell[data-job="job-1"]').evaluateAll((cells) => cells.map((cell) => cell.tabIndex)), [0, -1]);
}));

test("what is told by a background is printed", () => onPage(demoWorld(), {}, async (page) => {
  await loaded(page);
  await page.emulateMedia({ media: "print" });
  for (const part of [".pool-bar i", ".cell.held", ".job-table .bar i"]) {
    assert.equal(await page.locator(part).first().evaluate((element) => getComputedStyle(element).printColorAdjust), "exact", part);
  }
}));

test("a straggler is named in words, in the bars and on the time line", () => onPage(demoWorld({ straggler: true }), { hash: "#/jobs/job-1" }, async (page) => {
  await jobLoaded(page);
  await page.getByText("rank 1 (w-2 on local) is slow: all others wait for it at each step.").waitFor();
  await page.locator('.bars li.slow[data-rank="1"]').waitFor();
  for (const axes of ["samples/s by number of workers", "The last 120 reports, newest on the right; one row for each rank, rank 0 on top"]) await page.getByText(axes).waitFor();
  assert.equal(await page.locator(".rail .marker.warn").count(), 1);
  assert.equal(await page.locator(".rail .marker.change").count(), 3);
  await page.locator(".rail .marker.change").nth(1).hover();
  await page.locator(".bubble").getByText("growing 2 -> 3: the last worker added 62 % of a worker's throughput").waitFor();
}));

test("the tab is named after its page, the state of the link is one word, and a dialog gives the focus back", () => onPage(demoWorld(), { hash: "#/jobs/job-1" }, async (page) => {
  await jobLoaded(page);
  await page.waitForFunction(() => document.title === "charlm-demo · job-1 · Tidepool");
  await page.locator(".link-state.live").waitFor();
  assert.equal(await page.locator(".link-state").getByRole("status").innerText(), "Live");
  await page.getByRole("button", { name: "Resize …" }).click();
  await page.getByRole("button", { name: "Close" }).click();
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => document.activeElement.innerText), "Resize …");
}));

test("after a link was followed, keys go on from the top of the new page", () => onPage(demoWorld(), {}, async (page) => {
  await loaded(page);
  await page.locator('tbody[data-job="job-1"] a').press("Enter");
  await jobLoaded(page);
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.innerText), "demo");
  assert.match(await page.locator(".link-state").innerText(), /^Live\s+last event /);
}));

test("a token that may only read is offered nothing that would be refused, and is told why", () => {
  const world = Object.assign(demoWorld(), { role: "viewer" });
  const plans = (page) => page.getByRole("link", { name: /plan/i }).count();
  return onPage(world, { hash: "#/jobs/job-1" }, async (page) => {
    await jobLoaded(page);
    assert.equal(await page.locator(".actions").innerText(), "Your token may only read.");
    assert.deepEqual(await page.locator(".job-head button").allInnerTexts(), []);
    assert.equal(await plans(page), 0);
    await page.evaluate(() => { location.hash = "#/"; });
    await page.locator(".job-table").waitFor();
    assert.equal(await plans(page), 0);
    await page.evaluate(() => { location.hash = "#/plan"; });
    await page.getByText("Your token may only read.").waitFor();
    assert.equal(await page.getByRole("textbox").count(), 0);
    world.role = "submitter";
    await page.reload();
    await page.getByRole("textbox").waitFor();
  });
});

test("a token of one tenant is told which numbers are its tenant's, and whose the grey slots are", () => {
  const world = Object.assign(demoWorld(), { ownTenant: "demo" });
  world.nodes[0].slots[2] = { index: 2, job: null, worker: null, busy: true };
  return onPage(world, {}, async (page) => {
    await loaded(page);
    await page.getByText("grey = another tenant's").waitFor();
    assert.equal(await page.locator(".facts").getByText("of your tenant", { exact: true }).count(), 2);
    await page.locator(".facts").getByText("per hour, your tenant").waitFor();
  });
});

test("at 400 % zoom no link of the top bar lies under a button, and budgets are in sight at 200 %", () => onPage(sharedWorld(), { hash: "#/tenants" }, async (page) => {
  await page.locator(".tenant-table").waitFor();
  await page.setViewportSize({ width: 320, height: 640 });
  const [link, button] = await Promise.all([page.getByRole("link", { name: "Plan", exact: true }), page.getByRole("button", { name: /theme/ })].map((part) => part.boundingBox()));
  assert.ok(link.x + link.width <= button.x || link.y >= button.y + button.height, "the link and the button lie over each other");
  await page.setViewportSize({ width: 720, height: 450 });
  assert.ok(await page.locator(".table-scroll").evaluate((box) => box.scrollWidth <= box.clientWidth), "the table is wider than its card");
}));

test("a refused action shows the daemon's words", () => onPage(demoWorld(), { hash: "#/jobs/job-1", allow: /status of 403/ }, async (page) => {
  await jobLoaded(page);
  await page.getByRole("button", { name: "Cancel …" }).click();
  await page.getByRole("button", { name: "Cancel the job" }).click();
  await page.getByText("This needs a token with the role submitter or admin.").waitFor();
}));

test("an action that the daemon did not answer says so until it is back", () => onPage(demoWorld(), { hash: "#/jobs/job-1", allow: /net::ERR_/ }, async (page, server) => {
  await jobLoaded(page);
  await page.locator(".link-state.live").waitFor();
  server.down(true);
  await page.locator(".banner").waitFor();
  await page.getByRole("button", { name: "Suspend" }).click();
  const problem = page.locator(".actions .problem");
  await problem.getByText("The daemon does not answer.").waitFor();
  server.down(false);
  await page.locator(".link-state.live").waitFor();
  await problem.waitFor({ state: "detached" });
}));

test("a thousand nodes draw on one canvas, fit, and can be walked with the keys", () => onPage(bigWorld(), {}, async (page) => {
  await loaded(page);
  const canvas = page.locator(".mosaic canvas");
  await canvas.waitFor();
  assert.equal(await page.locator('[data-testid="slots-used"]').innerText(), "7,080");
  const box = await canvas.boundingBox();
  assert.ok(box.height <= 380, `the mosaic is ${box.height} px tall`);
  await canvas.focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator("#mosaic-line").innerText(), /^gpu-0001, slot 0: /);
  for (const key of ["Home", "ArrowRight", "ArrowDown"]) await page.keyboard.press(key);
  assert.match(await page.locator("#mosaic-line").innerText(), /^gpu-\d{4}, slot 1: /);
  assert.equal(await page.locator(".job-table tbody").count(), 40);
  await page.getByLabel("Filter jobs").fill("sweep-7");
  await page.locator('.job-table a', { hasText: /^sweep-7$/ }).waitFor();
  assert.equal(await page.locator(".job-table tbody").count(), 1);
}));

// "rgb(184, 49, 42)" of a custom property; how many pixels of the mosaic have it.
const pixelsOf = (page, property) => page.locator(".mosaic canvas").evaluate((canvas, name) => {
  const probe = document.body.appendChild(document.createElement("span"));
  probe.style.color = `var(${name})`;
  const wanted = getComputedStyle(probe).color.match(/\d+/g).slice(0, 3).map(Number);
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let at = 0; at < data.length; at += 4) count += wanted.every((part, index) => Math.abs(data[at + index] - part) <= 2) ? 1 : 0;
  return count;
}, property);

test("a lost slot has an edge in the colour of failure, and no slot is filled with it, whether a job is on it or not", async () => {
  const red = [];
  for (const held of [false, true]) {
    const world = bigWorld();
    for (const node of world.nodes) if (node.state === "lost" && held) for (const slot of node.slots) Object.assign(slot, { job: "job-1", worker: "w-1" });
    await onPage(world, {}, async (page) => {
      await page.waitForFunction(() => document.querySelector(".mosaic canvas")?.style.width); // it has been drawn
      red.push(await pixelsOf(page, "--bad"));
    });
  }
  const slots = 80;
  assert.ok(red[0] >= slots * 8 && red[0] % slots === 0, `${red[0]} pixels`);
  assert.equal(red[1], red[0]);
});

test("the line below the mosaic says of a lost or closed node what it is, also where a job holds its slot", async () => {
  const world = bigWorld();
  const [lost, closed] = world.nodes;
  Object.assign(lost, { state: "lost", cordoned: false, slots: [{ index: 0, job: "job-1", worker: "w-7" }] });
  Object.assign(closed, { state: "up", cordoned: true, slots: [{ index: 0, job: null, worker: null }] });
  await onPage(world, {}, async (page) => {
    await page.locator(".mosaic canvas").focus();
    const name = world.jobs.get("job-1").name;
    for (const line of [`gpu-0001 (lost), slot 0: ${name} (job-1), worker w-7`, "gpu-0002 (cordoned), slot 0: empty"]) {
      await page.keyboard.press("ArrowRight");
      await page.locator("#mosaic-line").getByText(line, { exact: true }).waitFor();
    }
  });
});

test("a table of sizes stays within its card on a phone", () => {
  const world = demoWorld();
  for (const size of world.jobs.get("job-1").sizes) Object.assign(size, { steps: 1_234_567, samples_per_second: 1_234_567 });
  return onPage(world, { hash: "#/jobs/job-1", size: "narrow" }, async (page) => {
    await jobLoaded(page);
    assert.ok(await page.locator('[aria-labelledby="curve-title"]').evaluate((card) => card.scrollWidth <= card.clientWidth), "the table leaves its card");
  });
});

test("of a job that has not started the page shows why, and no empty curves", () => onPage(demoWorld(), { hash: "#/jobs/job-2" }, async (page) => {
  await jobLoaded(page);
  assert.deepEqual(await page.locator(".card h2").allInnerTexts(), ["Over time", "Why", "Forecast", "Cost", "Events"]);
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

const lineOf = (page, tenant) => page.locator(`[data-testid="tenants"] tr[data-tenant="${tenant}"]`);

test("a tenant's bar, jobs and budget say what it has, and all bars have one scale", () => onPage(sharedWorld(), { hash: "#/tenants" }, async (page) => {
  await page.getByText("bars: 0 to 16 slots, the same for all").waitFor();
  const labels = await page.locator(".slot-bar").evaluateAll((bars) => bars.map((bar) => bar.getAttribute("aria-label")));
  assert.deepEqual(labels.slice(0, 4), [
    "9 in use · 8 guaranteed · 11 entitled · 1 borrowed · 2 slots owed", "7 in use · 4 guaranteed · 7 entitled · 3 borrowed",
    "2 in use · 4 guaranteed · 4 entitled · 2 slots owed", "3 in use · 6 guaranteed · 3 entitled · 3 free to lend"]);
  const widths = await lineOf(page, "vision").locator(".slot-bar").evaluate((bar) => ["held", "borrowed", "guaranteed"].map((kind) => Math.round((16 * bar.querySelector(`.${kind}`).offsetWidth) / bar.offsetWidth)));
  assert.deepEqual(widths, [4, 3, 4]);
  await lineOf(page, "bio").getByText("paused until 1 Dec 00:00 UTC").waitFor();
  await lineOf(page, "lab").getByText("reaches its limit 28 Nov 19:23 UTC at $16.00 an hour").waitFor();
  assert.equal(await lineOf(page, "lab").locator(".budget-bar .tick").count(), 2);
}));

test("the tree is walked, folded and chosen from with the keys alone", () => onPage(sharedWorld(), { hash: "#/tenants" }, async (page) => {
  const fold = page.getByRole("button", { name: "tenants below lab" });
  await fold.focus();
  await page.keyboard.press("Enter");
  await lineOf(page, "vision").waitFor({ state: "detached" });
  assert.equal(await fold.getAttribute("aria-expanded"), "false");
  await page.keyboard.press("Space");
  await lineOf(page, "vision").waitFor();
  for (const key of ["Tab", "Tab", "Enter"]) await page.keyboard.press(key);
  await page.locator(".tenant-panel").getByRole("heading", { name: "vision" }).waitFor();
  assert.equal(await lineOf(page, "vision").locator("a").getAttribute("aria-current"), "true");
  assert.deepEqual(await page.locator('[data-testid="tenant-jobs"] a').allInnerTexts(), ["charlm-demo"]);
  assert.match(await page.locator('[data-testid="tenant-jobs"] li').first().innerText(), /ends in ~4 min \(2–6\)/);
  await page.getByRole("link", { name: "All tenants" }).click();
  await page.locator(".tenant-panel").waitFor({ state: "detached" });
}));

test("all jobs below a tenant can be seen, those of the tenants below it too", () => {
  const world = sharedWorld();
  for (let n = 0; n < 20; ++n) world.jobs.set(`job-${20 + n}`, { ...world.jobs.get("job-1"), id: `job-${20 + n}`, tenant: "vision" });
  return onPage(world, { hash: "#/tenants/lab" }, async (page) => {
    await page.locator('[data-testid="tenant-jobs"] li').nth(11).waitFor();
    await page.getByRole("button", { name: "Show 10 more of 22" }).click();
    await page.locator('[data-testid="tenant-jobs"] li').nth(21).waitFor();
    await page.getByRole("button", { name: /more of 22/ }).waitFor({ state: "detached" });
  });
});

test("the chart of use and its table have the same days, of the month and of the week", () => onPage(sharedWorld(), { hash: "#/tenants/guests" }, async (page) => {
  const sum = page.locator('[data-testid="usage-sum"]');
  const today = new Date().getUTCDate();
  await sum.getByText("this month").waitFor();
  assert.match(await sum.innerText(), new RegExp(`^${2 * Math.floor(today / 3)}(\\.0+)? slot-hours`));
  await page.getByText("As a table").click();
  assert.equal(await page.locator('[data-testid="usage-days"] tbody tr').count(), today);
  assert.equal(await page.locator(".days .day:not(.to-come)").count(), today);
  assert.match(await page.locator(".days .most").innerText(), /^(2\.00 slot-hours)?$/, "the chart and the table write a number alike");
  await page.getByRole("button", { name: "Week" }).click();
  await sum.getByText("this week").waitFor();
  assert.equal(await page.locator(".days .day").count(), 7);
}));

test("however many events come, the page of tenants asks for the tree at its own pace", () => {
  const world = sharedWorld();
  return onPage(world, { hash: "#/tenants" }, async (page) => {
    await lineOf(page, "lab").waitFor();
    await page.locator(".link-state.live").waitFor();
    const asked = { tenants: 0, usage: 0, forecast: 0 };
    page.on("request", (request) => { const what = new URL(request.url()).pathname.split("/")[2]; if (what in asked) asked[what] += 1; });
    const began = Date.now();
    world.tenants.tenants[0].now.held = 10;
    for (let n = 0; n < 120; ++n) {
      world.emit(n % 2 === 0 ? "job.progressed" : "job.resized", { job: "job-1" }, { step: 2400 + n, size: 2, from: 2, to: 2 });
      await page.waitForTimeout(25);
    }
    await lineOf(page, "lab").getByText("10 in use").waitFor();
    const most = Math.ceil((Date.now() - began) / 2000) + 1;
    assert.ok(asked.tenants >= 1 && asked.tenants <= most, `asked ${asked.tenants} times for the tree in ${Date.now() - began} ms`);
    assert.ok(asked.usage <= 1 && asked.forecast <= 2, JSON.stringify(asked));
  });
});

test("a deep tree of long names fits a phone", () => {
  const world = sharedWorld();
  const path = [];
  world.tenants.tenants = Array.from({ length: 9 }, (_, n) => {
    path.push(`${"very-long-name-".repeat(4)}${n}`);
    return { ...world.tenants.tenants[1], name: path[n], parent: path[n - 1] ?? null, path: [...path] };
  });
  return onPage(world, { hash: `#/tenants/${path[0]}`, size: "narrow" }, async (page) => {
    await tenantsLoaded(page);
    assert.equal(await page.locator('[data-testid="tenants"] tbody tr').count(), 9);
    assert.ok(await noSidewaysScroll(page), "the page is wider than a phone");
    await shoot(page, "fixture-tenants-deep-narrow-light");
  });
});

test("without a tree the page says how to begin, and a tree that is set appears by itself", () => {
  const world = sharedWorld();
  const { tenants } = world.tenants;
  world.tenants.tenants = [];
  return onPage(world, { hash: "#/tenants" }, async (page) => {
    await page.getByText("schedctl tenants apply tenants.yaml").waitFor();
    await page.locator(".link-state.live").waitFor();
    world.tenants.tenants = tenants;
    world.emit("tenants.configured", {}, { tenants: tenants.map((tenant) => tenant.name) });
    await lineOf(page, "lab").waitFor();
  });
});

test("what a token may not see, and what a daemon does not have, is said in a sentence", async () => {
  const old = sharedWorld();
  old.tenants = null;
  await onPage(old, { hash: "#/tenants", allow: /status of 404/ }, (page) => page.getByText("This daemon does not share slots by tenants").waitFor());
  const inner = sharedWorld();
  inner.tenants.tenants = inner.tenants.tenants.slice(0, 2);
  inner.tenants.tenants[0].now = null;
  await onPage(inner, { hash: "#/tenants/search" }, async (page) => {
    await lineOf(page, "lab").getByText("8 guaranteed; what it has is not shown to this token").waitFor();
    await page.getByText("There is no tenant search in the tree, or this token may not see it.").waitFor();
    assert.match(await lineOf(page, "lab").locator('[data-title="Budget"]').innerText(), /^\$[\d,.]+ a month$/);
  });
});

test("a forecast is told in the list and on the job's page, with how good forecasts were", async () => {
  await onPage(demoWorld(), {}, async (page) => {
    await page.locator('tbody[data-job="job-2"] .forecast', { hasText: /^starts in ~12 min \(7–25\)$/ }).waitFor();
    await page.locator('tbody[data-job="job-1"] .forecast', { hasText: /^ends in ~4 min \(2–6\)$/ }).waitFor();
  });
  await onPage(demoWorld(), { hash: "#/jobs/job-1" }, async (page) => {
    await page.locator('[data-testid="forecast"]', { hasText: /^Ends in ~4 min \(2–6\)$/ }).waitFor();
    await page.getByText("Of the last 200 forecasts of ends, 81 % came true within their interval; the aim is 80 %.").waitFor();
  });
  const none = demoWorld();
  none.jobs.get("job-1").forecast = null;
  await onPage(none, { hash: "#/jobs/job-1" }, (page) => page.locator('[data-testid="forecast"]', { hasText: "None yet." }).waitFor());
});

for (const size of ["wide", "narrow"]) {
  for (const theme of ["light", "dark"]) {
    test(`pictures, ${size} and ${theme}: nothing is wider than the screen`, async () => {
      for (const [name, world, hash, ready] of [["overview", demoWorld(), "#/", loaded], ["job-straggler", demoWorld({ straggler: true }), "#/jobs/job-1", jobLoaded], ["job-waiting", pricedWorld(), "#/jobs/job-2", jobLoaded], ["big", bigWorld(), "#/", loaded], ["tenants", sharedWorld(), "#/tenants/lab", tenantsLoaded], ["plan", planningWorld(), "#/plan/job-1", planLoaded]]) {
        await onPage(world, { hash, size, theme }, async (page) => {
          await ready(page);
          await page.locator("canvas, .cell, .why-part, .days, .steps").first().waitFor();
          await page.locator(".link-state.live").waitFor();
          assert.ok(await noSidewaysScroll(page), `${name} scrolls sideways at ${size}`);
          await shoot(page, `fixture-${name}-${size}-${theme}`);
        });
      }
    });
  }
}

test("a pool with nothing to decide says why, not that nothing was decided yet", async () => {
  const said = (page) => page.getByTestId("no-decisions").innerText();
  await onPage(bigWorld({ nodes: 20 }), {}, async (page) => assert.match(await said(page), /^The \d+ jobs that run keep their sizes/));
  const empty = demoWorld();
  empty.nodes = [];
  empty.decisions = [];
  await onPage(empty, {}, async (page) => assert.match(await said(page), /^No node is up/));
});

test("each page says which zone its times have, and an exact time names it", async () => {
  for (const hash of ["#/", "#/jobs/job-1", "#/tenants", "#/plan"]) {
    await onPage(demoWorld(), { hash, zone: "Asia/Tokyo" }, (page) => page.getByText("Times are in this browser's zone, Asia/Tokyo, where they do not say UTC.").waitFor());
  }
  await onPage(demoWorld(), { zone: "Asia/Tokyo" }, async (page) => {
    await loaded(page);
    assert.match(await page.locator('tbody[data-job="job-1"] .when').getAttribute("title"), /GMT\+9$/);
  });
  await onPage(demoWorld(), { zone: "UTC" }, (page) => page.getByText("All times are in UTC.").waitFor());
});

test("an unknown page and an unknown job say so", async () => {
  await onPage(demoWorld(), { hash: "#/nowhere" }, (page) => page.getByText("No such page").waitFor());
  await onPage(demoWorld(), { hash: "#/jobs/job-77", allow: /status of 404/ }, async (page) => {
    await page.getByRole("heading", { name: "There is no job job-77" }).waitFor();
    await page.getByRole("link", { name: "Go to the list of jobs" }).click();
    await loaded(page);
  });
});
