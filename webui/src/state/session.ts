// Keeps the store true: lists once, follows the stream, fetches what events have made out of date.
// One at a time; stop() ends everything it started.
import { ApiError, type Client } from "../api/client";
import { EventStream } from "../api/event_stream";
import type { Decision, Page, TideEvent } from "../api/types";
import { isTold, kNoNeeds } from "./model";
import { PacedRead } from "./paced_read";
import { ReasonFeed } from "./reason_feed";
import type { Store } from "./store";
import { TenantFeed } from "./tenant_feed";

const kBatchMs = 80; // events are shown together, at most twelve times a second
const kRefetchMs = 400; // the pause before what events made stale is fetched
const kProgressMs = 3_000; // the same where jobs have only made steps
const kProgressedJobs = 20; // read at most so many of those at once; the others have their turn next
const kRelistMs = 5_000; // the pause before a failed first list is tried again
const kRecentEvents = 500;
const kDecisionsRead = 40;
const kDecisionsToTell = 12; // of those that changed something; under a policy for the whole cluster few do
const kDecisionsPage = 200;
const kDecisionPages = 5; // and so many larger pages are read back for them at most
// No event says that a forecast was made: the daemon makes one 5 s after something has changed, and rests after it.
const kForecastPatienceMs = 6_000;
const kForecastPaceMs = 15_000;
const kJobEvents = 10_000; // how far back a job's page reads: a long job has reports without end

export class Session {
  readonly tenants: TenantFeed;
  private readonly forecasts: PacedRead;
  private readonly reasons: ReasonFeed;
  private readonly client: Client;
  private readonly store: Store;
  private stream: EventStream | undefined;
  private pending: TideEvent[] = [];
  private batch: ReturnType<typeof setTimeout> | undefined;
  private refetch: ReturnType<typeof setTimeout> | undefined;
  private relist: ReturnType<typeof setTimeout> | undefined;
  private refetchAt = 0;
  private progressReadAt = 0;
  private fetching = false;
  private listed = false;
  private run = 0; // of start(); what an earlier one still brings is dropped
  private stopped = false;
  private wasDown = false;

  constructor(client: Client, store: Store) {
    this.client = client;
    this.store = store;
    this.tenants = new TenantFeed(client, store);
    this.forecasts = new PacedRead(() => this.fetchForecasts(), kForecastPaceMs);
    this.reasons = new ReasonFeed(client, store, () => this.refetchSoon());
    void this.start();
  }

  stop(): void {
    this.stopped = true;
    this.run += 1;
    this.stream?.close();
    this.tenants.stop();
    this.forecasts.stop();
    this.reasons.stop();
    clearTimeout(this.batch);
    clearTimeout(this.refetch);
    clearTimeout(this.relist);
  }

  retryNow(): void {
    if (this.stream) this.stream.retryNow();
    else void this.start();
  }

  // Lists everything, then streams from where the oldest of the lists ends, so that nothing falls between.
  private async start(): Promise<void> {
    const run = ++this.run;
    clearTimeout(this.relist);
    this.stream?.close();
    this.stream = undefined;
    this.pending = [];
    this.listed = false;
    try {
      const [jobs, nodes, policies, decisions] = await Promise.all([
        this.client.jobs(), this.client.nodes(), this.client.policies(), this.decisionsToTell(),
      ]);
      if (run !== this.run) return;
      const seq = Math.min(jobs.as_of_seq, nodes.as_of_seq);
      const recent = await this.client.eventsAfter(Math.max(0, seq - kRecentEvents));
      if (run !== this.run) return;
      this.store.dispatch({
        type: "listed", seq, jobs: jobs.items, nodes: nodes.items, policies: policies.items, decisions,
        recent: recent.items.filter((event) => event.seq <= seq),
      });
      this.listed = true;
      const open = this.store.state.detail?.job;
      if (open !== undefined) void this.load(open);
      this.forecasts.want();
      this.tenants.refresh();
      this.follow(seq);
    } catch (failure) {
      if (run === this.run) this.failedToList(failure);
    }
  }

