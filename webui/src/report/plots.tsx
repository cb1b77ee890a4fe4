// The report's charts, drawn by uPlot as the dashboard's are.
import { useMemo } from "preact/hooks";
import uPlot from "uplot";
import { axis, inkOf, kLeftAxis, valueAxis, withAlpha } from "../charts/look";
import { Plot } from "../charts/plot";
import { kDark, kLight } from "../page/palette";
import { cssColour, useDark } from "../page/theme";
import { dashOf, timeText } from "./format";

export function hue(index: number, dark: boolean): string {
  const colours = dark ? kDark : kLight;
  return colours[index % colours.length] ?? "#777777";
}

// Marks of a logarithmic time axis at times that people say, where powers of ten would be 16.7 minutes.
const kLogTimes = [1, 10, 60, 600, 3600, 36_000, 86_400, 864_000, 8_640_000];
const kRoundTimes: Partial<uPlot.Axis> = {
  splits: (_, __, min, max) => kLogTimes.filter((time) => time >= min && time <= max),
  filter: (_, splits) => splits,
};

interface Curve { name: string; index: number; values: number[] }

// Shares (0 to 100 %) over values: each curve has as many quantiles as the others.
export function Distribution({ curves, log, unit, label }: { curves: Curve[]; log: boolean; unit: "time" | "plain"; label: string }) {
  const dark = useDark();
  const data = useMemo(() => {
    const tables = curves.map((curve) => {
      const xs: number[] = [];
      const ys: number[] = [];
      curve.values.forEach((value, i) => {
        const at = log ? Math.max(value, 0.01) : value;
        const share = (100 * i) / Math.max(1, curve.values.length - 1);
        if (xs[xs.length - 1] === at) ys[ys.length - 1] = share;
        else { xs.push(at); ys.push(share); }
      });
      return [xs, ys] as uPlot.AlignedData;
    });
    return tables.length > 0 ? uPlot.join(tables) : ([[], []] as uPlot.AlignedData);
  }, [curves, log]);
  const options = useMemo(() => {
    const ink = inkOf();
    return {
      height: 280, padding: [8, 24, 0, 0] as uPlot.Padding, legend: { show: false },
      cursor: { points: { size: 7 }, drag: { x: false, y: false } },
      scales: { x: { time: false, distr: log ? 3 as const : 1 as const }, y: { range: [0, 100] as uPlot.Range.MinMax } },
      axes: [
        axis(ink, {
          size: 28, space: 70, grid: { show: false }, values: (_, values) => values.map((v) => (v === null ? "" : unit === "time" ? timeText(v) : String(v))),
          ...(log && unit === "time" ? kRoundTimes : {}),
        }),
        axis(ink, { size: kLeftAxis, space: 40, values: (_, values) => values.map((v) => `${v} %`) }),
      ],
      series: [{}, ...curves.map((curve) => ({
        label: curve.name, stroke: hue(curve.index, dark), width: 2, dash: dashOf(curve.index),
        points: { show: false }, spanGaps: true,
      }))],
    };
  }, [curves, log, unit, dark]);
  return <Plot options={options} data={data} label={label} />;
}

export function BusySlots({ curves, endS, label }: { curves: Curve[]; endS: number; label: string }) {
  const dark = useDark();
  const data = useMemo(() => [times(curves[0]?.values.length ?? 0, endS), ...curves.map((c) => c.values)] as uPlot.AlignedData, [curves, endS]);
  const options = useMemo(() => overTime(curves.map((curve) => ({
    label: curve.name, stroke: hue(curve.index, dark), width: 1.75, dash: dashOf(curve.index), points: { show: false },
  }))), [curves, dark]);
  return <Plot options={options} data={data} label={label} />;
}

// Bands on each other, the largest group at the bottom.
export function StackedSlots({ groups, endS, label }: { groups: { name: string; slots: number[] }[]; endS: number; label: string }) {
  const dark = useDark();
  const data = useMemo(() => {
    const sums: number[][] = [];
    for (const group of groups) {
      const below = sums[sums.length - 1];
      sums.push(group.slots.map((value, i) => value + (below?.[i] ?? 0)));
    }
    return [times(groups[0]?.slots.length ?? 0, endS), ...sums.reverse()] as uPlot.AlignedData;
  }, [groups, endS]);
  const options = useMemo(() => {
    const count = groups.length;
    const surface = cssColour("--surface");
    const made = overTime(groups.map((_, i) => {
      const index = count - 1 - i;
      return {
        label: groups[index]?.name ?? "", stroke: surface, width: 1, fill: withAlpha(hue(index, dark), 0.82), points: { show: false },
      };
    }));
    return { ...made, bands: groups.slice(1).map((_, i) => ({ series: [i + 1, i + 2] as [number, number] })) };
  }, [groups, dark]);
  return <Plot options={options} data={data} label={label} />;
}

// Distances between marks of a time axis that read well: 1 s to 100 days.
export const kTimeSteps = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000, 1728000, 4320000, 8640000];

function times(count: number, endS: number): number[] {
  return Array.from({ length: count }, (_, i) => ((i + 0.5) * endS) / count);
}

function overTime(series: uPlot.Series[]): Omit<uPlot.Options, "width"> {
  const ink = inkOf();
  return {
    height: 240, padding: [8, 16, 0, 0], legend: { show: false }, cursor: { points: { size: 7 }, drag: { x: false, y: false } },
    scales: { x: { time: false }, y: { range: (_, __, max) => [0, Math.max(1, max * 1.06)] } },
    axes: [axis(ink, { size: 28, space: 70, incrs: kTimeSteps, grid: { show: false }, values: (_, values) => values.map((v) => (v === null ? "" : timeText(v))) }), valueAxis(ink)],
    series: [{}, ...series],
  };
}
