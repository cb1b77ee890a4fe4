// Reads what events have made out of date, each thing once however many events asked for it, and all of a job whose
// page opens.
//
// How often: soon after an event, jobs that have only made steps every 3 s; of jobs a bounded number at once, the others
// have their turn next, and of very many the list. What fails stays needed and has its turn again after 5 s.
import { ApiError, type Client } from "../api/client";
import type { TideEvent } from "../api/types";
import { isUnknown, kNoNeeds, type Needs } from "./model";
import { type Action, movesSlots } from "./reducer";
import type { Feed } from "./paced_read";
import type { Store } from "./store";

const kRefetchMs = 400;
const kProgressMs = 3_000;
const kRetryMs = 5_000;
const kSettledMs = 5_000;
const kJobsAtOnce = 20;
const kJobsToList = 100; // of more than so many the list is read: it has 500 on a page
export const kDecisionsRead = 40;
const kJobEvents = 10_000; // how far back a job's page reads: a long job has reports without end
const kSwitches = 50; // of its generations, however far back

export class NeedsFeed implements Feed {
  private readonly client: Client;
  private readonly store: Store;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private settled: ReturnType<typeof setTimeout> | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private failed: Partial<Needs>[] = []; // they wait for the retry, and nothing else waits for them
  private dueAt = 0;
  private progressReadAt = 0;
  private reading = false;
  private stopped = false;

  constructor(client: Client, store: Store) {
    this.client = client;
    this.store = store;
  }

  // No event says that a worker which left its job has ended, so nodes are read
  // once more when all has settled.
  notice(events: readonly TideEvent[]): void {
    if (events.some(movesSlots)) {
      clearTimeout(this.settled);
      this.settled = setTimeout(() => this.add({ nodes: true }), kSettledMs);
    }
    this.want();
  }

  refresh(): void {
    const { detail } = this.store.state;
    this.readFailed();
    // It may have been opened while the daemon was gone.
    const isOpen = detail !== null && !isUnknown(this.store.state);
    if (detail?.loaded) this.add({ nodes: true, explanation: true, workers: true, metrics: true });
    else this.add(isOpen ? { nodes: true, page: true } : { nodes: true });
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    clearTimeout(this.settled);
    clearTimeout(this.retry);
  }

  // Reads what the state says is needed.
  want(): void {
    const { progressed, jobs, ...others } = this.store.state.needs;
    const soon = jobs.size > 0 || Object.values(others).some(Boolean);
    if ((!soon && progressed.size === 0) || this.reading || this.stopped) return;
    const at = soon ? Date.now() + kRefetchMs : Math.max(Date.now(), this.progressReadAt + kProgressMs);
    if (this.timer !== undefined && this.dueAt <= at) return;
    clearTimeout(this.timer);
    this.dueAt = at;
    this.timer = setTimeout(() => { void this.read(); }, at - Date.now());
  }

  // All that only the page of one job shows.
  async load(id: string): Promise<void> { await this.attempt({ page: true }, this.readPage(id)); }

  private async readPage(id: string): Promise<void> {
    try {
      const job = this.readJob(id);
      if (!this.store.state.jobs.has(id)) await job; // it may not exist
      if (this.store.state.detail?.missing) this.put({ type: "missing", job: id, problem: null });
      await Promise.all([
        job, this.readMetrics(id), this.readWorkers(id), this.readExplanation(id), this.readSwitches(id),
        this.readHistory(id, Math.max(0, this.store.state.seq - kJobEvents)),
      ]);
      this.put({ type: "loaded", job: id });
    } catch (failure) {
      const { status, message } = failure instanceof ApiError ? failure : { status: -1, message: String(failure) };
      this.put({ type: "missing", job: id, problem: { status, message } });
      throw failure;
    }
  }

