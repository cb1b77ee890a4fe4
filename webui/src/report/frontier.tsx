// Node hours against mean completion time, by the rule under which nodes of a pool come and go.
import { useMemo } from "preact/hooks";
import uPlot from "uplot";
import { axis, inkOf, kLeftAxis, withAlpha } from "../charts/look";
import { Plot } from "../charts/plot";
import { useDark } from "../page/theme";
import type { FrontierData, FrontierPoint } from "./data";
import { short, timeText, unitFor } from "./format";
import { hue, kTimeSteps } from "./plots";

const kRules = ["fixed", "threshold", "built-in"];
const kWords: Record<string, string> = {
  fixed: "a fixed pool", threshold: "nodes after a wait, given back when idle", "built-in": "nodes by their worth",
};

function Legend() {
  const dark = useDark();
  return (
    <ul class="legend">
      {kRules.map((rule, i) => <li key={rule}><span class="swatch" style={{ background: hue(i, dark) }} />{rule}: {kWords[rule]}</li>)}
    </ul>
  );
}

// One table of a series: its points from left to right.
function table(points: FrontierPoint[]): uPlot.AlignedData {
  const sorted = [...points].sort((a, b) => a.node_hours - b.node_hours);
  return [sorted.map((p) => p.node_hours), sorted.map((p) => p.avg_jct_s)];
}

// With room for the points at the edges.
const around: uPlot.Range.Function = (_, min, max) => {
  const room = Math.max(max - min, 1) * 0.06;
  return [Math.max(0, min - room), max + room];
};

function FrontierPlot({ points }: { points: FrontierPoint[] }) {
  const dark = useDark();
  const data = useMemo(() => {
    const tables = kRules.flatMap((rule) => {
      const own = points.filter((point) => point.rule === rule);
      return [table(own.filter((point) => point.best)), table(own.filter((point) => !point.best))];
    });
    return uPlot.join(tables);
  }, [points]);
  const options = useMemo(() => {
    const ink = inkOf();
    const series = kRules.flatMap((rule, i) => {
      const colour = hue(i, dark);
      const faint = withAlpha(colour, 0.45);
      return [
        { label: rule, stroke: colour, width: 2, spanGaps: true, points: { show: true, size: 9, fill: colour, stroke: colour } },
        { label: `${rule}, beaten`, stroke: faint, width: 0, paths: () => null, points: { show: true, size: 6, fill: "transparent", stroke: faint } },
      ];
    });
    return {
      height: 380, padding: [12, 24, 0, 0] as uPlot.Padding, legend: { show: false },
      cursor: { points: { size: 9 }, drag: { x: false, y: false } },
      scales: { x: { time: false, range: around }, y: { range: around } },
      axes: [
        axis(ink, { size: 30, space: 60, values: (_, values) => values.map((v) => (v === null ? "" : `${short(v)} h`)) }),
        axis(ink, { size: kLeftAxis + 6, space: 40, incrs: kTimeSteps, values: (_, values) => values.map((v) => (v === null ? "" : timeText(v))) }),
      ],
      series: [{}, ...series],
    };
  }, [dark]);
  return <Plot options={options} data={data} label="Mean completion time over node hours, by rule" />;
}

function PointTable({ points }: { points: FrontierPoint[] }) {
  const dark = useDark();
  const unit = unitFor(points[0]?.avg_jct_s ?? 0);
  const time = (seconds: number) => short(seconds / unit.seconds);
  return (
    <div class="table-scroll">
      <table class="plain figures">
        <thead>
          <tr>
            <th>rule</th><th>setting</th>
            <th class="number" title="mean time from submission to end">average ({unit.short})</th>
            <th class="number">p99 {unit.short}</th>
            <th class="number" title="mean time from submission to the first step">wait (s)</th>
            <th class="number" title="from being asked for until they are gone">node hours</th>
            <th class="number">cost</th>
          </tr>
        </thead>
        <tbody>
          {points.map((p) => (
            <tr key={`${p.rule} ${p.setting}`}>
              <th><span class="swatch" style={{ background: hue(kRules.indexOf(p.rule), dark) }} /> {p.rule}</th>
              <td>{p.setting}</td>
              <td class="number">{time(p.avg_jct_s)}</td>
              <td class="number">{time(p.p99_jct_s)}</td>
              <td class="number">{short(p.avg_queue_s)}</td>
              <td class={p.best ? "number best" : "number"} title={p.best ? "no other setting of the rule beats it in both" : undefined}>{short(p.node_hours)}</td>
              <td class="number">{short(p.cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

// What a reader wants to know first, in a sentence.
function headline(data: FrontierData): string {
  if (data.savings.length === 0) return "Node hours against completion time";
  const mean = data.savings.reduce((sum, saving) => sum + saving.share, 0) / data.savings.length;
  const percent = short(Math.abs(100 * mean));
  return `At equal mean completion time the built-in rule needs ${percent} % ${mean >= 0 ? "fewer" : "more"} node hours than the threshold rule`;
}

export function FrontierReport({ data }: { data: FrontierData }) {
  const seeds = data.seeds.length;
  return (
    <main class="report">
      <header>
        <p class="quiet">Tidepool · rules for nodes compared</p>
        <h1>{headline(data)}</h1>
        <p class="quiet">{data.workload}, {data.jobs.toLocaleString("en-US")} jobs, policy {data.policy}, pool {data.cluster}, {seeds} {seeds === 1 ? "seed" : "seeds"}</p>
      </header>
      <figure class="card">
        <figcaption class="card-head"><h3>Node hours and completion time</h3><span class="quiet">to the left is cheaper, further down is quicker; a line joins what no setting of the rule beats in both</span></figcaption>
        <FrontierPlot points={data.points} />
        <Legend />
      </figure>
      <div class="card"><PointTable points={data.points} /></div>
      <footer class="card">
        <h3>To reproduce</h3>
        <pre><code>{data.command}</code></pre>
        <p class="quiet small">Figures are means over seeds: {data.seeds.join(", ")}. Nodes are billed from being asked for until they are gone.</p>
      </footer>
    </main>
  );
}
