// Keeps the store true: lists once (of jobs the first page, then the others), follows the stream, and tells the feeds what it has brought.
// One at a time; stop() ends everything it started.
import { ApiError, type Client } from "../api/client";
import { EventStream } from "../api/event_stream";
import type { Caller, Decision, Page, TideEvent } from "../api/types";
import { JobPages } from "./job_pages";
import { isTold } from "./model";
import { kDecisionsRead, NeedsFeed } from "./needs_feed";
import { type Feed, PacedRead } from "./paced_read";
import { ReasonFeed } from "./reason_feed";
import type { Store } from "./store";
import { TenantFeed } from "./tenant_feed";

const kBatchMs = 80; // events are shown together, at most twelve times a second
const kRelistMs = 5_000; // the pause before a failed first list is tried again
const kRecentEvents = 500;
// A browser has six connections to a host in all its tabs together; a hidden one gives its own back.
const kUnseenMs = 10_000;
const kDecisionsToTell = 12; // of those that changed something; under a policy for the whole cluster few do
const kDecisionsPage = 200;
const kDecisionPages = 5; // and so many larger pages are read back for them at most
// No event says that a forecast was made: the daemon makes one 5 s after something has changed, and rests after it.
const kForecastPace = { leastMs: 15_000, afterMs: 6_000 };

export class Session {
  readonly tenants: TenantFeed;
  private readonly forecasts: PacedRead;
  private readonly needs: NeedsFeed;
  private readonly jobs: JobPages;
  private readonly reasons: ReasonFeed;
  private readonly feeds: readonly Feed[];
  private readonly client: Client;
  private readonly store: Store;
  private stream: EventStream | undefined;
  private pending: TideEvent[] = [];
  private batch: ReturnType<typeof setTimeout> | undefined;
  private relist: ReturnType<typeof setTimeout> | undefined;
  private unseen: ReturnType<typeof setTimeout> | undefined;
  private seen = true;
  private listed = false;
  private run = 0; // of start(); what an earlier one still brings is dropped
  private stopped = false;
  private wasDown = false;

  constructor(client: Client, store: Store) {
    this.client = client;
    this.store = store;
    this.tenants = new TenantFeed(client, store);
    this.forecasts = new PacedRead(() => this.fetchForecasts(), kForecastPace);
    this.needs = new NeedsFeed(client, store);
    this.jobs = new JobPages(client, store);
    this.reasons = new ReasonFeed(client, store, () => this.needs.want(), () => this.seen);
    this.feeds = [this.needs, this.tenants, this.reasons, this.forecasts];
    void this.start();
  }

  stop(): void {
    this.stopped = true;
    this.run += 1;
    this.stream?.close();
    this.jobs.stop();
    for (const feed of this.feeds) feed.stop();
    clearTimeout(this.batch);
    clearTimeout(this.relist);
    clearTimeout(this.unseen);
  }

  // Whether somebody may be looking at the tab.
  see(seen: boolean): void {
    this.seen = seen;
    clearTimeout(this.unseen);
    if (seen) {
      this.reasons.watch();
      return this.stream?.retryNow();
    }
    this.unseen = setTimeout(() => {
      this.wasDown = true;
      this.stream?.pause();
    }, kUnseenMs);
  }

  retryNow(): void {
    if (this.stream) this.stream.retryNow();
    else void this.start();
  }

