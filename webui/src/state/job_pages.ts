// Reads the jobs page by page, so that the first page shows at once: those that have not ended, which all sums are of,
// then those that have, each the newest first.
//
// Events come while later pages are read, and a page may be older than what they said. So it only brings jobs that are
// not known yet: one that an event has named before is read because of that event.
import { ApiError, type Client } from "../api/client";
import type { Job, Page } from "../api/types";
import { numberOf } from "./job_order";
import type { JobsLeft } from "./model";
import type { Store } from "./store";

const kRetryMs = 5_000;
const kMostEnded = 20_000; // a tab keeps what it has read

type Part = "live" | "ended";

export class JobPages {
  private readonly client: Client;
  private readonly store: Store;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private run = 0; // of first(); what an earlier one still brings is dropped
  private ended = 0;

  constructor(client: Client, store: Store) {
    this.client = client;
    this.store = store;
  }

  first(): Promise<Page<Job>> {
    this.stop();
    this.ended = 0;
    return this.client.jobsPage("live", null);
  }

  // The pages after the first.
  readOn(first: Page<Job>): void {
    const part = first.next_cursor === null ? "ended" : "live";
    this.store.dispatch({ type: "more_jobs", jobs: [], left: { part, most: null, problem: null } });
    void this.read(this.run, part, first.next_cursor);
  }

  stop(): void {
    this.run += 1;
    clearTimeout(this.retry);
  }

  private async read(run: number, part: Part, from: string | null): Promise<void> {
    let cursor = from;
    try {
      for (let now: Part = part; ; ) {
        const page = await this.client.jobsPage(now, cursor);
        if (run !== this.run) return;
        const left = this.leftAfter(now, page);
        this.store.dispatch({ type: "more_jobs", jobs: page.items, left });
        if (left === null || left.part === "older") return;
        now = part = left.part;
        cursor = page.next_cursor;
      }
    } catch (failure) {
      if (run !== this.run) return;
      const problem = failure instanceof ApiError ? failure.message : String(failure);
      this.store.dispatch({ type: "more_jobs", jobs: [], left: { part, most: null, problem } });
      this.retry = setTimeout(() => { void this.read(run, part, cursor); }, kRetryMs);
    }
  }

  private leftAfter(part: Part, { items, next_cursor }: Page<Job>): JobsLeft | null {
    if (part === "live") return { part: next_cursor === null ? "ended" : "live", most: null, problem: null };
    this.ended += items.length;
    if (next_cursor === null) return null;
    // Jobs are numbered, so no more are left than have smaller numbers.
    const most = numberOf(items[items.length - 1]?.id ?? "") - 1;
    return { part: this.ended < kMostEnded ? "ended" : "older", most: most > 0 ? most : null, problem: null };
  }
}
