// The page that plans a job in states that are hard to reach with a real daemon, in a real browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fixturePages } from "./fixture_pages.mjs";
import { kSecret } from "./fixture_server.mjs";
import { kWaits, planningWorld, planOf, refusal } from "./plan_fixture.mjs";

const onPage = fixturePages("#/plan");

const area = (page) => page.getByLabel("Job file", { exact: true });
const planButton = (page) => page.getByRole("button", { name: "Plan", exact: true });
const submitButton = (page) => page.getByRole("button", { name: "Submit this job …" });
const answered = (page) => page.getByTestId("touched").waitFor();

async function askToSubmit(page) {
  await submitButton(page).click();
  await page.getByRole("dialog").getByRole("button", { name: "Submit this job" }).click();
}

test("from an example to a submitted job with the keys alone", () => {
  const world = planningWorld();
  return onPage(world, {}, async (page) => {
    assert.ok(await planButton(page).isDisabled(), "an empty text cannot be planned");
    await page.getByRole("button", { name: "Fill in an example" }).focus();
    await page.keyboard.press("Enter");
    const text = await area(page).inputValue();
    assert.match(text, /^name: my-job\n/);
    assert.equal(await page.evaluate(() => document.activeElement.id), "job-file");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await answered(page);
    await submitButton(page).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.deepEqual(world.asked.map(({ what }) => what), ["plan", "decision"]);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Submit this job" }).press("Enter");
    await page.waitForURL(/#\/jobs\/job-9$/);
    assert.deepEqual(world.asked.map(({ text: sent }) => sent), [text, text, text]);
  });
});

test("start, end, cost and sizes are told, and each touched job with what becomes of it", () => onPage(planningWorld(), { hash: "#/plan/job-1" }, async (page) => {
  await page.getByText("Copied from charlm-demo").waitFor();
  await planButton(page).click();
  await answered(page);
  assert.deepEqual(await Promise.all(["plan-start", "plan-cost"].map((id) => page.getByTestId(id).innerText())), ["in ~10 min", "$5.40"]);
  await page.getByText("6–25 min in eight of ten cases").waitFor();
  await page.getByText("As a table").click();
  assert.deepEqual(await page.getByTestId("plan-sizes").locator("tbody tr").evaluateAll((rows) => rows.map((row) => row.children[1].innerText)), ["none", "2", "4", "3"]);
  assert.deepEqual(await page.locator(".step i").evaluateAll((bars) => bars.map((bar) => Math.round((4 * bar.getBoundingClientRect().height) / 74))), [0, 2, 4, 3], "heights are in proportion");
  assert.deepEqual(await page.getByTestId("touched").locator("tbody tr").evaluateAll((rows) => rows.map((row) => [row.dataset.job, row.querySelector(".tag").innerText, row.children[2].innerText, row.children[3].innerText])), [
    ["job-1", "preempted", "as before", "1 h 47 min later"], ["job-12", "fewer workers", "as before", "21 min later"], ["job-2", "later", "70 min later", "70 min later"]]);
  await page.getByTestId("touched-sum").getByText("1 job of other tenants would be moved or delayed").waitFor();
  await page.getByTestId("plan-waits").getByText("waits for 2 slots; 1 is free").waitFor();
  await page.getByTestId("plan-waits").getByText("it takes slots of type h100").waitFor();
}));

test("a reload keeps the job file that was written, and signing out forgets it", () => onPage(planningWorld(), { hash: "#/plan/job-1", allow: /status of 401/ }, async (page, server) => {
  await page.getByText("Copied from charlm-demo").waitFor();
  const written = `${await area(page).inputValue()}# mine\n`;
  await area(page).fill(written);
  await page.reload();
  await page.getByText("Copied from charlm-demo").waitFor();
  assert.equal(await area(page).inputValue(), written);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.goto(`${server.url}/#/plan&token=${kSecret}`);
  await planButton(page).waitFor();
  assert.equal(await area(page).inputValue(), "");
}));

test("a plan that takes long says so, cannot be asked for twice, and can be given up", () => {
  const world = planningWorld();
  let answer;
  world.plan = () => new Promise((resolve) => { answer = () => resolve({ status: 200, body: planOf() }); });
  return onPage(world, { allow: /net::ERR_/ }, async (page) => {
    await area(page).fill("{}");
    await planButton(page).click();
    assert.ok(await planButton(page).isDisabled());
    await page.getByRole("status").getByText(/runs the whole pool ahead/).waitFor();
    await page.getByRole("button", { name: "Give up" }).click();
    assert.ok(await planButton(page).isEnabled());
    answer();
    await page.waitForTimeout(300);
    assert.equal(await page.getByTestId("plan-answer").count(), 0, "what was given up comes to nothing");
    assert.equal(await page.getByRole("alert").count(), 0);
    world.plan = () => ({ status: 200, body: planOf() });
    await planButton(page).click();
    await answered(page);
  });
});

test("while the daemon is away the text and the answer stay, and a submission that may have arrived is repeated with its key", () => {
  const world = planningWorld();
  return onPage(world, { allow: /net::ERR_/ }, async (page, server) => {
    await area(page).fill("{}");
    await planButton(page).click();
    await answered(page);
    const { submitted } = world;
    world.submitted = () => new Promise(() => server.down(true));
    await askToSubmit(page);
    await page.getByText("The daemon does not answer. Whether it was submitted is not known.").waitFor();
    await planButton(page).click();
    await page.getByText("The text stays here; try again when the daemon is back.").waitFor();
    assert.ok(await page.getByTestId("plan-answer").isVisible());
    assert.equal(await area(page).inputValue(), "{}");
    server.down(false);
    world.submitted = submitted;
    await askToSubmit(page);
    await page.waitForURL(/#\/jobs\/job-9$/);
    const keys = world.asked.filter(({ what }) => what === "submitted").map(({ key }) => key);
    assert.equal(keys.length, 2);
    assert.equal(keys[0], keys[1]);
  });
});

test("a refused submission says why, and leaves the plan", () => {
  const world = planningWorld();
  world.submitted = () => refusal(403, "ForeignTenant", "this token may only submit for the tenant lab and those below it");
  return onPage(world, { allow: /status of 403/ }, async (page) => {
    await area(page).fill("{}");
    await planButton(page).click();
    await askToSubmit(page);
    await page.getByText("This token may only submit for the tenant lab and those below it.").waitFor();
    assert.ok(await submitButton(page).isEnabled());
  });
});

test("a plan without the dry run beside it is still told; one that starts at once says where", () => {
  const world = planningWorld();
  const { decision } = world;
  world.decision = () => refusal(503, "Busy", "too many plans wait; try again in a few seconds");
  return onPage(world, { allow: /status of 503/ }, async (page) => {
    await area(page).fill("{}");
    await planButton(page).click();
    await answered(page);
    assert.equal(await page.getByTestId("plan-waits").count(), 0);
    world.decision = (text) => ({ ...decision(text), body: { decision: { ...kWaits, starts: true, size: 3, places: [{ node: "node-1", node_name: "gpu-1", workers: 3 }] } } });
    await planButton(page).click();
    await page.getByText("with 3 workers: 3 on gpu-1").waitFor();
    assert.equal(await page.getByTestId("plan-start").innerText(), "at once");
  });
});

test("a job's file takes the place of a text that can be had back, and a job that is not there is said", () => onPage(planningWorld(), { allow: /status of 404/ }, async (page) => {
  await area(page).fill('{"mine": 1}');
  await page.evaluate(() => { location.hash = "#/plan/job-1"; });
  await page.getByText("Copied from charlm-demo").waitFor();
  assert.match(await area(page).inputValue(), /^elastic: \{min: 1, max: 4, preferred: 2\}$/m, "neither the tenant's default nor sizes that follow from the rest");
  await page.getByRole("button", { name: "Back to the text before" }).click();
  assert.equal(await area(page).inputValue(), '{"mine": 1}');
  await page.evaluate(() => { location.hash = "#/plan/job-77"; });
  await page.getByRole("alert").getByText("There is no job job-77.").waitFor();
  assert.equal(await area(page).inputValue(), '{"mine": 1}');
}));

test("on a phone a new answer is brought into view, and what is refused is heard beside the text", () => {
  const world = planningWorld();
  return onPage(world, { hash: "#/plan/job-1", size: "narrow", allow: /status of 422/ }, async (page) => {
    await page.getByText("Copied from charlm-demo").waitFor();
    await planButton(page).click();
    await answered(page);
    assert.equal(await page.evaluate(() => document.activeElement.id), "plan-title");
    world.plan = () => refusal(422, "InvalidJob", "1 field needs a change", { errors: [{ pointer: "/run/trainer", message: "trainer is needed" }], hint: "correct the fields and submit again; nothing was stored" });
    await planButton(page).click();
    await page.getByRole("alert").getByText("run.trainer: trainer is needed").waitFor();
    assert.ok((await area(page).getAttribute("aria-describedby")).includes("job-file-problem"));
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is wider than a phone");
  });
});

test("a plan of the longest names there may be fits a phone", () => {
  const world = planningWorld();
  const name = "n".repeat(63);
  Object.assign(world.jobs.get("job-1"), { name });
  world.plan = () => ({ status: 200, body: planOf({ name, tenant: name }) });
  return onPage(world, { hash: "#/plan/job-1", size: "narrow" }, async (page) => {
    await page.getByText(`Copied from ${name}`).waitFor();
    await planButton(page).click();
    await answered(page);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the plan scrolls sideways");
    await submitButton(page).click();
    assert.ok(await page.getByRole("dialog").evaluate((box) => box.scrollWidth <= box.clientWidth), "the question scrolls sideways");
  });
});

test("a time too short for its number of workers is drawn without a part of the number", () => {
  const world = planningWorld();
  const plan = planOf();
  const [now, , , , end] = plan.forecast.sizes.map(({ at }) => Date.parse(at));
  plan.forecast.sizes = [[now, 10], [now + 1000, 2], [end, 0]].map(([at, size]) => ({ at: new Date(at).toISOString(), size }));
  world.plan = () => ({ status: 200, body: plan });
  return onPage(world, { hash: "#/plan/job-1", size: "narrow" }, async (page) => {
    await page.getByText("Copied from charlm-demo").waitFor();
    await planButton(page).click();
    await answered(page);
    assert.deepEqual(await page.locator(".step b:visible").allInnerTexts(), ["2"]);
  });
});
