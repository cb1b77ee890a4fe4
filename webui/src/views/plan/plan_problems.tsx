// Why there is no plan, in the daemon's words, each at its place in the text.
import type { Place } from "../../state/text_lines";
import type { PlanProblem } from "../../state/plan_desk";
import { notYaml, problemLines } from "../../state/plan_problems";
import { adviceText } from "../../text/plan_text";

interface Props {
  problem: PlanProblem;
  text: string;
  onShow(place: Place): void;
}

export function PlanProblems({ problem, text, onShow }: Props) {
  const lines = problemLines(problem, text);
  const advice = adviceText(problem);
  const head = notYaml(problem) ? "The text cannot be read as YAML" : upper(problem.message);
  return (
    <div class="notice bad plan-problems" role="alert">
      <p><b>{head}.</b></p>
      {lines.length > 0 && (
        <ul>
          {lines.map(({ line, place, field, message }, index) => (
            <li key={index}>
              {line !== null && place !== null && <button class="line-button" type="button" onClick={() => onShow(place)} aria-label={`line ${line}, show it in the text`}>line {line}</button>}
              <span>{field !== null && <><code>{field}</code>: </>}{message}</span>
            </li>
          ))}
        </ul>
      )}
      {problem.hint !== null && <p>{upper(problem.hint)}.</p>}
      {advice !== null && <p>{advice}</p>}
    </div>
  );
}

const upper = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
