// Resources of api/examples, so that these tests fail when the contract moves.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ClusterNode, Decision, Job, JobMetrics, TideEvent } from "~/api/types";
import { kEmptyState, type State } from "~/state/model";
import { reduce } from "~/state/reducer";

function read<T>(name: string): T {
  return JSON.parse(readFileSync(fileURLToPath(new URL(`../../../api/examples/${name}.json`, import.meta.url)), "utf8")) as T;
}

export const job = (more: Partial<Job> = {}): Job => ({ ...read<Job>("job"), ...more });
export const node = (): ClusterNode => read<ClusterNode>("node");
export const decision = (): Decision => read<Decision>("decision");
export const metrics = (): JobMetrics => read<JobMetrics>("job_metrics");

export function event(seq: number, type: string, data: Record<string, unknown>, more: Partial<TideEvent> = {}): TideEvent {
  return { ...read<TideEvent>("event"), seq, type, data, ...more };
}

// A tab that has listed one running job of two workers on one node, up to event 81.
export function listed(): State {
  return reduce(kEmptyState, {
    type: "listed", seq: 81, jobs: [job({ state: "running", target_size: 2 })], nodes: [node()], policies: [], decisions: [], recent: [],
  });
}

export const apply = (state: State, ...events: TideEvent[]): State => reduce(state, { type: "events", events });
