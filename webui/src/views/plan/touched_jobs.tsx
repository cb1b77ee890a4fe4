// The jobs that would be affected, each with what it would lose or gain and the way to its page.
import type { Plan, PlanChange } from "../../api/plan_types";
import { jobColour } from "../../page/palette";
import { jobHref } from "../../page/router";
import { changeText, delayText, effectText, isSlight, touchedText } from "../../text/plan_text";
import { useDark } from "../../page/theme";

const kGrave = { ended: "bad", preempted: "bad", shrunk: "warn", later: "", sooner: "" };

export function TouchedJobs({ plan, old }: { plan: Plan; old: boolean }) {
  const { forecast } = plan;
  const listed = plan.changes.filter((change) => !isSlight(change));
  return (
    <section class={`card touched${old ? " old" : ""}`} aria-labelledby="touched-title">
      <header class="card-head"><h2 id="touched-title">Jobs that would be affected</h2></header>
      <p data-testid="touched-sum">{touchedText(plan)}</p>
      {listed.length > 0 && (
        <table class="plain touched-table" data-testid="touched">
          <thead>
            <tr><th scope="col">Job</th><th scope="col">Effect</th><th scope="col" class="number">Starts</th><th scope="col" class="number">Ends</th></tr>
          </thead>
          <tbody>{listed.map((change) => <Row key={change.job} change={change} now={Date.parse(forecast.computed_at)} />)}</tbody>
        </table>
      )}
    </section>
  );
}

function Row({ change, now }: { change: PlanChange; now: number }) {
  const dark = useDark();
  return (
    <tr data-job={change.job}>
      <th scope="row"><i class="swatch" style={{ background: jobColour(change.job, dark) }} aria-hidden="true" /><a href={jobHref(change.job)}>{change.name}</a> <span class="quiet">{change.job}</span></th>
      <td><span class={`tag ${kGrave[change.effect] ?? ""}`}>{effectText(change.effect)}</span> {changeText(change, now)}</td>
      <td class="number" data-title="Starts"><Delay seconds={change.starts_later_s} /></td>
      <td class="number" data-title="Ends"><Delay seconds={change.ends_later_s} /></td>
    </tr>
  );
}

function Delay({ seconds }: { seconds: number | null }) {
  const text = delayText(seconds);
  return text === null ? <span class="quiet">as before</span> : <span class="nowrap">{text}</span>;
}