  private async read(): Promise<void> {
    const { needs, detail } = this.store.state;
    this.reading = true;
    this.timer = undefined;
    const open = detail?.job;
    const many = needs.jobs.size > kJobsToList;
    const progressed = this.takeProgressed(needs.progressed, open);
    const jobs = [...needs.jobs].slice(0, many ? needs.jobs.size : kJobsAtOnce);
    const later = { jobs: without(needs.jobs, jobs), progressed: without(needs.progressed, progressed) };
    this.put({ type: "needs", needs: { ...kNoNeeds, ...later } });
    const work: Promise<void>[] = many ? [this.attempt({ jobs: new Set(jobs) }, this.listJobs(jobs))] : [];
    for (const id of new Set([...(many ? [] : jobs), ...progressed])) {
      work.push(this.attempt({ jobs: new Set([id]) }, this.readJob(id)));
    }
    if (needs.page && detail && !detail.loaded) work.push(this.load(detail.job));
    if (needs.nodes) work.push(this.attempt({ nodes: true }, this.readNodes()));
    if (needs.policies) work.push(this.attempt({ policies: true }, this.readPolicies()));
    if (needs.decisions) work.push(this.attempt({ decisions: true }, this.readDecisions()));
    if (open !== undefined && (needs.explanation || progressed.includes(open))) {
      work.push(this.attempt({ explanation: true }, this.readExplanation(open)));
    }
    if (open !== undefined && needs.workers) work.push(this.attempt({ workers: true }, this.readWorkers(open)));
    if (open !== undefined && needs.metrics) work.push(this.attempt({ metrics: true }, this.readMetrics(open)));
    await Promise.all(work);
    this.reading = false;
    this.want();
  }

  // Beside the page's own, a failure needs no word: the stream notices the same outage and shows it.
  private async attempt(need: Partial<Needs>, read: Promise<void>): Promise<void> {
    try {
      await read;
    } catch (failure) {
      // What was refused would be refused again.
      if (failure instanceof ApiError && failure.status >= 400 && failure.status < 500) return;
      if (this.stopped) return;
      this.failed.push(need);
      this.retry ??= setTimeout(() => this.readFailed(), kRetryMs);
    }
  }

  private readFailed(): void {
    clearTimeout(this.retry);
    this.retry = undefined;
    const jobs = new Set(this.failed.flatMap((need) => [...(need.jobs ?? [])]));
    this.add({ ...Object.assign({}, ...this.failed.splice(0)), jobs });
  }

  private add(need: Partial<Needs>): void {
    const jobs = new Set([...this.store.state.needs.jobs, ...(need.jobs ?? [])]);
    this.put({ type: "needs", needs: { ...need, jobs } });
    this.want();
  }

  // Which of the jobs that made steps are read now: the open one alone, else those that wait longest.
  private takeProgressed(waiting: ReadonlySet<string>, open: string | undefined): string[] {
    if (Date.now() < this.progressReadAt + kProgressMs) return [];
    this.progressReadAt = Date.now();
    return [...waiting].filter((id) => open === undefined || id === open).slice(0, kJobsAtOnce);
  }

  private put(action: Action): void {
    if (!this.stopped) this.store.dispatch(action);
  }
  private async readJob(id: string): Promise<void> { this.put({ type: "jobs", jobs: [await this.client.job(id)] }); }
  private async listJobs(ids: readonly string[]): Promise<void> {
    const wanted = new Set(ids);
    this.put({ type: "jobs", jobs: (await this.client.jobs()).items.filter((job) => wanted.has(job.id)) });
  }
  private async readNodes(): Promise<void> { this.put({ type: "nodes", nodes: (await this.client.nodes()).items }); }
  private async readPolicies(): Promise<void> {
    this.put({ type: "policies", policies: (await this.client.policies()).items });
  }
  private async readDecisions(): Promise<void> {
    this.put({ type: "decisions", decisions: (await this.client.decisions(kDecisionsRead)).items });
  }
  private async readExplanation(id: string): Promise<void> {
    this.put({ type: "explanation", explanation: await this.client.explain(id) });
  }
  private async readWorkers(id: string): Promise<void> {
    this.put({ type: "workers", job: id, workers: (await this.client.workers(id)).items });
  }
  private async readHistory(id: string, after: number): Promise<void> {
    this.put({ type: "history", job: id, after, events: (await this.client.jobEvents(id, after)).items });
  }
  private async readSwitches(id: string): Promise<void> {
    const newestFirst = (await this.client.newestSwitches(id, kSwitches)).items;
    this.put({ type: "switches", job: id, events: newestFirst.reverse() });
  }
  private async readMetrics(id: string): Promise<void> {
    this.put({ type: "metrics", metrics: await this.client.metrics(id) });
  }
}

function without(all: ReadonlySet<string>, taken: readonly string[]): ReadonlySet<string> {
  const left = new Set(all);
  for (const id of taken) left.delete(id);
  return left;
}
