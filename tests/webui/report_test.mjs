// The report of `schedctl sim compare`: one file, opened from the disk in a real browser that has no network.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { launch, onTab, shoot } from "./browser.mjs";

const kPolicies = ["fixed", "autoscaling_engine", "las"];
const kSeeds = 2;
let folder;
let report;
let rows;
let browser;

before(async () => {
  assert.ok(process.env.TIDEPOOL_BIN_DIR, "TIDEPOOL_BIN_DIR must name the folder of schedctl; ctest sets it");
  folder = mkdtempSync(join(tmpdir(), "tidepool-report-"));
  report = join(folder, "report.html");
  const csv = join(folder, "runs.csv");
  execFileSync(join(process.env.TIDEPOOL_BIN_DIR, "schedctl"), ["sim", "compare", "--policies", kPolicies.join(","), "--seeds", `1..${kSeeds}`,
    "--jobs", "10", "--cluster", "2x4", "--html", report, "--csv", csv], { stdio: "pipe", timeout: 100_000 });
  rows = readFileSync(csv, "utf8").trim().split("\n").length - 1;
  browser = await launch();
});

after(async () => {
  await browser?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

// A tab on the file; afterwards nothing may have been asked of a network, and no script may have failed.
async function onReport(look, body) {
  await onTab(browser, { url: pathToFileURL(report).href, ...look }, async (page) => {
    await page.locator("canvas").nth(3).waitFor();
    await body(page);
  });
}

// The number of colours that a chart shows; a chart that was not drawn has one.
const coloursDrawn = (page) => page.locator("canvas").evaluateAll((canvases) => canvases.map((canvas) => {
  const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  return new Set(pixels).size;
}));

test("the file holds all that it needs", () => {
  const text = readFileSync(report, "utf8");
  assert.deepEqual(text.match(/(src|href)="(?!data:|#)[^"]*"/g) ?? [], []);
  assert.deepEqual(text.match(/@import|url\((?!["']?data:)/g) ?? [], []);
});

test("the table has a row for each policy, in the order asked for, and every figure", () => onReport({}, async (page) => {
  assert.equal(rows, kPolicies.length * kSeeds);
  const table = await page.locator("table.figures tbody tr").evaluateAll((found) => found.map((row) => [...row.children].map((cell) => cell.innerText.trim())));
  assert.deepEqual(table.map((row) => row[0]), kPolicies);
  const columns = await page.locator("table.figures thead th").count();
  for (const row of table) {
    assert.equal(row.length, columns);
    for (const cell of row.slice(2)) assert.match(cell, /^[\d,.]+\s*[\d,.]+–[\d,.]+$/, `${row[0]}: ${row}`);
  }
  for (const row of table.slice(1)) assert.match(row[1], /^\d/, `${row[0]} has no ratio to ${kPolicies[0]}`);
  // The best of a column is the least of it; of the busy share the most.
  const marked = await page.locator("table.figures tbody tr").evaluateAll((found) => found.map((row) => [...row.children].map((cell) => cell.classList.contains("best"))));
  const averages = table.map((row) => Number.parseFloat(row[2].replaceAll(",", "")));
  marked.forEach((row, i) => { if (row[2]) assert.equal(averages[i], Math.min(...averages)); });
}));

test("two seeds are told with what they span, and no interval is claimed", () => onReport({}, async (page) => {
  await page.getByText("Ranges span the two seeds, which are too few for an interval").waitFor();
  assert.doesNotMatch(await page.locator("table.figures").innerText(), /±/);
  assert.doesNotMatch(await page.locator("footer").innerText(), /95 %/);
}));

test("where jobs have deadlines, the report begins with how many meet them", async () => {
  const workload = join(folder, "promised.csv");
  writeFileSync(workload, "submit_s,gpus,duration_s,deadline_s\n0,4,100,150\n0,4,100,150\n0,1,10,\n");
  const other = join(folder, "deadlines.html");
  execFileSync(join(process.env.TIDEPOOL_BIN_DIR, "schedctl"), ["sim", "compare", "--policies", "fifo,las", "--workloads", workload, "--cluster", "1x4",
    "--html", other], { stdio: "pipe", timeout: 100_000 });
  await onTab(browser, { url: pathToFileURL(other).href }, async (page) => {
    assert.equal(await page.locator("h1").innerText(), "fifo meets the most deadlines, 1 of 2");
    assert.match(await page.locator(".remarks").innerText(), /deadlines met: fifo 1 of 2 \(50 %\), las \d of 2/);
  });
});

test("the legend of curves shows each policy with the stroke that its curve has", () => onReport({}, async (page) => {
  const strokes = await page.locator("figure", { hasText: "How long jobs take" }).locator(".legend path").evaluateAll((paths) => paths.map((path) => path.getAttribute("stroke-dasharray")));
  assert.deepEqual(strokes, [null, "7 4", "2 3"]);
}));

test("a click on a policy shows which jobs hold its slots", () => onReport({}, async (page) => {
  const chart = page.getByRole("img", { name: /^GPUs held over time under fixed/ });
  await chart.first().waitFor();
  await page.getByRole("button", { name: "las", exact: true }).click();
  await page.getByRole("img", { name: /^GPUs held over time under las/ }).first().waitFor();
}));

for (const size of ["wide", "narrow"]) {
  for (const theme of ["light", "dark"]) {
    test(`every chart is drawn and nothing is wider than the screen, ${size} and ${theme}`, () => onReport({ size, theme }, async (page) => {
      for (const colours of await coloursDrawn(page)) assert.ok(colours > 8, `a chart shows ${colours} colours`);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the report scrolls sideways");
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const light = Number(/\d+/.exec(ground)[0]) > 127;
      assert.equal(light, theme === "light", `the ground is ${ground}`);
      await shoot(page, `report-${size}-${theme}`);
    }));
  }
}
