// Turns a job's points into the columns of the three charts, and says what part of an axis they need. Pure.
import type { MetricPoint } from "../../api/types";

export interface Columns {
  at: number[]; // seconds since 1970, growing
  size: number[];
  throughput: (number | null)[];
  loss: (number | null)[];
  step: number[];
}

// Points of the last `windowS` seconds; 0 = all. Points whose time does not grow are left out: uPlot needs order.
export function columnsOf(points: readonly MetricPoint[], windowS: number): Columns {
  const columns: Columns = { at: [], size: [], throughput: [], loss: [], step: [] };
  const last = points[points.length - 1];
  if (!last) return columns;
  const from = windowS > 0 ? Date.parse(last.at) / 1000 - windowS : -Infinity;
  let before = -Infinity;
  for (const point of points) {
    const at = Date.parse(point.at) / 1000;
    if (at < from || !(at > before)) continue;
    before = at;
    columns.at.push(at);
    columns.size.push(point.size);
    columns.throughput.push(point.samples_per_second > 0 ? point.samples_per_second : null);
    columns.loss.push(point.loss);
    columns.step.push(point.step);
  }
  return columns;
}

// With some room on both sides, which does not go below zero where no value does.
export function rangeAround(low: number, high: number): [number, number] {
  const room = Math.max((high - low) * 0.08, Math.abs(high) * 0.01, 1e-6);
  return [low >= 0 ? Math.max(0, low - room) : low - room, high + room];
}
