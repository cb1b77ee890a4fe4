// Puts the newest forecasts into the jobs they are of. Pure.
import type { ForecastPage, Job } from "../api/types";
import { kept } from "./kept";
import type { State } from "./model";

export function withForecasts(state: State, page: ForecastPage): State {
  const told = new Map(page.items.map((item) => [item.job, item.forecast]));
  const jobs = new Map<string, Job>();
  for (const [id, job] of state.jobs) {
    const forecast = told.get(id) ?? null;
    const same = (job.forecast?.computed_at ?? null) === (forecast?.computed_at ?? null);
    jobs.set(id, same ? job : { ...job, forecast });
  }
  return { ...state, jobs: kept(state.jobs, jobs), forecasts: { computed_at: page.computed_at, policy: page.policy, observed: page.observed } };
}
