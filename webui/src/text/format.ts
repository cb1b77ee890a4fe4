// Numbers, money and times as people read them. Every function is total: null and NaN become a dash.
import type { Job } from "../api/types";

const kDash = "–";

function known(value: number | null | undefined): value is number {
  return value !== null && value !== undefined && Number.isFinite(value);
}

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export function count(value: number | null | undefined): string {
  return known(value) ? whole.format(value) : kDash;
}

// The word for so many: "job", "jobs".
export function plural(n: number, word: string): string { return n === 1 ? word : `${word}s`; }

// How many workers a job may have.
export function boundsText(min: number, max: number): string {
  return min === max ? `exactly ${count(min)} ${plural(min, "worker")}` : `${count(min)} to ${count(max)} workers`;
}

// The sizes that a job may have where some between its bounds are left out; null: it may have all, or its file is not
// at hand, or older than its bounds.
export function sizesBetween({ min, max, spec }: Pick<Job, "min" | "max" | "spec">): readonly number[] | null {
  const sizes = spec?.elastic?.sizes ?? [];
  const fits = sizes.length > 0 && sizes[0] === min && sizes[sizes.length - 1] === max;
  return fits && sizes.length < max - min + 1 ? sizes : null;
}

// The size from which one begins to pin a job: its own, and of one that has no workers or a size in between the next one
// that it may have.
export function sizeToPin(job: Pick<Job, "size" | "pinned_size" | "min" | "max" | "spec">): number {
  const own = Math.min(job.max, Math.max(job.min, job.pinned_size ?? job.size));
  return sizesBetween(job)?.find((size) => size >= own) ?? own;
}

const kSizesTold = 8;

// "1, 2 or 4 workers", of many "8, 16, 24, … or 512 workers"; of all between two numbers "1 to 4 workers".
export function allowedText(job: Pick<Job, "min" | "max" | "spec">): string {
  const sizes = sizesBetween(job);
  if (sizes === null) return boundsText(job.min, job.max);
  const first = sizes.length <= kSizesTold ? sizes.slice(0, -1).map(count) : [...sizes.slice(0, 3).map(count), "…"];
  return `${first.join(", ")} or ${count(job.max)} workers`;
}

