import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Client } from "~/api/client";
import type { TenantTree } from "~/api/types";
import { Store } from "~/state/store";
import { TenantFeed } from "~/state/tenant_feed";
import { event } from "./samples";

const example = (name: string): unknown => JSON.parse(readFileSync(fileURLToPath(new URL(`../../../api/examples/${name}.json`, import.meta.url)), "utf8"));

beforeEach(() => { vi.useFakeTimers(); });
afterEach(() => { vi.useRealTimers(); vi.unstubAllGlobals(); });

// A page of tenants of which a budget is spent at `rate` an hour; notes what is asked and after how many seconds.
function feed(rate: string, status = 200) {
  const tree = example("tenants") as TenantTree;
  const budget = tree.tenants[0]?.now?.budget;
  if (budget) budget.rate_per_hour = rate;
  const began = Date.now();
  const asked: [string, number][] = [];
  vi.stubGlobal("fetch", async (url: string) => {
    const what = url.split(/[/?]/)[2] ?? "";
    asked.push([what, Math.round((Date.now() - began) / 1000)]);
    return new Response(JSON.stringify(status !== 200 ? { detail: "not for this token" } : what === "tenants" ? tree : example("usage")), { status });
  });
  const store = new Store();
  return { feed: new TenantFeed(new Client("secret"), store), store, when: (what: string) => asked.filter(([name]) => name === what).map(([, at]) => at) };
}

const steps = event(90, "job.progressed", { step: 5 });
const started = event(91, "job.started", { size: 1 });
const seconds = (n: number) => vi.advanceTimersByTimeAsync(n * 1000);

test("while the page is closed nothing is asked, and once it is closed nothing more", async () => {
  const { feed: tenants, when, store } = feed("16.00");
  tenants.notice([started]);
  tenants.refresh();
  await seconds(120);
  expect(when("tenants")).toEqual([]);
  tenants.open();
  await seconds(1);
  expect(store.state.tenants?.tree?.tenants).toHaveLength(3);
  tenants.close();
  tenants.notice([started]);
  await seconds(120);
  expect(when("tenants")).toEqual([120]);
});

test("without events it asks only while a budget is being spent", async () => {
  const spending = feed("16.00");
  spending.feed.open();
  await seconds(100);
  expect(spending.when("tenants")).toEqual([0, 30, 60, 90]);
  expect(spending.when("usage")).toEqual([0, 60]);
  spending.feed.stop();
  const idle = feed("0.00");
  idle.feed.open();
  await seconds(600);
  expect(idle.when("tenants")).toEqual([0]);
  expect(idle.when("usage")).toEqual([0]);
});

test("steps alone are worth a question after ten seconds, what moves slots one at once", async () => {
  const { feed: tenants, when } = feed("0.00");
  tenants.open();
  await seconds(5);
  tenants.notice([steps]);
  await seconds(20);
  expect(when("tenants")).toEqual([0, 15]);
  tenants.notice([steps, started]);
  await seconds(20);
  expect(when("tenants")).toEqual([0, 15, 25]);
});

test("another window is asked for at once, and a refusal is kept with its words", async () => {
  const { feed: tenants, when } = feed("0.00");
  tenants.open();
  await seconds(5);
  tenants.choose("week");
  await seconds(1);
  expect(when("usage")).toEqual([0, 5]);
  const refused = feed("0.00", 403);
  refused.feed.open();
  await seconds(1);
  expect(refused.store.state.tenants).toMatchObject({ tree: null, problem: { status: 403, message: "not for this token" } });
});
