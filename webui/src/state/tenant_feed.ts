// Keeps the page of tenants true while it is open; while it is closed nothing is asked.
//
// How often: the tree at most every 2 s, and only after an event that may have moved slots, jobs or budgets; while jobs
// only make steps, which changes what is spent, every 10 s. Usage at most once a minute, because the daemon sums it over
// all jobs of the window, ended ones too. Without events both rest, unless money is being spent on a budget: time alone
// moves that, so the tree is read again after 30 s.
import { ApiError, type Client } from "../api/client";
import type { TideEvent, UsageWindow } from "../api/types";
import { kEmptyTenantPage, type Refusal } from "./model";
import { type Feed, PacedRead } from "./paced_read";
import type { TenantAction } from "./reduce_tenants";
import type { Store } from "./store";

const kTreePace = { leastMs: 2_000, stepsMs: 10_000 };
const kUsagePace = { leastMs: 60_000 };
const kSpendingPatienceMs = 30_000;

export class TenantFeed implements Feed {
  private readonly client: Client;
  private readonly store: Store;
  private readonly tree: PacedRead;
  private readonly usage: PacedRead;

  constructor(client: Client, store: Store) {
    this.client = client;
    this.store = store;
    this.tree = new PacedRead(() => this.readTree(), kTreePace);
    this.usage = new PacedRead(() => this.readUsage(), kUsagePace);
  }

  open(window: UsageWindow = kEmptyTenantPage.window): void {
    this.store.dispatch({ type: "tenants", action: { type: "opened" } });
    this.store.dispatch({ type: "tenants", action: { type: "window", window } });
    this.tree.restart();
    this.usage.restart();
  }

  close(): void { this.store.dispatch({ type: "tenants", action: { type: "closed" } }); }

  choose(window: UsageWindow): void {
    if (this.store.state.tenants?.window === window) return;
    this.store.dispatch({ type: "tenants", action: { type: "window", window } });
    this.usage.restart();
  }

  notice(events: readonly TideEvent[]): void {
    if (this.store.state.tenants !== null) this.reads.forEach((read) => read.notice(events));
  }

  refresh(): void {
    if (this.store.state.tenants !== null) this.reads.forEach((read) => read.refresh());
  }

  stop(): void { this.reads.forEach((read) => read.stop()); }

  private get reads(): PacedRead[] { return [this.tree, this.usage]; }

  private async readTree(): Promise<void> {
    if (this.store.state.tenants === null) return;
    try {
      const tree = await this.client.tenants();
      this.put({ type: "tree", tree });
      if (!tree.tenants.some(({ now }) => Number(now?.budget?.rate_per_hour ?? 0) > 0)) return;
      this.tree.want(kSpendingPatienceMs);
      this.usage.want(kSpendingPatienceMs);
    } catch (failure) {
      const problem = refusal(failure);
      if (problem !== null) this.put({ type: "no_tree", problem });
    }
  }

  private async readUsage(): Promise<void> {
    const window = this.store.state.tenants?.window;
    if (window === undefined) return;
    try {
      const usage = await this.client.usageByDay(window);
      this.put({ type: "usage", window, usage });
    } catch (failure) {
      const problem = refusal(failure);
      if (problem !== null) this.put({ type: "no_usage", window, problem });
    }
  }

  private put(action: TenantAction): void {
    if (!this.tree.isStopped) this.store.dispatch({ type: "tenants", action });
  }
}

// Null: the daemon did not answer, which the stream notices and shows; what was read before stays.
function refusal(failure: unknown): Refusal | null {
  if (!(failure instanceof ApiError)) return { status: 0, message: String(failure) };
  return failure.status === 0 ? null : { status: failure.status, message: failure.message };
}
