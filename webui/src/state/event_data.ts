// Reads the open `data` of an event: a field that is absent or of another type is null, never a crash.
import type { Reason, TideEvent } from "../api/types";

export function num(event: TideEvent, field: string): number | null {
  const value = event.data[field];
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

// An object of texts; {} if there is none.
export function texts(event: TideEvent, field: string): Record<string, string> {
  const value = event.data[field];
  return typeof value === "object" && value !== null ? (value as Record<string, string>) : {};
}

export function str(event: TideEvent, field: string): string | null {
  const value = event.data[field];
  return typeof value === "string" ? value : null;
}

export function bool(event: TideEvent, field: string): boolean | null {
  const value = event.data[field];
  return typeof value === "boolean" ? value : null;
}

export function numbers(event: TideEvent, field: string): number[] {
  const value = event.data[field];
  return Array.isArray(value) ? value.filter((entry): entry is number => typeof entry === "number") : [];
}

export function reason(event: TideEvent): Reason | null {
  const value = event.data.reason;
  if (typeof value !== "object" || value === null || !("text" in value) || !("code" in value)) return null;
  return value as Reason;
}

export interface IntentLine {
  kind: string;
  job: string | null;
  text: string;
  code: string | null; // of its reason; an event does not tell it
}

export function intents(event: TideEvent): IntentLine[] {
  const value = event.data.intents;
  if (!Array.isArray(value)) return [];
  return value.map((entry: Partial<IntentLine>) => ({
    kind: String(entry.kind ?? ""), job: entry.job ?? null, text: String(entry.text ?? ""), code: null,
  }));
}
