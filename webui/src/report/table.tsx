// The figures of one workload, policy by policy; the best of a column is marked in words and in weight.
import type { Estimate, SummaryRow } from "./data";
import { short, unitFor } from "./format";
import { hue } from "./plots";
import { useDark } from "../page/theme";

interface Column { title: string; of: (row: SummaryRow) => Estimate | null; time?: boolean; most?: boolean; about: string }

const kColumns: Column[] = [
  { title: "average", of: (r) => r.avg_jct_s, time: true, about: "mean time from submission to end" },
  { title: "median", of: (r) => r.p50_jct_s, time: true, about: "half of the jobs end sooner" },
  { title: "p99", of: (r) => r.p99_jct_s, time: true, about: "one job in a hundred takes longer" },
  { title: "makespan", of: (r) => r.makespan_s, time: true, about: "first submission to last end" },
  { title: "busy (%)", of: (r) => r.utilization_percent, most: true, about: "slot time held, of all there was" },
  { title: "unfairness", of: (r) => r.ftf_worst, about: "worst finish-time fairness: above 1 is worse off than with an equal share" },
  { title: "decision (µs)", of: (r) => r.decision_us_p99, about: "99th percentile of one decision" },
];

export function FigureTable({ rows, first }: { rows: SummaryRow[]; first: string }) {
  const dark = useDark();
  const unit = unitFor(rows[0]?.avg_jct_s?.mean ?? 0);
  const best = kColumns.map((column) => {
    const means = rows.flatMap((row) => column.of(row)?.mean ?? []);
    const value = column.most ? Math.max(...means) : Math.min(...means);
    return means.every((mean) => mean === value) ? null : value;
  });
  return (
    <div class="table-scroll">
      <table class="plain figures">
        <thead>
          <tr>
            <th>policy</th>
            <th class="number" title={`average time of a job, against that of ${first}`}>ratio</th>
            {kColumns.map((c) => <th class="number" key={c.title} title={c.about}>{c.title}{c.time ? ` (${unit.short})` : ""}</th>)}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={row.policy}>
              <th><span class="swatch" style={{ background: hue(i, dark) }} /> {row.policy}</th>
              <td class="number">
                <b>{row.ratio ? short(row.ratio.mean) : "–"}</b>
                {row.ratio?.low_95 != null && row.ratio.high_95 != null && <small>{short(row.ratio.low_95)}–{short(row.ratio.high_95)}</small>}
                {row.ratio?.range != null && <small>{short(row.ratio.range[0])}–{short(row.ratio.range[1])}</small>}
              </td>
              {kColumns.map((column, at) => {
                const value = column.of(row);
                const scale = column.time ? unit.seconds : 1;
                if (!value) return <td class="number" key={column.title} title="no job completed">–</td>;
                const isBest = value.mean === best[at];
                return (
                  <td class={isBest ? "number best" : "number"} key={column.title} title={isBest ? "best" : undefined}>
                    {short(value.mean / scale)}
                    {value.half_width_95 !== null && <small>±{short(value.half_width_95 / scale)}</small>}
                    {value.range !== null && <small>{short(value.range[0] / scale)}–{short(value.range[1] / scale)}</small>}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
