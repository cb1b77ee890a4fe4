// The size of a job over its life, as steps. Text says the same to a screen reader.
import type { SizePoint } from "../state/model";

const kWidth = 72;
const kHeight = 18;

export function stepPath(points: readonly SizePoint[], end: number, max: number): string {
  const first = points[0];
  if (!first) return "";
  const span = Math.max(1, end - first.at);
  const x = (at: number) => (1 + ((kWidth - 2) * (Math.min(at, end) - first.at)) / span).toFixed(1);
  const y = (size: number) => (kHeight - 1.5 - ((kHeight - 3) * size) / Math.max(1, max)).toFixed(1);
  let path = `M${x(first.at)} ${y(first.size)}`;
  for (const point of points.slice(1)) path += `H${x(point.at)}V${y(point.size)}`;
  return `${path}H${x(end)}`;
}

interface Props {
  points: readonly SizePoint[];
  end: number;
  max: number;
  colour: string;
}

export function Sparkline({ points, end, max, colour }: Props) {
  const label = points.length === 0 ? "no size yet" : `sizes so far: ${points.map((point) => point.size).join(", ")}`;
  return (
    <svg class="sparkline" width={kWidth} height={kHeight} viewBox={`0 0 ${kWidth} ${kHeight}`} role="img" aria-label={label}>
      <title>{label}</title>
      <path class="floor" d={`M1 ${kHeight - 1.5}H${kWidth - 1}`} />
      <path d={stepPath(points, end, max)} fill="none" stroke={colour} stroke-width="1.600" stroke-linejoin="round" />
    </svg>
  );
}
