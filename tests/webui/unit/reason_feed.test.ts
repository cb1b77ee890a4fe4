import { Client } from "~/api/client";
import type { Job } from "~/api/types";
import { ReasonFeed } from "~/state/reason_feed";
import { Store } from "~/state/store";
import { event, job } from "./samples";

beforeEach(() => { vi.useFakeTimers(); });
afterEach(() => { vi.useRealTimers(); vi.unstubAllGlobals(); });

const waits = (text: string) => ({ code: "WaitingForSlots", numbers: {}, text });

// A store with one waiting job and a daemon that lists it in `pages` pages; notes after how many seconds it was asked.
function feed(pages = 1) {
  const waiting = job({ state: "pending", reason: waits("waits for 6 slots; none is free") });
  const listed: { items: Job[]; cursors: (string | null)[]; at: number[] } = { items: [waiting], cursors: [], at: [] };
  const began = Date.now();
  vi.stubGlobal("fetch", async (url: string) => {
    const cursor = new URL(url, "http://daemon").searchParams.get("cursor");
    listed.cursors.push(cursor);
    listed.at.push((Date.now() - began) / 1000);
    const next = Number(cursor ?? 0) + 1;
    return new Response(JSON.stringify({ items: listed.items, next_cursor: next < pages ? String(next) : null, as_of_seq: 90 }));
  });
  const tab = { seen: true };
  const store = new Store();
  store.dispatch({ type: "listed", seq: 81, jobs: [waiting], nodes: [], policies: [], decisions: [], recent: [] });
  return { feed: new ReasonFeed(new Client("secret"), store, () => undefined, () => tab.seen), store, listed, tab };
}

const ended = event(90, "job.finished", { state: "succeeded" }, { job: "job-9" });
const steps = event(91, "job.progressed", { step: 5 }, { job: "job-9" });
const seconds = (n: number) => vi.advanceTimersByTimeAsync(n * 1000);

test("what keeps a job waiting is read again after an event of another job, and without events nothing is asked", async () => {
  const { feed: reasons, store, listed } = feed();
  await seconds(60);
  expect(listed.at).toEqual([]);
  reasons.notice([ended]);
  listed.items = [{ ...listed.items[0]!, reason: waits("waits for 6 slots; 5 are free") }];
  await seconds(1);
  expect(store.state.jobs.get("job-1")?.reason?.text).toBe("waits for 6 slots; 5 are free");
  await seconds(120);
  expect(listed.at).toEqual([60.5, 65.5]);
});

test("however many events come, one page is asked for every two seconds", async () => {
  const { feed: reasons, listed } = feed(3);
  for (let n = 0; n < 100; ++n) {
    reasons.notice([ended, steps]);
    await seconds(0.1);
  }
  expect(listed.at).toEqual([0.5, 2.5, 4.5, 6.5, 8.5]);
  expect(listed.cursors).toEqual([null, "1", "2", null, "1"]);
  await seconds(60);
  expect(listed.cursors.slice(5)).toEqual(["2", null, "1", "2", null, "1", "2"]);
});

test("steps alone are worth a question after ten seconds", async () => {
  const { feed: reasons, listed } = feed();
  reasons.notice([steps]);
  await seconds(60);
  expect(listed.at).toEqual([10]);
});

test("what a job costs that reports no steps is read on while somebody may look", async () => {
  const { feed: reasons, store, listed, tab } = feed();
  const cost = (amount: string) => ({ ...job().cost, amount });
  const silent = job({ state: "running", cost: cost("0.01"), progress: { ...job().progress, step: 0 } });
  store.dispatch({ type: "jobs", jobs: [silent] });
  listed.items = [{ ...silent, cost: cost("0.02") }];
  reasons.watch();
  await seconds(16);
  expect(store.state.jobs.get("job-1")?.cost.amount).toBe("0.02");
  await seconds(15);
  expect(listed.at).toEqual([15, 30]);
  tab.seen = false;
  await seconds(60);
  expect(listed.at).toEqual([15, 30, 45]);
  tab.seen = true;
  reasons.watch();
  listed.items = [{ ...silent, cost: cost("0.03"), progress: { ...silent.progress, step: 1 } }];
  await seconds(16);
  store.dispatch({ type: "jobs", jobs: listed.items });
  await seconds(60);
  expect(listed.at.length).toBe(5);
});
