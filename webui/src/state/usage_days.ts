// What tenants used on each day of a window. Pure: plain sums over rows.
import type { Usage, UsageRow } from "../api/types";

export interface UsageDay {
  day: string; // "2026-11-23", in UTC
  jobs: number;
  slotHours: number;
  cost: number;
}

// Every day of the window up to today, those without use too; `tenants` null = all that the token may see.
export function usageDays(usage: Usage, tenants: ReadonlySet<string> | null, today: string): UsageDay[] {
  const rows = new Map<string, UsageRow[]>();
  for (const row of usage.rows) {
    if (tenants !== null && !tenants.has(row.by.tenant ?? "")) continue;
    const day = row.by.day ?? "";
    rows.set(day, [...(rows.get(day) ?? []), row]);
  }
  return daysOf(usage.from, usage.to < today ? usage.to : today).map((day) => ({ day, ...sumOf(rows.get(day) ?? []) }));
}

export function sumOf(rows: readonly UsageRow[]): Omit<UsageDay, "day"> {
  return rows.reduce((sum, row) => ({
    jobs: sum.jobs + row.jobs, slotHours: sum.slotHours + row.slot_seconds / 3600, cost: sum.cost + Number(row.cost),
  }), { jobs: 0, slotHours: 0, cost: 0 });
}

const kDayMs = 86_400_000;

// Both ends included.
export function daysOf(from: string, to: string): string[] {
  const days: string[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += kDayMs) days.push(dayOf(at));
  return days;
}

export function dayOf(ms: number): string { return new Date(ms).toISOString().slice(0, 10); }
