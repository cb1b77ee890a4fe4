// Submits exactly the text that was planned, after a question that repeats what it comes to.
import { useState } from "preact/hooks";
import { Dialog } from "../../parts/dialog";
import { When } from "../../parts/when";
import { jobHref } from "../../page/router";
import { isOfEarlierText, maySubmit, type PlanAnswer, type PlanDesk } from "../../state/plan_desk";
import type { Planner } from "../../state/planner";
import { adviceText, planSentence, touchedText } from "../../text/plan_text";

interface Props {
  desk: PlanDesk;
  answer: PlanAnswer;
  planner: Planner;
}

export function SubmitPlanned({ desk, answer, planner }: Props) {
  const [asking, setAsking] = useState(false);
  const { plan, decision } = answer;
  const problem = desk.problem?.of === "submit" ? desk.problem : null;
  const submitting = desk.work?.kind === "submitting";
  const submit = async () => {
    const id = await planner.submit();
    setAsking(false);
    if (id !== null) location.hash = jobHref(id);
  };
  return (
    <div class="submit-planned">
      <button class="button primary" type="button" disabled={!maySubmit(desk)} aria-describedby="submit-note" onClick={() => setAsking(true)}>Submit this job …</button>
      <span class="quiet small" id="submit-note">{isOfEarlierText(desk) ? "Plan the changed text first: only what was planned is submitted." : "Exactly the text that was planned."}</span>
      {problem !== null && <p class="problem" role="alert">{upper([problem.message, ...problem.fields.map(({ message }) => message), problem.hint ?? ""].filter((part) => part !== "").join("; "))}. {adviceText(problem)}</p>}
      {asking && (
        <Dialog title={`Submit ${plan.name || "this job"}?`} onClose={() => setAsking(false)}>
          <p>{planSentence(plan, decision)} {touchedText(plan)}</p>
          <p class="quiet small">This was planned <When at={plan.forecast.computed_at} />; the pool may have changed since.</p>
          <div class="dialog-buttons">
            <button class="button" type="button" onClick={() => setAsking(false)}>Not yet</button>
            <button class="button primary" type="button" disabled={submitting} onClick={() => void submit()}>{submitting ? "Submitting …" : "Submit this job"}</button>
          </div>
        </Dialog>
      )}
    </div>
  );
}

const upper = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