  // Lists, then streams from where the oldest of the lists ends, so that nothing falls between.
  private async start(): Promise<void> {
    const run = ++this.run;
    clearTimeout(this.relist);
    this.stream?.close();
    this.stream = undefined;
    this.pending = [];
    this.listed = false;
    try {
      const [jobs, nodes, policies, news, decisions, caller] = await Promise.all([
        this.jobs.first(), this.client.nodes(), this.client.policies(), this.client.policyNews(), this.decisionsToTell(), this.caller(),
      ]);
      if (run !== this.run) return;
      const seq = Math.min(jobs.as_of_seq, nodes.as_of_seq);
      const recent = await this.client.eventsAfter(Math.max(0, seq - kRecentEvents));
      if (run !== this.run) return;
      this.store.dispatch({ type: "role", role: caller?.role ?? null, tenant: caller?.tenant ?? null });
      this.store.dispatch({ type: "policy_news", event: news });
      this.store.dispatch({
        type: "listed", seq, jobs: jobs.items, nodes: nodes.items, policies: policies.items, decisions,
        recent: recent.items.filter((event) => event.seq <= seq),
      });
      this.listed = true;
      this.jobs.readOn(jobs);
      const open = this.store.state.detail?.job;
      if (open !== undefined) void this.needs.load(open);
      this.forecasts.want();
      this.reasons.watch();
      this.tenants.refresh();
      this.follow(seq);
    } catch (failure) {
      if (run === this.run) this.failedToList(failure);
    }
  }

  private async caller(): Promise<Caller | null> {
    try {
      return await this.client.whoami();
    } catch (failure) {
      // A daemon or a proxy that does not know the question; 401 is about the token.
      if (failure instanceof ApiError && failure.status >= 400 && failure.status < 500 && failure.status !== 401) return null;
      throw failure;
    }
  }

  private failedToList(failure: unknown): void {
    const error = failure instanceof ApiError ? failure : new ApiError(0, "Failed", String(failure));
    if (error.status === 401 || error.status === 403) return this.refused(error);
    this.relist = setTimeout(() => { void this.start(); }, kRelistMs);
    this.down(error, kRelistMs);
  }

  // Nothing more is asked with this token; another one is another session.
  private refused(error: ApiError): void {
    this.stop();
    this.store.dispatch({ type: "link", link: { kind: "refused", message: error.message } });
  }

  private down(error: ApiError, wait: number): void {
    const { link } = this.store.state;
    const since = link.kind === "live" ? Date.now() : link.kind === "down" ? link.since : null;
    this.store.dispatch({ type: "link", link: { kind: "down", message: error.message, since, retryAt: Date.now() + wait } });
  }

  private follow(after: number): void {
    this.stream?.close();
    this.stream = new EventStream(this.client, after, {
      onOpen: () => {
        this.store.dispatch({ type: "link", link: { kind: "live" } });
        if (this.wasDown) for (const feed of this.feeds) feed.refresh();
        this.wasDown = false;
        if (!this.seen) this.see(false);
      },
      onEvents: (events) => this.collect(events),
      onReset: () => { void this.start(); },
      onDown: (error, wait) => {
        this.wasDown = true;
        this.down(error, wait);
      },
      onRefused: (error) => this.refused(error),
    });
  }

  private collect(events: TideEvent[]): void {
    this.pending.push(...events);
    this.batch ??= setTimeout(() => {
      this.batch = undefined;
      const batch = this.pending;
      this.pending = [];
      if (batch.length > 0) this.store.dispatch({ type: "events", events: batch });
      for (const feed of this.feeds) feed.notice(batch);
    }, kBatchMs);
  }

  // Back from the newest decision until enough of them changed something.
  private async decisionsToTell(): Promise<Decision[]> {
    const decisions: Decision[] = [];
    let told = 0;
    let cursor: string | null = null;
    for (let page = 0; page < kDecisionPages && told < kDecisionsToTell; page += 1) {
      const found: Page<Decision> = await this.client.decisions(page === 0 ? kDecisionsRead : kDecisionsPage, cursor);
      decisions.push(...found.items);
      told += found.items.filter((decision) => decision.intents.some(isTold)).length;
      cursor = found.next_cursor;
      if (cursor === null) break;
    }
    return decisions;
  }

  private async fetchForecasts(): Promise<void> {
    try {
      const page = await this.client.forecasts();
      if (!this.stopped) this.store.dispatch({ type: "forecasts", page });
    } catch {
      // The jobs keep the forecasts that came with them.
    }
  }

  // Opens a job's page (null closes it). What only that page shows is read after the lists, never before:
  // otherwise an event between the two would be in neither.
  open(id: string | null): void {
    this.store.dispatch({ type: "open", job: id });
    if (id !== null && this.listed) void this.needs.load(id);
  }
}
