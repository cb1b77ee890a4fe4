// Size, throughput and loss over the same time, under one rail of decisions and one cursor.
import { useMemo, useState } from "preact/hooks";
import uPlot from "uplot";
import type { Job } from "../../api/types";
import { inkOf, type Ink, timeAxis, valueAxis, withAlpha } from "../../charts/look";
import { type Marker, markersOf } from "../../charts/markers";
import { Plot } from "../../charts/plot";
import { jobColour } from "../../page/palette";
import type { Detail } from "../../state/model";
import { earlierSwitches } from "../../state/reduce_detail";
import { clockWithin, count, quantity } from "../../text/format";
import { isSilent, noCurvesText } from "../../text/progress_text";
import { goTo } from "../../page/address";
import { jobHref } from "../../page/router";
import { useDark } from "../../page/theme";
import { columnsOf, rangeAround } from "./history_data";
import { MarkerRail } from "./marker_rail";

const kWindows: [number, string][] = [[0, "All"], [900, "15 min"], [300, "5 min"], [60, "1 min"]];
const kHeights = { size: 104, throughput: 132, loss: 150 };

export function HistoryCharts({ job, detail, spanS }: { job: Job; detail: Detail; spanS: number }) {
  const { max } = job;
  const dark = useDark();
  const [index, setIndex] = useState<number | null>(null);
  const columns = useMemo(() => columnsOf(detail.points, spanS), [detail.points, spanS]);
  const from = columns.at[0] ?? 0;
  const to = columns.at[columns.at.length - 1] ?? 0;
  const markers = useMemo(
    () => markersOf(detail.events, Math.max(0.001, (to - from) / 60), earlierSwitches(detail)).filter((marker) => marker.at >= from - 0.5 * (to - from) / 60 && marker.at <= to + 2),
    [detail.events, detail.switches, from, to]);
  const look = useMemo(() => ({ ink: inkOf(), colour: jobColour(detail.job, dark) }), [detail.job, dark]);
  const marks = useMemo(() => ({ list: [] as Marker[] }), []);
  marks.list = markers;
  const lossKnown = columns.loss.some((loss) => loss !== null);
  const options = useMemo(() => optionsOf({ ...look, job: detail.job, max, lossKnown, marks, onIndex: setIndex }), [look, detail.job, max, lossKnown]);
  const data = useMemo(() => ({
    size: [columns.at, columns.size] as uPlot.AlignedData,
    throughput: [columns.at, columns.throughput] as uPlot.AlignedData,
    loss: [columns.at, columns.loss] as uPlot.AlignedData,
  }), [columns, markers]);
  const at = index !== null && index < columns.at.length ? index : columns.at.length - 1;
  return (
    <section class="card history" aria-labelledby="history-title">
      <header class="card-head">
        <h2 id="history-title">Over time</h2>
        <span class="quiet reading">{at >= 0 && `${clockWithin((columns.at[at] ?? 0) * 1000, (to - from) * 1000)} · step ${count(columns.step[at])}`}</span>
        {detail.points.length >= 2 && <Windows chosen={spanS} onChoose={(seconds) => goTo(jobHref(job.id, seconds))} />}
      </header>
      {columns.at.length < 2 ? <NoCurves job={job} detail={detail} /> : (
        <>
          <MarkerRail markers={markers} from={from} to={to} />
          <Titled name="Size" unit={columns.size[at] === 1 ? "worker" : "workers"} value={count(columns.size[at])} />
          <Plot options={options.size} data={data.size} label={`Size over time, in workers: ${summary(columns.size)}`} />
          <Titled name="Throughput" unit="samples/s" value={quantity(columns.throughput[at])} />
          <Plot options={options.throughput} data={data.throughput} label={`Throughput over time: ${summary(columns.throughput)} samples a second`} />
          {lossKnown && (
            <>
              <Titled name="Loss" unit="" value={quantity(index === null ? job.progress.loss : columns.loss[at])} />
              <Plot options={options.loss} data={data.loss} label={`Loss over time: ${summary(columns.loss)}`} />
            </>
          )}
        </>
      )}
    </section>
  );
}

