// The only file that asks the daemon for anything. Every failure is an ApiError with a sentence.
import type { Plan, SubmitDecision } from "./plan_types";
import {
  type Caller, type ClusterNode, type Decision, type Explanation, type ForecastPage, type Job, type JobMetrics, kPolicyNews, type Page, type Policy,
  type Problem, type TenantTree, type TideEvent, type Usage, type UsageWindow, type Worker,
} from "./types";

export class ApiError extends Error {
  readonly status: number; // 0 = the daemon did not answer
  readonly code: string;
  readonly problem: Partial<Problem>; // as the daemon has told it, empty if it has not
  constructor(status: number, code: string, message: string, problem: Partial<Problem> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.problem = problem;
  }
}

const kRequestTimeoutMs = 15_000;
const kPageLimit = 500;
const kStates = { live: "pending,starting,running,resizing,suspending,suspended", ended: "succeeded,failed,cancelled" };

const kOfRequests = /^GET \/v1\//; // a hint for programs: the page has a link to the same

function sentence(problem: Partial<Problem>, status: number): string {
  const parts = [problem.detail ?? problem.title ?? `the daemon answered ${status}`];
  for (const error of problem.errors ?? []) {
    if (error.message !== parts[0]) parts.push(`${error.pointer}: ${error.message}`);
  }
  if (problem.hint && !kOfRequests.test(problem.hint)) parts.push(problem.hint);
  return parts.join("; ");
}

export async function errorOf(response: Response): Promise<ApiError> {
  let problem: Partial<Problem> = {};
  try {
    problem = (await response.json()) as Partial<Problem>;
  } catch {
    // A proxy in between may answer with something else than problem+json; the status is enough.
  }
  return new ApiError(response.status, problem.code ?? "Http", sentence(problem, response.status), problem);
}

