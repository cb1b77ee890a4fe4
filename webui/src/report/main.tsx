import { render } from "preact";
import { useMemo, useState } from "preact/hooks";
import "uplot/dist/uPlot.min.css";
import "../styles/base.css";
import "../styles/charts.css";
import "./report.css";
import { applyTheme, useDark } from "../page/theme";
import { readData, type ReportData } from "./data";
import { FrontierReport } from "./frontier";
import { BusySlots, Distribution, hue, StackedSlots } from "./plots";
import { dashOf, short } from "./format";
import { FigureTable } from "./table";

// `lines`: of curves, which it shows with their strokes; else of bands.
function Legend({ names, lines = false }: { names: string[]; lines?: boolean }) {
  const dark = useDark();
  return (
    <ul class="legend">
      {names.map((name, i) => <li key={name}>{lines ? <Stroke index={i} colour={hue(i, dark)} /> : <span class="swatch" style={{ background: hue(i, dark) }} />}{name}</li>)}
    </ul>
  );
}

function Stroke({ index, colour }: { index: number; colour: string }) {
  return (
    <svg width="34" height="8" viewBox="0 0 34 8" aria-hidden="true">
      <path d="M0 4H34" fill="none" stroke={colour} stroke-width="2" stroke-dasharray={dashOf(index).join(" ") || undefined} />
    </svg>
  );
}

// Where jobs have deadlines, or do not all complete, times of those that did say little about a policy.
function headline(data: ReportData): string {
  const of = (policy: string) => data.runs.filter((run) => run.policy === policy);
  const met = data.policies.map((policy) => ({ policy, met: of(policy).reduce((sum, run) => sum + (run.deadlines_met ?? 0), 0) }));
  const deadlines = of(data.policies[0] ?? "").reduce((sum, run) => sum + (run.deadlines ?? 0), 0);
  if (deadlines > 0) {
    const best = met.reduce((a, b) => (a.met >= b.met ? a : b));
    return `${best.policy} meets ${data.policies.length > 1 ? "the most deadlines, " : ""}${best.met.toLocaleString("en-US")} of ${deadlines.toLocaleString("en-US")}`;
  }
  if (data.runs.some((run) => run.completed < run.jobs)) return "Not every job completes under every policy";
  return headlineOfTimes(data);
}

// What a reader wants to know first, in a sentence.
function headlineOfTimes(data: ReportData): string {
  const first = data.policies[0] ?? "";
  const ratios = data.policies.slice(1).map((policy) => {
    const rows = data.summary.filter((row) => row.policy === policy && row.ratio);
    const sum = rows.reduce((a, row) => a + Math.log(row.ratio?.mean ?? 1), 0);
    return { policy, ratio: Math.exp(sum / Math.max(1, rows.length)), sure: rows.every((row) => (row.ratio?.high_95 ?? row.ratio?.range?.[1] ?? 0) < 1) };
  });
  const best = ratios.reduce<(typeof ratios)[number] | null>((a, b) => (a && a.ratio <= b.ratio ? a : b), null);
  if (!best) return `${first}, alone`;
  if (best.ratio >= 1) return `No policy ends jobs sooner than ${first}`;
  if (!best.sure) return `${best.policy} may end jobs sooner than ${first}: ${short(best.ratio)} of its time, within what seeds vary`;
  return `${best.policy} ends jobs in ${short(best.ratio)} of the time that ${first} takes`;
}

