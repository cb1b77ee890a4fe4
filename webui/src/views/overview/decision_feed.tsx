// What the engine did last, in its own words. Of a decision for many jobs the first lines, and the others on demand: the
// feed stays a list of the last decisions.
import { useState } from "preact/hooks";
import { jobColour } from "../../page/palette";
import { Moment, When } from "../../parts/when";
import { jobHref } from "../../page/router";
import { type DecisionLine, isTold } from "../../state/model";
import { sumJobs, sumPool } from "../../state/pool";
import { useSelect } from "../../state/store";
import { type FeedLine, feedLines, intentText, kindText, noDecisionsText, withNodeNames } from "../../text/decision_text";
import { count, unbroken } from "../../text/format";
import { policyTrouble } from "../../text/policy_text";
import { useDark } from "../../page/theme";

const kShown = 12;
const kLines = 5; // of a decision

export function DecisionFeed() {
  const decisions = useSelect((state) => state.decisions);
  const acting = decisions.map(tellable).filter((decision) => decision.intents.length > 0).slice(0, kShown);
  return (
    <section class="card" aria-labelledby="decisions-title">
      <header class="card-head"><h2 id="decisions-title">Decisions</h2><span class="quiet">newest first</span></header>
      <PolicyTrouble />
      {acting.length === 0
        ? <Nothing />
        : <ol class="feed" data-testid="decisions">{acting.map((decision) => <Entry key={decision.id} decision={decision} />)}</ol>}
    </section>
  );
}

function PolicyTrouble() {
  const news = useSelect((state) => state.policyNews);
  const text = policyTrouble(news);
  return text !== null && news !== null && (
    <p class="notice warn" role="status" data-testid="policy-trouble">{text} <Moment at={news.at} /></p>
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
  const [all, setAll] = useState(false);
  const lines = feedLines(decision.intents);
  return (
    <li title={`${decision.id}, policy ${decision.policy}`}>
      {(all ? lines : lines.slice(0, kLines)).map((line, index) => <Line key={index} line={line} at={decision.at} />)}
      {lines.length > kLines && (
        <button class="text-button" type="button" onClick={() => setAll(!all)}>{all ? "Show fewer" : `Show all ${count(lines.length)} of this decision`}</button>
      )}
    </li>
  );
}

function Line({ line: { intent, alike }, at }: { line: FeedLine; at: string }) {
  const dark = useDark();
  const jobs = useSelect((state) => state.jobs);
  const nodes = useSelect((state) => state.nodes);
  return (
    <div class="feed-line">
      <i class="swatch" aria-hidden="true" style={{ background: intent.job ? jobColour(intent.job, dark) : "var(--line-strong)" }} />
      <div>
        <p class="feed-head">
          {intent.job && <a href={jobHref(intent.job)}>{jobs.get(intent.job)?.name ?? intent.job}</a>}
          <span class="kind">{kindText(intent)}</span>
          <When at={at} />
        </p>
        <p class="feed-text">
          {unbroken(withNodeNames(intentText(intent, jobs.get(intent.job ?? "")?.name ?? ""), nodes))}
          {alike > 0 && <span class="quiet"> · and {count(alike)} more</span>}
        </p>
      </div>
    </div>
  );
}
