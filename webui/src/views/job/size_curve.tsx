// Throughput against size: what was measured, the curve fitted through it, where the job is now.
import { useMemo } from "preact/hooks";
import uPlot from "uplot";
import type { Job, MeasuredSize, ThroughputFit } from "../../api/types";
import { axis, inkOf, type Ink, valueAxis } from "../../charts/look";
import { Plot } from "../../charts/plot";
import { jobColour } from "../../page/palette";
import { fitShown } from "../../state/cost";
import { isOver } from "../../state/model";
import { count, percent, quantity } from "../../text/format";
import { numericsText } from "../../text/numerics_text";
import { useDark } from "../../page/theme";

interface Props {
  job: Job;
  sizes: readonly MeasuredSize[];
  fit: ThroughputFit | null;
}

// x, fitted, perfect, measured, now: one column each over the union of all sizes.
export function curveColumns(job: Pick<Job, "size" | "max">, sizes: readonly MeasuredSize[], fit: ThroughputFit | null): (number | null)[][] {
  const measured = new Map(sizes.map((entry) => [entry.size, entry.samples_per_second]));
  const fitted = new Map((fit?.curve ?? []).map((entry) => [entry.size, entry.samples_per_second]));
  const x = [...new Set([...measured.keys(), ...fitted.keys(), job.max])].sort((a, b) => a - b);
  const base = sizes.length > 0 ? sizes.reduce((least, entry) => (entry.size < least.size ? entry : least)) : null;
  const perfect = (size: number) => (base ? (base.samples_per_second / base.size) * size : null);
  return [
    x, x.map((size) => fitted.get(size) ?? null), x.map(perfect), x.map((size) => measured.get(size) ?? null),
    x.map((size) => (size === job.size ? measured.get(size) ?? fitted.get(size) ?? null : null)),
  ];
}

export function SizeCurve({ job, sizes, fit: known }: Props) {
  const fit = fitShown(sizes, known);
  const dark = useDark();
  const options = useMemo(() => optionsOf(inkOf(), jobColour(job.id, dark), job.max), [job.id, job.max, dark]);
  const data = useMemo(() => curveColumns(job, sizes, fit) as uPlot.AlignedData, [job.size, job.max, sizes, fit]);
  return (
    <section class="card" aria-labelledby="curve-title">
      <header class="card-head"><h2 id="curve-title">Throughput against size</h2><span class="quiet">samples/s by number of workers</span></header>
      {sizes.length === 0 ? <p class="empty-line tall">{isOver(job.state) ? "No size was measured for long enough." : "No size has been measured for long enough yet."}</p> : (
        <>
          <Plot options={options} data={data} label={`Throughput by size: ${sizes.map((entry) => `${entry.size}: ${quantity(entry.samples_per_second)}`).join(", ")} samples a second`} />
          <ul class="legend curve-legend">
            <li><i class="dot" aria-hidden="true" />measured</li>
            <li><i class="ring" aria-hidden="true" />now</li>
            {fit && <li title={`Universal Scalability Law: contention ${fit.sigma}, crosstalk ${fit.kappa}`}><i class="stroke" aria-hidden="true" />fitted (σ {quantity(fit.sigma)}, κ {quantity(fit.kappa)})</li>}
            <li><i class="stroke dashed" aria-hidden="true" />perfect scaling</li>
          </ul>
          <SizeTable job={job} sizes={sizes} />
          <Numerics job={job} />
        </>
      )}
    </section>
  );
}

function Numerics({ job }: { job: Job }) {
  const text = numericsText(job.progress);
  return text === null ? null : <p class="quiet numerics" data-testid="numerics">{text}</p>;
}

function SizeTable({ job, sizes }: Omit<Props, "fit">) {
  return (
    <div class="table-scroll"><table class="plain">
      <thead><tr><th scope="col">Size</th><th scope="col" class="number">Samples/s</th><th scope="col" class="number">Per worker</th><th scope="col" class="number" title="Throughput that the last worker added, as a share of the throughput of one worker before it">Last worker adds</th><th scope="col" class="number">Steps</th></tr></thead>
      <tbody>
        {sizes.map((entry) => (
          <tr key={entry.size} class={entry.size === job.size ? "current" : undefined}>
            <th scope="row">{entry.size}{entry.size === job.size && <span class="quiet"> now</span>}</th>
            <td class="number">{quantity(entry.samples_per_second)}</td>
            <td class="number">{quantity(entry.samples_per_second / entry.size)}</td>
            <td class="number">{percent(entry.efficiency)}</td>
            <td class="number">{count(entry.steps)}</td>
          </tr>
        ))}
      </tbody>
    </table></div>
  );
}

function optionsOf(ink: Ink, colour: string, max: number): Omit<uPlot.Options, "width"> {
  const smooth = uPlot.paths.spline?.();
  const points = (size: number, fill: string, width: number): uPlot.Series =>
    ({ paths: () => null, points: { show: true, size, fill, stroke: colour, width } });
  return {
    height: 208,
    legend: { show: false },
    padding: [10, 14, 0, 0],
    cursor: { drag: { x: false, y: false }, y: false, x: false, points: { show: false } },
    scales: {
      x: { time: false, range: () => [0.6, max + 0.4] },
      y: { range: (_, __, high) => [0, (high || 1) * 1.08] },
    },
    series: [
      {},
      { stroke: colour, width: 1.75, points: { show: false }, spanGaps: true, ...(smooth ? { paths: smooth } : {}) },
      { stroke: ink.label, width: 1, dash: [4, 4], points: { show: false }, spanGaps: true },
      points(8, colour, 1),
      points(15, "transparent", 2),
    ],
    axes: [
      axis(ink, { size: 26, grid: { show: false }, splits: () => ticks(max), values: (_, values) => values.map(String) }),
      valueAxis(ink),
    ],
  };
}

function ticks(max: number): number[] {
  const step = Math.max(1, Math.ceil(max / 12));
  return Array.from({ length: Math.floor((max - 1) / step) + 1 }, (_, n) => 1 + n * step);
}
