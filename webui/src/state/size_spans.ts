// How many workers a planned job has, as spans of time. Pure.
import type { Forecast } from "../api/types";

export interface SizeSpan {
  from: number; // ms since 1970
  to: number | null; // null: it goes on, for how long nothing tells
  size: number;
}

// From its submission to its end. A forecast without an end only assumes one, so that one is not drawn.
export function sizeSpans({ sizes, end }: Pick<Forecast, "sizes" | "end">): SizeSpan[] {
  const points = sizes.map(({ at, size }) => ({ at: Date.parse(at), size }));
  const last = points[points.length - 1];
  if (last?.size === 0 && points.length > 1 && end === null) points.pop();
  const spans = points.map(({ at, size }, index): SizeSpan => ({ from: at, to: points[index + 1]?.at ?? null, size }));
  const final = spans[spans.length - 1];
  // What it has after its last change it has to its end; and after its end it has nothing, which is no span.
  if (final && end !== null && final.size > 0) final.to = Math.max(final.from, Date.parse(end.expected));
  if (final && end !== null && final.size === 0 && spans.length > 1) spans.pop();
  return spans.filter((span) => span.to === null || span.to > span.from);
}

// As shares of the whole: what goes on gets a half, and nothing is too thin to be seen.
export function spanWidths(spans: readonly SizeSpan[]): number[] {
  const known = spans.reduce((sum, { from, to }) => sum + (to === null ? 0 : to - from), 0) || 1;
  const widths = spans.map(({ from, to }) => (to === null ? known : Math.max(to - from, known / 100)));
  const whole = widths.reduce((sum, width) => sum + width, 0);
  return widths.map((width) => width / whole);
}