// Three significant digits for small values, "7.79e-5" for the smallest, thousands separators for large ones.
export function quantity(value: number | null | undefined): string {
  if (!known(value)) return kDash;
  const size = Math.abs(value);
  if (size >= 100 || value === 0) return whole.format(value);
  if (size < 0.001) return value.toExponential(2);
  if (size < 0.01) return Number(value.toPrecision(3)).toString();
  return value.toFixed(size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

// A message of the daemon as a sentence, so that another one can follow it.
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

// 12,300 -> "12.3k": for axis labels.
export function compact(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e9) return `${trimmed(value / 1e9)}G`;
  if (size >= 1e6) return `${trimmed(value / 1e6)}M`;
  if (size >= 1e3) return `${trimmed(value / 1e3)}k`;
  return trimmed(value);
}

function trimmed(value: number): string {
  return Number(value.toPrecision(3)).toString();
}

// "62 %" that no line breaks.
export function percent(fraction: number | null | undefined, digits = 0): string {
  if (!known(fraction)) return kDash;
  const value = digits === 0 ? whole.format(fraction * 100) : (fraction * 100).toFixed(digits);
  return `${value}\u00a0%`;
}

// A sentence of the daemon in which no line ends between a number and its "%".
export function unbroken(text: string): string { return text.replace(/(\d) %/g, "$1\u00a0%"); }

// Progress: a job's first tenth is told in tenths of a percent, and what has begun and not ended is neither none nor all.
export function share(fraction: number): string {
  if (fraction > 0 && fraction < 0.0005) return "<0.1\u00a0%";
  if (fraction < 1 && fraction >= 0.995) return ">99\u00a0%";
  return percent(fraction, fraction > 0 && fraction < 0.1 ? 1 : 0);
}

export function rate(samplesPerSecond: number | null | undefined): string {
  return known(samplesPerSecond) && samplesPerSecond > 0 ? `${quantity(samplesPerSecond)}/s` : kDash;
}

export function milliseconds(value: number | null | undefined): string {
  if (!known(value)) return kDash;
  return value >= 1000 ? duration(value / 1000) : `${quantity(value)} ms`;
}

const kSymbols: Record<string, string> = { USD: "$", EUR: "€", GBP: "£" };

// Cents only become visible above a dollar; below it the first three significant digits count.
export function money(amount: string | number | null | undefined, currency = "USD"): string {
  const value = typeof amount === "string" ? Number(amount) : amount;
  if (!known(value)) return kDash;
  const size = Math.abs(value);
  const digits = size === 0 || size >= 1 ? 2 : Math.min(6, 2 - Math.floor(Math.log10(size)));
  const text = size >= 1000 ? whole.format(value) : value.toFixed(digits);
  const symbol = kSymbols[currency];
  return symbol ? `${symbol}${text}` : `${text} ${currency}`;
}

export function duration(seconds: number | null | undefined): string {
  if (!known(seconds)) return kDash;
  if (seconds < 9.95) return `${Math.max(0, seconds).toFixed(1)} s`;
  const s = Math.round(seconds); // what is shown is cut out of this, so that no part of it is a whole one too many
  if (s < 90) return `${s} s`;
  if (s < 600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  const minutes = Math.round(s / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.round(hours / 24)} days`;
}

// "12 s ago". A clock that runs ahead of this one gives "now", not the future.
export function ago(at: string | null, now: number): string {
  if (at === null) return kDash;
  const seconds = Math.floor((now - Date.parse(at)) / 1000);
  if (!Number.isFinite(seconds)) return kDash;
  if (seconds < 2) return "now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86_400)} days ago`;
}

const exact = new Intl.DateTimeFormat(undefined, {
  year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short",
});

// To the second, with its zone.
export function absolute(at: string | number | null): string {
  if (at === null) return kDash;
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? kDash : exact.format(date);
}

// Which zone the times have that name none.
export function zoneText(): string {
  const { timeZone } = exact.resolvedOptions();
  return timeZone === "UTC" ? "All times are in UTC." : `Times are in this browser's zone, ${timeZone}, where they do not say UTC.`;
}

// "21:53:20", in the zone of the one who reads it, as all times of the page that do not say "UTC".
export function clock(ms: number): string {
  return new Date(ms).toLocaleTimeString("en-GB");
}

// "20 Nov"
export function dayOfMonth(ms: number): string {
  return new Date(ms).toLocaleDateString("en-GB", { day: "numeric", month: "short" });
}

// "21:53:20", of another day than `besideMs` "20 Nov 21:53:20".
export function clockBeside(at: string, besideMs: number): string {
  const ms = Date.parse(at);
  if (!Number.isFinite(ms)) return kDash;
  return dayOfMonth(ms) === dayOfMonth(besideMs) ? clock(ms) : `${dayOfMonth(ms)} ${clock(ms)}`;
}

const kDayMs = 86_400_000;

// A moment of a stretch of time: "21:53:20", of one that is longer than a day "20 Nov 21:53".
export function clockWithin(ms: number, stretchMs: number): string {
  return stretchMs <= kDayMs ? clock(ms) : `${dayOfMonth(ms)} ${clock(ms).slice(0, 5)}`;
}

// "2 (1–4)", and while a resize is under way "2 → 3 (1–4)"; of a job of one size "2 (2)".
export function sizeText(job: { size: number; target_size: number; min: number; max: number; state: string }): string {
  const moving = job.state === "resizing" && job.target_size !== job.size;
  return `${job.size}${moving ? ` → ${job.target_size}` : ""} (${job.min === job.max ? job.max : `${job.min}–${job.max}`})`;
}

// Of a size that lost the reason says how the job would leave it: of 2 workers "growing 2 -> 3: it gains in utility" is
// "it would grow to 3: it gains in utility".
export function leavingText(why: string, size: number): string {
  for (const [verb, would] of [["growing", "it would grow to"], ["shrinking", "it would shrink to"]]) {
    const begin = `${verb} ${count(size)} -> `;
    if (why.startsWith(begin)) return `${would} ${why.slice(begin.length)}`;
  }
  return why;
}