function NoCurves({ job, detail }: { job: Job; detail: Detail }) {
  if (!detail.loaded && detail.points.length < 2) return <div class="skeleton tall" />;
  const text = detail.points.length >= 2 ? "Fewer than two of the reports shown lie in this time; All shows more." : noCurvesText(job);
  return <p class={isSilent(job) ? "empty-line" : "empty-line tall"}>{text}</p>;
}

function Windows({ chosen, onChoose }: { chosen: number; onChoose(seconds: number): void }) {
  return (
    <div class="segments" role="group" aria-label="Time shown">
      {kWindows.map(([seconds, word]) => (
        <button key={seconds} type="button" aria-pressed={chosen === seconds} onClick={() => onChoose(seconds)}>{word}</button>
      ))}
    </div>
  );
}

function Titled({ name, unit, value }: { name: string; unit: string; value: string }) {
  return <p class="chart-title"><b>{name}</b> <span class="chart-value">{value}</span> <span class="quiet">{unit}</span></p>;
}

function summary(values: readonly (number | null)[]): string {
  const known = values.filter((value): value is number => value !== null);
  if (known.length === 0) return "no values";
  return `first ${quantity(known[0])}, last ${quantity(known[known.length - 1])}, between ${quantity(Math.min(...known))} and ${quantity(Math.max(...known))}`;
}

interface ChartInput {
  job: string;
  ink: Ink;
  colour: string;
  max: number;
  lossKnown: boolean;
  marks: { list: Marker[] }; // read at each drawing, so that a new mark needs no new chart
  onIndex(index: number | null): void;
}

function optionsOf(input: ChartInput) {
  const { ink, colour, max } = input;
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const line = { stroke: colour, width: 1.75, points: { show: false }, spanGaps: false };
  return {
    size: common(input, kHeights.size, false, [0, max + 0.4], {
      ...line, fill: withAlpha(colour, 0.16), ...(stepped ? { paths: stepped } : {}),
    }, max <= 6 ? { ...valueAxis(ink), splits: () => Array.from({ length: max + 1 }, (_, n) => n) } : valueAxis(ink)),
    throughput: common(input, kHeights.throughput, !input.lossKnown, null, line, valueAxis(ink)),
    loss: common(input, kHeights.loss, true, "free", { ...line, stroke: ink.strong, width: 1.5 }, valueAxis(ink)),
  };
}

// `range`: fixed, null = from zero, "free" = around the data.
function common(input: ChartInput, height: number, last: boolean, range: [number, number] | null | "free", series: uPlot.Series, y: uPlot.Axis): Omit<uPlot.Options, "width"> {
  return {
    height,
    legend: { show: false },
    padding: [6, 24, 0, 0],
    cursor: { sync: { key: `job-${input.job}` }, drag: { x: false, y: false }, y: false, points: { size: 7 } },
    scales: {
      x: { time: true, range: (_, from, to) => [from, to] },
      y: { range: (_, low, high) => (Array.isArray(range) ? range : range === null ? [0, (high || 1) * 1.12] : rangeAround(low, high)) },
    },
    series: [{}, series],
    axes: [timeAxis(input.ink, last), y],
    hooks: {
      setCursor: [(plot) => input.onIndex(plot.cursor.idx ?? null)],
      drawClear: [(plot) => drawMarks(plot, input)],
    },
  };
}

function drawMarks(plot: uPlot, { marks, ink }: ChartInput): void {
  const pen = plot.ctx;
  pen.save();
  pen.lineWidth = devicePixelRatio;
  pen.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const marker of marks.list) {
    const x = Math.round(plot.valToPos(marker.at, "x", true)) + 0.5;
    if (x < plot.bbox.left || x > plot.bbox.left + plot.bbox.width) continue;
    pen.strokeStyle = ink.tones[marker.tone];
    pen.globalAlpha = 0.55;
    pen.beginPath();
    pen.moveTo(x, plot.bbox.top);
    pen.lineTo(x, plot.bbox.top + plot.bbox.height);
    pen.stroke();
  }
  pen.restore();
}
