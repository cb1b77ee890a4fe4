// What the engine did last, in its own words.
import { jobColour } from "../../page/palette";
import { When } from "../../parts/when";
import { jobHref } from "../../page/router";
import { type DecisionLine, isTold } from "../../state/model";
import { sumJobs, sumPool } from "../../state/pool";
import { useSelect } from "../../state/store";
import { intentText, kindText, noDecisionsText } from "../../text/decision_text";
import { unbroken } from "../../text/format";
import { useDark } from "../../page/theme";

const kShown = 12;

export function DecisionFeed() {
  const decisions = useSelect((state) => state.decisions);
  const acting = decisions.map(tellable).filter((decision) => decision.intents.length > 0).slice(0, kShown);
  return (
    <section class="card" aria-labelledby="decisions-title">
      <header class="card-head"><h2 id="decisions-title">Decisions</h2><span class="quiet">newest first</span></header>
      {acting.length === 0
        ? <Nothing />
        : <ol class="feed" data-testid="decisions">{acting.map((decision) => <Entry key={decision.id} decision={decision} />)}</ol>}
    </section>
  );
}

function Nothing() {
  const nodes = useSelect((state) => state.nodes);
  const jobs = useSelect((state) => state.jobs);
  return <p class="empty-line" data-testid="no-decisions">{noDecisionsText(sumPool(nodes.values()), sumJobs(jobs.values()))}</p>;
}

function tellable(decision: DecisionLine): DecisionLine {
  return { ...decision, intents: decision.intents.filter(isTold) };
}

function Entry({ decision }: { decision: DecisionLine }) {
  const dark = useDark();
  const jobs = useSelect((state) => state.jobs);
  return (
    <li title={`${decision.id}, policy ${decision.policy}`}>
      {decision.intents.map((intent, index) => (
        <div class="feed-line" key={index}>
          <i class="swatch" aria-hidden="true" style={{ background: intent.job ? jobColour(intent.job, dark) : "var(--line-strong)" }} />
          <div>
            <p class="feed-head">
              {intent.job && <a href={jobHref(intent.job)}>{jobs.get(intent.job)?.name ?? intent.job}</a>}
              <span class="kind">{kindText(intent)}</span>
              <When at={decision.at} />
            </p>
            <p class="feed-text">{unbroken(intentText(intent, jobs.get(intent.job ?? "")?.name ?? ""))}</p>
          </div>
        </div>
      ))}
    </li>
  );
}