// Of a command: asked twice with one key, the daemon carries it out once. Not randomUUID(), which browsers only have
// on https and loopback.
export function freshKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Client {
  private readonly token: string | null;
  private readonly base: string;
  constructor(token: string | null, base = "") {
    this.token = token;
    this.base = base;
  }

  headers(extra: Record<string, string> = {}): Record<string, string> {
    return this.token ? { ...extra, Authorization: `Bearer ${this.token}` } : extra;
  }

  // Opens the event stream; the caller reads the body. No time limit: a stream is meant to stay.
  async openStream(after: number, signal: AbortSignal): Promise<Response> {
    const response = await this.send(`/v1/events/stream?after=${after}`, {
      headers: this.headers({ Accept: "text/event-stream", "Last-Event-ID": String(after) }),
      signal,
      cache: "no-store",
    });
    if (!response.ok) throw await errorOf(response);
    return response;
  }

  private async send(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(this.base + path, init);
    } catch (failure) {
      if (init.signal?.aborted && !(init.signal.reason instanceof DOMException && init.signal.reason.name === "TimeoutError")) {
        throw failure;
      }
      throw new ApiError(0, "Unreachable", "the daemon does not answer");
    }
  }

  private async get<T>(path: string): Promise<T> {
    const response = await this.send(path, {
      headers: this.headers({ Accept: "application/json" }),
      signal: AbortSignal.timeout(kRequestTimeoutMs),
    });
    if (!response.ok) throw await errorOf(response);
    return (await response.json()) as T;
  }

  private async command(method: string, path: string, body?: unknown): Promise<void> {
    const headers: Record<string, string> = { Accept: "application/json", "Idempotency-Key": freshKey() };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const response = await this.send(path, {
      method,
      headers: this.headers(headers),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(kRequestTimeoutMs),
    });
    if (!response.ok) throw await errorOf(response);
  }

  // A job file goes as it was written, YAML or JSON, which is YAML, too: what the daemon says of it names its lines.
  private async sendFile<T>(path: string, text: string, init: { signal: AbortSignal; key?: string }): Promise<T> {
    const headers: Record<string, string> = { Accept: "application/json", "Content-Type": "application/yaml" };
    if (init.key !== undefined) headers["Idempotency-Key"] = init.key;
    const response = await this.send(path, { method: "POST", headers: this.headers(headers), body: text, signal: init.signal });
    if (!response.ok) throw await errorOf(response);
    return (await response.json()) as T;
  }

  // Walks the cursor to the end. `as_of_seq` is the first page's: events after it repeat nothing harmful,
  // while the last page's could skip one that changed an item of the first.
  private async all<T, P extends Page<T> = Page<T>>(path: string): Promise<P> {
    const separator = path.includes("?") ? "&" : "?";
    const first = await this.get<P>(`${path}${separator}limit=${kPageLimit}`);
    const items = [...first.items];
    let cursor = first.next_cursor;
    while (cursor !== null) {
      const next = await this.get<Page<T>>(`${path}${separator}limit=${kPageLimit}&cursor=${encodeURIComponent(cursor)}`);
      items.push(...next.items);
      cursor = next.next_cursor;
    }
    return { ...first, items, next_cursor: null };
  }

  whoami(): Promise<Caller> { return this.get<Caller>("/v1/whoami"); }
  jobs(): Promise<Page<Job>> { return this.all<Job>("/v1/jobs"); }
  jobsPage(which: keyof typeof kStates, cursor: string | null): Promise<Page<Job>> {
    return this.get<Page<Job>>(`/v1/jobs?state=${kStates[which]}&limit=${kPageLimit}${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`);
  }
  job(id: string): Promise<Job> { return this.get<Job>(`/v1/jobs/${encodeURIComponent(id)}`); }
  nodes(): Promise<Page<ClusterNode>> { return this.all<ClusterNode>("/v1/nodes"); }
  policies(): Promise<Page<Policy>> { return this.all<Policy>("/v1/policies"); }
  workers(job: string): Promise<Page<Worker>> { return this.all<Worker>(`/v1/jobs/${encodeURIComponent(job)}/workers`); }
  metrics(job: string): Promise<JobMetrics> { return this.get<JobMetrics>(`/v1/jobs/${encodeURIComponent(job)}/metrics?limit=1000`); }
  explain(job: string): Promise<Explanation> { return this.get<Explanation>(`/v1/jobs/${encodeURIComponent(job)}/explain`); }
  decisions(limit: number, cursor: string | null = null): Promise<Page<Decision>> {
    return this.get<Page<Decision>>(`/v1/decisions?limit=${limit}${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`);
  }
  jobEvents(job: string, after: number): Promise<Page<TideEvent>> { return this.all<TideEvent>(`/v1/jobs/${encodeURIComponent(job)}/events?after=${after}`); }
  newestSwitches(job: string, limit: number): Promise<Page<TideEvent>> {
    const path = `/v1/jobs/${encodeURIComponent(job)}/events`;
    return this.get<Page<TideEvent>>(`${path}?type=generation.switched&order=desc&limit=${limit}`);
  }
  // The newest of what is told of the policies that decide; null: none is kept, or the token may not see it.
  async policyNews(): Promise<TideEvent | null> {
    const newest = (type: string) => this.get<Page<TideEvent>>(`/v1/events?type=${type}&order=desc&limit=1`);
    const pages = await Promise.all(kPolicyNews.map(newest));
    return pages.flatMap(({ items }) => items).sort((a, b) => b.seq - a.seq)[0] ?? null;
  }
  eventsAfter(seq: number): Promise<Page<TideEvent>> { return this.get<Page<TideEvent>>(`/v1/events?after=${seq}&limit=${kPageLimit}`); }

  forecasts(): Promise<ForecastPage> { return this.all<ForecastPage["items"][number], ForecastPage>("/v1/forecast"); }
  tenants(): Promise<TenantTree> { return this.get<TenantTree>("/v1/tenants"); }
  usageByDay(window: UsageWindow): Promise<Usage> { return this.get<Usage>(`/v1/usage?by=tenant,day&window=${window}`); }

  plan(file: string, signal: AbortSignal): Promise<Plan> { return this.sendFile<Plan>("/v1/plan", file, { signal }); }
  decisionOn(file: string, signal: AbortSignal): Promise<SubmitDecision> {
    return this.sendFile<{ decision: SubmitDecision }>("/v1/jobs?dry_run=true", file, { signal }).then(({ decision }) => decision);
  }
  submit(file: string, key: string): Promise<Job> {
    return this.sendFile<Job>("/v1/jobs", file, { signal: AbortSignal.timeout(kRequestTimeoutMs), key });
  }

  resize(job: string, size: number): Promise<void> { return this.command("POST", `/v1/jobs/${encodeURIComponent(job)}/resize`, { size }); }
  suspend(job: string): Promise<void> { return this.command("POST", `/v1/jobs/${encodeURIComponent(job)}/suspend`); }
  resume(job: string): Promise<void> { return this.command("POST", `/v1/jobs/${encodeURIComponent(job)}/resume`); }
  cancel(job: string): Promise<void> { return this.command("DELETE", `/v1/jobs/${encodeURIComponent(job)}`); }
}
