// Asks the daemon for plans and submits what was planned: one thing at a time, and a new one ends the one before. But the
// daemon makes one plan of a token at a time: while it makes the one that was ended here, it refuses a new one (429).
import { ApiError, type Client, freshKey } from "../api/client";
import type { SubmitDecision } from "../api/plan_types";
import { jobText, kExampleText } from "./job_text";
import { mayPlan, maySubmit, type PlanAction, type PlanProblem } from "./plan_desk";
import type { Store } from "./store";

const kPlanMs = 120_000; // two runs of the whole pool ahead, perhaps behind the plans of others

export class Planner {
  private readonly client: Client;
  private readonly store: Store;
  private asked: AbortController | undefined;

  constructor(client: Client, store: Store) {
    this.client = client;
    this.store = store;
  }

  write(text: string): void { this.put({ type: "wrote", text }); }
  beginExample(): void { this.put({ type: "begun", like: null, name: "the example", text: kExampleText }); }
  takeBack(): void { this.put({ type: "taken_back" }); }

  async beginLike(id: string): Promise<void> {
    await this.work({ type: "working", work: { kind: "reading", like: id } }, "begin", async () => {
      const job = await this.client.job(id);
      return { type: "begun", like: id, name: job.name, text: jobText(job) };
    });
  }

  async plan(): Promise<void> {
    const desk = this.store.state.plan;
    if (!mayPlan(desk)) return;
    const { text } = desk;
    await this.work({ type: "working", work: { kind: "planning", since: Date.now() } }, "plan", async (signal) => {
      const plan = await this.client.plan(text, signal);
      return { type: "answered", answer: { text, plan, decision: await this.decisionOn(text, signal), key: freshKey() } };
    });
  }

  // Why it waits, or where it starts, is told by a dry run; without it the plan is still an answer.
  private async decisionOn(text: string, signal: AbortSignal): Promise<SubmitDecision | null> {
    try {
      return await this.client.decisionOn(text, signal);
    } catch (failure) {
      if (signal.aborted) throw failure;
      return null;
    }
  }

  // The new job's id; null if there is none.
  async submit(): Promise<string | null> {
    const desk = this.store.state.plan;
    const { answer } = desk;
    if (!maySubmit(desk) || answer === null) return null;
    let id: string | null = null;
    await this.work({ type: "working", work: { kind: "submitting" } }, "submit", async () => {
      const job = await this.client.submit(answer.text, answer.key);
      id = job.id;
      return { type: "submitted", id: job.id, name: job.name };
    });
    return id;
  }

  giveUp(): void {
    this.asked?.abort();
    this.asked = undefined;
    this.put({ type: "gave_up" });
  }

  stop(): void { this.asked?.abort(); }

  private put(action: PlanAction): void { this.store.dispatch({ type: "plan", action }); }

  // What comes after this was given up, or stopped, is dropped.
  private async work(begin: PlanAction, of: PlanProblem["of"], ask: (signal: AbortSignal) => Promise<PlanAction>): Promise<void> {
    this.asked?.abort();
    const asked = new AbortController();
    this.asked = asked;
    let late = false;
    const limit = setTimeout(() => { late = true; asked.abort(new DOMException("", "TimeoutError")); }, kPlanMs);
    this.put(begin);
    let end: PlanAction;
    try {
      end = await ask(asked.signal);
    } catch (failure) {
      end = { type: "failed", problem: late ? kTooLate : problemOf(failure, of) };
    } finally {
      clearTimeout(limit);
    }
    if (this.asked === asked && (late || !asked.signal.aborted)) this.put(end);
  }
}

const kTooLate: PlanProblem = {
  of: "plan", status: 0, code: "TooLate", message: `no plan came within ${kPlanMs / 1000} s`, fields: [],
  hint: "try again when the daemon has less to do",
};

export function problemOf(failure: unknown, of: PlanProblem["of"]): PlanProblem {
  if (!(failure instanceof ApiError)) return { of, status: 0, code: "Failed", message: String(failure), fields: [], hint: null };
  const { problem, status, code } = failure;
  const message = problem.detail ?? problem.title ?? failure.message;
  return { of, status, code, message, fields: problem.errors ?? [], hint: problem.hint || null };
}