  private failedToList(failure: unknown): void {
    const error = failure instanceof ApiError ? failure : new ApiError(0, "Failed", String(failure));
    if (error.status === 401 || error.status === 403) {
      return this.store.dispatch({ type: "link", link: { kind: "refused", message: error.message } });
    }
    this.relist = setTimeout(() => { void this.start(); }, kRelistMs);
    this.down(error, kRelistMs);
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
        if (this.wasDown) {
          this.reasons.refresh();
          this.refreshOpenPage();
        }
        this.wasDown = false;
      },
      onEvents: (events) => this.collect(events),
      onReset: () => { void this.start(); },
      onDown: (error, wait) => {
        this.wasDown = true;
        this.down(error, wait);
      },
      onRefused: (error) => this.store.dispatch({ type: "link", link: { kind: "refused", message: error.message } }),
    });
  }

  private collect(events: TideEvent[]): void {
    this.pending.push(...events);
    this.batch ??= setTimeout(() => {
      this.batch = undefined;
      const batch = this.pending;
      this.pending = [];
      if (batch.length > 0) this.store.dispatch({ type: "events", events: batch });
      this.tenants.notice(batch);
      this.reasons.notice(batch);
      this.forecasts.want(kForecastPatienceMs);
      this.refetchSoon();
    }, kBatchMs);
  }

  private refreshOpenPage(): void {
    this.tenants.refresh();
    const { detail } = this.store.state;
    if (!detail) return;
    if (!detail.loaded) return void this.load(detail.job); // it was opened while the daemon was gone
    this.store.dispatch({ type: "needs", needs: { explanation: true, workers: true, metrics: true } });
    this.refetchSoon();
  }

  // Fetches what is on the list of needs, each thing once however many events asked for it.
  private refetchSoon(): void {
    const { needs } = this.store.state;
    const soon = needs.jobs.size > 0 || needs.nodes || needs.decisions || needs.explanation || needs.workers || needs.metrics;
    if ((!soon && needs.progressed.size === 0) || this.fetching || this.stopped) return;
    const at = soon ? Date.now() + kRefetchMs : Math.max(Date.now(), this.progressReadAt + kProgressMs);
    if (this.refetch !== undefined && this.refetchAt <= at) return;
    clearTimeout(this.refetch);
    this.refetchAt = at;
    this.refetch = setTimeout(() => { void this.fetchNeeds(); }, at - Date.now());
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

  private async fetchNeeds(): Promise<void> {
    const { needs, detail } = this.store.state;
    this.fetching = true;
    this.refetch = undefined;
    const job = detail?.job;
    const progressed = this.takeProgressed(needs.progressed, job);
    const later = new Set([...needs.progressed].filter((id) => !progressed.includes(id)));
    this.store.dispatch({ type: "needs", needs: { ...kNoNeeds, progressed: later } });
    const work: Promise<void>[] = [...new Set([...needs.jobs, ...progressed])].map((id) => this.fetchJob(id));
    if (needs.nodes) work.push(this.client.nodes().then((page) => this.put({ type: "nodes", nodes: page.items })));
    if (needs.decisions) {
      work.push(this.client.decisions(kDecisionsRead).then((page) => this.put({ type: "decisions", decisions: page.items })));
    }
    if (job !== undefined && (needs.explanation || progressed.includes(job))) work.push(this.fetchExplanation(job));
    if (job !== undefined && needs.workers) work.push(this.fetchWorkers(job));
    if (job !== undefined && needs.metrics) work.push(this.fetchMetrics(job));
    // A failure here needs no word of its own: the stream notices the same outage and shows it.
    await Promise.allSettled(work);
    this.fetching = false;
    this.refetchSoon();
  }

  // Which of the jobs that made steps are read now: the open one alone, else those that wait longest.
  private takeProgressed(waiting: ReadonlySet<string>, open: string | undefined): string[] {
    if (Date.now() < this.progressReadAt + kProgressMs) return [];
    this.progressReadAt = Date.now();
    return [...waiting].filter((id) => open === undefined || id === open).slice(0, kProgressedJobs);
  }

  private put(action: Parameters<Store["dispatch"]>[0]): void {
    if (!this.stopped) this.store.dispatch(action);
  }
  private async fetchJob(id: string): Promise<void> { this.put({ type: "job", job: await this.client.job(id) }); }
  private async fetchExplanation(id: string): Promise<void> {
    this.put({ type: "explanation", explanation: await this.client.explain(id) });
  }
  private async fetchWorkers(id: string): Promise<void> {
    this.put({ type: "workers", job: id, workers: (await this.client.workers(id)).items });
  }
  private async fetchMetrics(id: string): Promise<void> { this.put({ type: "metrics", metrics: await this.client.metrics(id) }); }

  private async fetchForecasts(): Promise<void> {
    try {
      this.put({ type: "forecasts", page: await this.client.forecasts() });
    } catch {
      // The jobs keep the forecasts that came with them.
    }
  }

  // Opens a job's page (null closes it). What only that page shows is read after the lists, never before:
  // otherwise an event between the two would be in neither.
  open(id: string | null): void {
    this.store.dispatch({ type: "open", job: id });
    if (id !== null && this.listed) void this.load(id);
  }

  private async load(id: string): Promise<void> {
    const after = Math.max(0, this.store.state.seq - kJobEvents);
    try {
      await Promise.all([
        this.fetchJob(id), this.fetchMetrics(id), this.fetchWorkers(id), this.fetchExplanation(id),
        this.client.jobEvents(id, after).then((page) => this.put({ type: "history", job: id, after, events: page.items })),
      ]);
    } catch (failure) {
      const message = failure instanceof ApiError ? failure.message : String(failure);
      if (!(failure instanceof ApiError) || failure.status !== 0) this.put({ type: "missing", job: id, message });
    }
  }
}
