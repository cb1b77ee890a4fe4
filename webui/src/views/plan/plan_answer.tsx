// The answer: start, end and cost, sizes over time, the jobs that it affects; and submitting the planned job.
import type { Plan, SubmitDecision } from "../../api/plan_types";
import { Lanes } from "../../parts/lanes";
import { When } from "../../parts/when";
import { isOfEarlierText, type PlanAnswer as Answer, type PlanDesk } from "../../state/plan_desk";
import type { Planner } from "../../state/planner";
import { unaskedText } from "../../text/forecast_text";
import { basisText, costFigure, endFigure, type Figure, neverStarts, startFigure } from "../../text/plan_text";
import { PlanSizes } from "./plan_sizes";
import { SubmitPlanned } from "./submit_planned";
import { TouchedJobs } from "./touched_jobs";

export const kAnswerHeading = "plan-title";

interface Props {
  desk: PlanDesk;
  answer: Answer;
  planner: Planner;
}

export function PlanAnswer({ desk, answer, planner }: Props) {
  const { plan, decision } = answer;
  const old = isOfEarlierText(desk);
  return (
    <>
      {old && (
        <p class="notice warn old-answer" role="status">
          <span>The text has changed since: this is the answer to the earlier one.</span>
          <button class="button" type="button" onClick={() => planner.write(answer.text)}>Back to that text</button>
        </p>
      )}
      <section class={`card plan-answer${old ? " old" : ""}`} aria-labelledby={kAnswerHeading} data-testid="plan-answer">
        <header class="card-head">
          <h2 id={kAnswerHeading} tabIndex={-1}>{plan.name || "This job"}, submitted now</h2>
          <span class="quiet">tenant {plan.tenant} · planned <When at={plan.forecast.computed_at} /> by {plan.policy}</span>
        </header>
        <dl class="plan-figures">
          <FigureItem name="Start" figure={startFigure(plan, decision)} bad={neverStarts(plan)} />
          <FigureItem name="End" figure={endFigure(plan)} />
          <FigureItem name="Cost" figure={costFigure(plan)} />
        </dl>
        <Lanes start={plan.forecast.start} end={plan.forecast.end} now={Date.parse(plan.forecast.computed_at)} />
        {basisText(plan) !== null && <p class="quiet small">{basisText(plan)}</p>}
        {unaskedText(plan.forecast) !== null && <p class="quiet small">{unaskedText(plan.forecast)}</p>}
        {decision !== null && !decision.starts && <Waits plan={plan} decision={decision} />}
      </section>
      {!neverStarts(plan) && <PlanSizes plan={plan} old={old} />}
      <TouchedJobs plan={plan} old={old} />
      <SubmitPlanned desk={desk} answer={answer} planner={planner} />
    </>
  );
}

function FigureItem({ name, figure, bad = false }: { name: string; figure: Figure; bad?: boolean }) {
  const id = `plan-${name.toLowerCase()}`;
  return (
    <div>
      <dt>{name}</dt>
      <dd><span class={`value${bad ? " bad" : ""}`} data-testid={id}>{figure.value}</span><span class="quiet">{figure.note}</span></dd>
    </div>
  );
}

// The engine's own words for what it would decide at once.
function Waits({ plan, decision }: { plan: Plan; decision: SubmitDecision }) {
  const never = neverStarts(plan);
  return (
    <div class={`why-part${never ? " notice bad" : ""}`} data-testid="plan-waits">
      <h3>{never ? "Why it does not start" : "Why it does not start at once"}</h3>
      <p>{decision.summary}</p>
      {decision.evidence.length > 0 && <ul class="lines">{decision.evidence.map((line) => <li key={line}>{line}</li>)}</ul>}
      {decision.unblocks.length > 0 && (
        <>
          <h3>What would change it</h3>
          <ul class="lines">{decision.unblocks.map((line) => <li key={line}>{line}</li>)}</ul>
        </>
      )}
    </div>
  );
}
