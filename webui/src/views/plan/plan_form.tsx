// The job file as text, what to begin it from, and what the daemon has against it.
import { useRef } from "preact/hooks";
import { useNow } from "../../page/now";
import { jobHref } from "../../page/router";
import type { Place } from "../../state/text_lines";
import { mayPlan, type PlanDesk } from "../../state/plan_desk";
import type { Planner } from "../../state/planner";
import { PlanProblems } from "./plan_problems";

const kPatienceMs = 3_000; // after that it is said why it takes so long
const kOfTheText = [400, 413, 422]; // what is refused for the text's sake
const kLines = { least: 14, most: 34 };

interface Props {
  desk: PlanDesk;
  planner: Planner;
}

export function PlanForm({ desk, planner }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const blank = desk.text.trim() === "";
  const submit = (event: Event) => {
    event.preventDefault();
    void planner.plan();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
  };
  const show = ({ from, to }: Place) => {
    area.current?.focus();
    area.current?.setSelectionRange(from, to);
  };
  const refused = desk.problem?.of === "plan" && kOfTheText.includes(desk.problem.status);
  const lines = Math.min(kLines.most, Math.max(kLines.least, desk.text.split("\n").length + 1));
  return (
    <form class="card plan-form" onSubmit={submit} aria-label="Plan a job" aria-busy={desk.work !== null}>
      <div class="card-head"><label for="job-file">Job file</label><span class="quiet">as YAML or JSON</span></div>
      <Begun desk={desk} planner={planner} />
      <textarea id="job-file" ref={area} rows={lines} spellcheck={false} autocomplete="off" autocapitalize="off" value={desk.text}
        aria-describedby="job-file-help job-file-problem" aria-invalid={refused} onKeyDown={onKey}
        placeholder={"run:\n  command: [python, train.py]\n  resize: restart"}
        onInput={(event) => planner.write(event.currentTarget.value)} />
      <p class="hint" id="job-file-help">
        The file that <code>schedctl submit FILE</code> takes; only <code>run</code> is needed.
      </p>
      <div id="job-file-problem">{desk.problem !== null && desk.problem.of !== "submit" && <PlanProblems problem={desk.problem} text={desk.text} onShow={show} />}</div>
      <div class="plan-buttons">
        <button class="button primary" type="submit" disabled={!mayPlan(desk)} title="Ctrl+Enter in the text">Plan</button>
        {desk.work?.kind === "planning" && <button class="button" type="button" onClick={() => planner.giveUp()}>Give up</button>}
        {blank && desk.work === null && <button class="button" type="button" onClick={() => { planner.beginExample(); area.current?.focus(); }}>Fill in an example</button>}
        <span class="plan-status" role="status"><Working desk={desk} /></span>
      </div>
    </form>
  );
}

function Working({ desk: { work } }: { desk: PlanDesk }) {
  const now = useNow();
  if (work?.kind === "reading") return <>Reading {work.like} …</>;
  if (work?.kind !== "planning") return null;
  const long = now - work.since > kPatienceMs;
  return <>Planning …{long && " The daemon runs the whole pool ahead twice, which takes a while where there are many jobs."}</>;
}

// What the text was copied from, with the way back to the one that it has taken the place of.
function Begun({ desk: { begun, before, text }, planner }: Props) {
  if (begun === null) return null;
  return (
    <p class="begun small">
      <span>Copied from {begun.like === null ? begun.name : <a href={jobHref(begun.like)}>{begun.name}</a>}{text !== begun.text && ", changed since"}</span>
      {text !== begun.text && <button class="text-button" type="button" onClick={() => planner.write(begun.text)}>Undo the changes</button>}
      {before !== null && <button class="text-button" type="button" onClick={() => planner.takeBack()}>Back to the text before</button>}
    </p>
  );
}
