// What the job would have cost at its largest size throughout. Pure, and an estimate: it says from what.
import type { Job, MeasuredSize, ThroughputFit } from "../api/types";

export interface CostAtMax {
  amount: number;
  seconds: number;
  source: "measured" | "fitted";
}

// Throughput at a size: measured if it was, else read from the fitted curve, else unknown.
export function throughputAt(size: number, sizes: readonly MeasuredSize[], fit: ThroughputFit | null): { value: number; source: CostAtMax["source"] } | null {
  const measured = sizes.find((entry) => entry.size === size);
  if (measured && measured.samples_per_second > 0) return { value: measured.samples_per_second, source: "measured" };
  const fitted = fit?.curve.find((entry) => entry.size === size);
  return fitted && fitted.samples_per_second > 0 ? { value: fitted.samples_per_second, source: "fitted" } : null;
}

// A curve through one measured size says nothing of any other.
export function fitShown(sizes: readonly MeasuredSize[], fit: ThroughputFit | null): ThroughputFit | null {
  return sizes.length > 1 ? fit : null;
}

// Whether it could have had, or has had, fewer workers than its largest size: else there is nothing to compare with.
export function hasSmallerSizes(job: Pick<Job, "min" | "max">, sizes: readonly MeasuredSize[]): boolean {
  return job.min < job.max && (sizes.length === 0 || sizes.some((entry) => entry.size !== job.max));
}

// The same samples at `max` workers: time = samples / throughput(max), cost = time * max * price of a worker.
export function costAtMax(job: Job, sizes: readonly MeasuredSize[], fit: ThroughputFit | null): CostAtMax | null {
  const paid = Number(job.cost.amount);
  const at = throughputAt(job.max, sizes, fitShown(sizes, fit));
  if (!hasSmallerSizes(job, sizes) || !at || !(paid > 0) || !(job.cost.slot_seconds > 0) || !(job.progress.samples > 0)) return null;
  const slotsPerWorker = job.spec?.resources?.gpus_per_worker ?? 1;
  const pricePerSlotSecond = paid / job.cost.slot_seconds;
  const seconds = job.progress.samples / at.value;
  return { seconds, amount: seconds * job.max * slotsPerWorker * pricePerSlotSecond, source: at.source };
}

// Seconds to the end at the present pace, null if the job's total work is unknown or it does not run.
export function secondsLeft(job: Job): number | null {
  const { fraction, step, steps_total, step_ms, samples, samples_total, samples_per_second } = job.progress;
  if (fraction === null || fraction >= 1 || job.size === 0) return null;
  if (steps_total !== null && step_ms > 0) return ((steps_total - step) * step_ms) / 1000;
  if (samples_total !== null && samples_per_second > 0) return (samples_total - samples) / samples_per_second;
  return null;
}
