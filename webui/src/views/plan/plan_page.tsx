// What a job would get, when and at what cost, and what others would lose by it, before it is submitted.
import { useEffect, useRef } from "preact/hooks";
import { jobHref } from "../../page/router";
import { mayChange } from "../../state/model";
import { isOfEarlierText } from "../../state/plan_desk";
import type { Planner } from "../../state/planner";
import { useSelect } from "../../state/store";
import { planSentence, touchedText } from "../../text/plan_text";
import { kReadsOnly } from "../../text/role_text";
import { kAnswerHeading, PlanAnswer } from "./plan_answer";
import { PlanForm } from "./plan_form";

const kOneColumn = matchMedia("(max-width: 1080px)");

interface Props {
  like: string | null; // the job from whose file the text is begun
  planner: Planner;
}

export function PlanPage({ like, planner }: Props) {
  const desk = useSelect((state) => state.plan);
  const may = useSelect(mayChange);
  // Coming back to an address finds the text as it was left.
  const begunLike = desk.begun?.like;
  useEffect(() => {
    if (like !== null && begunLike !== like) void planner.beginLike(like);
  }, [like, planner]);
  const { answer } = desk;
  const seen = useRef(answer?.key);
  // Where the answer lies below the text, a new one is brought into view; beside it nothing moves.
  useEffect(() => {
    const isNew = answer !== null && answer.key !== seen.current;
    seen.current = answer?.key;
    if (isNew && kOneColumn.matches) document.getElementById(kAnswerHeading)?.focus();
  }, [answer?.key]);
  const heard = answer === null || isOfEarlierText(desk) ? "" : `Planned. ${planSentence(answer.plan, answer.decision)} ${touchedText(answer.plan)}`;
  if (!may) return <section class="empty"><h1>Plan a job</h1><p>{kReadsOnly} One with the role submitter or admin plans and submits jobs.</p></section>;
  return (
    <div class="plan-page">
      <p class="visually-hidden" role="status">{heard}</p>
      <header class="plan-head">
        <h1>Plan a job</h1>
        <p class="quiet">What it would get, when and at what cost, and which other jobs would be affected. Nothing is stored until you submit it.</p>
      </header>
      <div class="plan-columns">
        <PlanForm desk={desk} planner={planner} />
        <div class="column">
          {desk.submitted !== null && (
            <p class="notice good" role="status">Submitted as <a href={jobHref(desk.submitted.id)}>{desk.submitted.name}</a>. Plan again to submit the same once more.</p>
          )}
          {answer === null ? <NoAnswer /> : <PlanAnswer desk={desk} answer={answer} planner={planner} />}
        </div>
      </div>
    </div>
  );
}

function NoAnswer() {
  return (
    <section class="card no-answer">
      <h2>The answer appears here</h2>
      <ul class="lines">
        <li>when the job would start and end, with the times between which that lies in eight of ten cases</li>
        <li>how many workers it would have from when on, and what it would cost</li>
        <li>which jobs would be preempted, have fewer workers, or start and end later</li>
      </ul>
    </section>
  );
}
