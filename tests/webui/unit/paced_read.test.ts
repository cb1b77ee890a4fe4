import { PacedRead } from "~/state/paced_read";

beforeEach(() => { vi.useFakeTimers(); });
afterEach(() => { vi.useRealTimers(); });

// Notes when it was read, in ms since the beginning; an answer takes `takes` ms.
function reader(leastMs: number, takes = 0) {
  const began = Date.now();
  const times: number[] = [];
  const read = new PacedRead(async () => {
    times.push(Date.now() - began);
    if (takes > 0) await new Promise((done) => { setTimeout(done, takes); });
  }, { leastMs });
  return { read, times };
}

test("however often it is wanted, it reads no more often than its pace", async () => {
  const { read, times } = reader(2_000);
  for (let n = 0; n < 100; ++n) {
    read.want();
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(times).toEqual([0, 2000, 4000, 6000, 8000, 10_000]);
});

test("without a want nothing is read", async () => {
  const { read, times } = reader(2_000);
  read.want();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(times).toEqual([0]);
});

test("a patient want waits, an impatient one goes before it, and both are one", async () => {
  const { read, times } = reader(2_000);
  read.want(10_000);
  await vi.advanceTimersByTimeAsync(3_000);
  read.want();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(times).toEqual([3000]);
});

test("what is wanted while it reads is read once more, never two at a time", async () => {
  const { read, times } = reader(500, 3_000);
  read.want();
  await vi.advanceTimersByTimeAsync(1_000);
  read.want();
  read.want();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(times).toHaveLength(2);
  expect(times[1]).toBeGreaterThanOrEqual(3000);
});

test("another question does not wait for the pace of the last one, and none is asked after the end", async () => {
  const { read, times } = reader(60_000);
  read.want();
  await vi.advanceTimersByTimeAsync(1_000);
  read.restart();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(times).toEqual([0, 1000]);
  read.want();
  read.stop();
  read.want();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(times).toEqual([0, 1000]);
});

test("a read that fails is not the last one", async () => {
  let reads = 0;
  const failing = new PacedRead(() => { reads += 1; return Promise.reject(new Error("no")); }, { leastMs: 100 });
  const noted = vi.fn();
  process.on("unhandledRejection", noted);
  failing.want();
  await vi.advanceTimersByTimeAsync(1_000);
  failing.want();
  await vi.advanceTimersByTimeAsync(1_000);
  process.off("unhandledRejection", noted);
  expect(reads).toBe(2);
});