function Workload({ data, index }: { data: ReportData; index: number }) {
  const workload = data.workloads[index];
  const [policy, choosePolicy] = useState(0);
  const curves = useMemo(() => (workload?.policies ?? []).map((p, i) => ({ name: p.policy, index: i, p })), [workload]);
  const jct = useMemo(() => curves.map((c) => ({ name: c.name, index: c.index, values: c.p.jct_s })), [curves]);
  const fairness = useMemo(() => curves.map((c) => ({ name: c.name, index: c.index, values: c.p.fairness })), [curves]);
  const busy = useMemo(() => curves.map((c) => ({ name: c.name, index: c.index, values: c.p.slots })), [curves]);
  if (!workload) return null;
  const shown = workload.policies[policy];
  const names = workload.policies.map((p) => p.policy);
  return (
    <section aria-label={workload.name}>
      <h2 class="workload">{workload.name} <span class="quiet">{workload.jobs.toLocaleString("en-US")} jobs</span></h2>
      <div class="card">
        <FigureTable rows={data.summary.filter((row) => row.workload === workload.name)} first={data.policies[0] ?? ""} />
        {workload.remarks.length > 0 && <ul class="remarks">{workload.remarks.map((remark) => <li key={remark}>{remark}</li>)}</ul>}
      </div>
      <div class="pair">
        <figure class="card">
          <figcaption class="card-head"><h3>How long jobs take</h3><span class="quiet">share of jobs that have ended after so long</span></figcaption>
          <Distribution curves={jct} log unit="time" label="Distribution of job completion times by policy" />
          <Legend names={names} lines />
        </figure>
        <figure class="card">
          <figcaption class="card-head"><h3>How fair it is</h3><span class="quiet">share of jobs below a finish-time fairness; 1 is an equal share</span></figcaption>
          <Distribution curves={fairness} log unit="plain" label="Distribution of finish-time fairness by policy" />
          <Legend names={names} lines />
        </figure>
      </div>
      <figure class="card">
        <figcaption class="card-head"><h3>GPUs held over time</h3><span class="quiet">seed {data.seeds[0]}</span></figcaption>
        <BusySlots curves={busy} endS={workload.end_s} label="GPUs held over time by policy" />
        <Legend names={names} lines />
      </figure>
      <figure class="card">
        <figcaption class="card-head">
          <h3>Jobs that hold them</h3><span class="grow" />
          <div class="segments" role="group" aria-label="policy">
            {names.map((name, i) => <button key={name} type="button" aria-pressed={i === policy} onClick={() => choosePolicy(i)}>{name}</button>)}
          </div>
        </figcaption>
        {shown && <StackedSlots groups={shown.groups} endS={workload.end_s} label={`GPUs held over time under ${shown.policy}, by application`} />}
        {shown && <Legend names={shown.groups.map((group) => group.name)} />}
      </figure>
    </section>
  );
}

// What stands beside a mean; ends with a blank.
function spreadNote(seeds: number): string {
  if (seeds < 2) return "";
  const what = seeds === 2 ? "Ranges span the two seeds, which are too few for an interval" : "± and ranges are 95 % intervals over seeds (Student's t)";
  return `${what}; ratios compare seed by seed. `;
}

function Report({ data }: { data: ReportData }) {
  const seeds = data.seeds.length;
  return (
    <main class="report">
      <header>
        <p class="quiet">Tidepool · policies compared</p>
        <h1>{headline(data)}</h1>
        <p class="quiet">
          {data.policies.length} policies on {data.workloads.length} {data.workloads.length === 1 ? "workload" : "workloads"}, {seeds} {seeds === 1 ? "seed" : "seeds"},
          cluster {data.cluster}, simulator <i>{data.simulator}</i>
        </p>
      </header>
      {data.workloads.map((workload, i) => <Workload key={workload.name} data={data} index={i} />)}
      <footer class="card">
        <h3>To reproduce</h3>
        <pre><code>{data.command}</code></pre>
        <p class="quiet small">Seeds: {data.seeds.join(", ")}. {spreadNote(seeds)}
          Times of jobs are of those that completed. Decision times were measured on the machine that ran this.</p>
      </footer>
    </main>
  );
}

applyTheme();
const root = document.getElementById("app");
const data = readData();
if (root) render("frontier" in data ? <FrontierReport data={data.frontier} /> : <Report data={data} />, root);
