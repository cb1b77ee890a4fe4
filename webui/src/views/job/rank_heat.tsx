// Compute times of the newest reports at hand, which may be thinned, a row for each rank: stronger = slower than that
// report's median.
import { useEffect, useRef } from "preact/hooks";
import type { MetricPoint } from "../../api/types";
import { cssColour, useDark } from "../../page/theme";
import { percent } from "../../text/format";
import { median } from "./median";

const kColumns = 120;
const kMostRanks = 64;

// How far above the median a time is: 0 = at it or below, 1 = twice as long or more.
export function heat(time: number, middle: number): number {
  return middle > 0 ? Math.max(0, Math.min(1, time / middle - 1)) : 0;
}

export function RankHeat({ points }: { points: readonly MetricPoint[] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const dark = useDark();
  const shown = points.slice(-kColumns).filter((point) => point.compute_ms.length > 0);
  const ranks = Math.min(kMostRanks, shown.reduce((most, point) => Math.max(most, point.compute_ms.length), 0));
  useEffect(() => { if (canvas.current) draw(canvas.current, shown, ranks); }, [points, dark]);
  if (ranks < 2 || shown.length < 2) return null;
  const worst = shown.reduce((most, point) => Math.max(most, ...point.compute_ms.map((time) => heat(time, median(point.compute_ms)))), 0);
  return (
    <figure class="heat">
      <canvas ref={canvas} role="img" aria-label={`Compute times of ${shown.length} reports by rank; the slowest was ${percent(worst)} above its median`} />
      <figcaption class="quiet">The last {shown.length} reports, newest on the right; one row for each rank, rank 0 on top; stronger colour = slower than the median <i class="ramp" aria-hidden="true" /></figcaption>
    </figure>
  );
}

function draw(canvas: HTMLCanvasElement, points: readonly MetricPoint[], ranks: number): void {
  const row = ranks <= 4 ? 18 : ranks <= 8 ? 12 : ranks <= 24 ? 8 : 4;
  const column = 6;
  canvas.width = kColumns * column;
  canvas.height = ranks * row;
  canvas.style.height = `${ranks * row}px`;
  const pen = canvas.getContext("2d");
  if (!pen) return;
  const calm = cssColour("--heat-calm");
  const hot = cssColour("--heat-hot");
  points.forEach((point, index) => {
    const middle = median(point.compute_ms);
    point.compute_ms.slice(0, ranks).forEach((time, rank) => {
      const x = (kColumns - points.length + index) * column;
      pen.globalAlpha = 1;
      pen.fillStyle = calm;
      pen.fillRect(x, rank * row, column - 1, row - 1);
      pen.globalAlpha = heat(time, middle);
      pen.fillStyle = hot;
      pen.fillRect(x, rank * row, column - 1, row - 1);
    });
  });
}
