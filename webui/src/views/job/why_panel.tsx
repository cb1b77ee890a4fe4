// Why the job has the size it has: the engine's own sentence, then its numbers, then the roads not taken.
import type { Explanation } from "../../api/types";
import { jobHref } from "../../page/router";
import { count, leavingText, quantity } from "../../text/format";
import { withoutFailure } from "../../text/progress_text";
import { waitText } from "../../text/wait_text";

// `failure`: what the page says of it already.
export function WhyPanel({ explanation, failure }: { explanation: Explanation | null; failure: string | null }) {
  return (
    <section class="card why-panel" aria-labelledby="why-title">
      <header class="card-head"><h2 id="why-title">Why</h2>{explanation?.reason && <code class="code">{explanation.reason.code}</code>}</header>
      {explanation === null ? <div class="skeleton line" /> : <Body why={explanation} failure={failure} />}
    </section>
  );
}

function Body({ why, failure }: { why: Explanation; failure: string | null }) {
  return (
    <>
      <p class="why-summary" data-testid="why-summary">{withoutFailure(why.summary, failure)}</p>
      {why.evidence.length > 0 && <Part title="Evidence"><ul class="lines">{why.evidence.map((line) => <li key={line}>{withoutFailure(line, failure)}</li>)}</ul></Part>}
      {why.alternatives.length > 0 && <Part title="Sizes weighed"><Weighed why={why} /></Part>}
      {why.unblocks.length > 0 && <Part title="What would change it"><ul class="lines">{why.unblocks.map((line) => <li key={line}>{line}</li>)}</ul></Part>}
      {why.ahead.length > 0 && (
        <Part title="Ahead of it">
          <p>{why.ahead.map((job, index) => <span key={job}>{index > 0 && ", "}<a href={jobHref(job)}>{job}</a></span>)}</p>
        </Part>
      )}
      {why.waits && why.waits.length > 0 && <Part title="Waited"><ul class="lines" data-testid="why-waits">{why.waits.map((wait) => <li key={wait.from}>{waitText(wait)}</li>)}</ul></Part>}
    </>
  );
}

// The size that its policy wants stands first, whatever keeps the job from having it.
function Weighed({ why }: { why: Explanation }) {
  const rows = why.chosen ? [why.chosen, ...why.alternatives] : why.alternatives;
  return (
    <table class="plain" data-testid="why-sizes">
      <thead><tr><th scope="col">Size</th><th scope="col" class="number">Score</th><th scope="col">Because</th></tr></thead>
      <tbody>
        {rows.map((size) => (
          <tr key={size.size} class={size === why.chosen ? "chosen" : undefined}>
            <th scope="row">{count(size.size)}{size === why.chosen && <> <span class="tag">chosen</span></>}</th>
            <td class="number">{quantity(size.score)}</td>
            <td>{leavingText(size.reason.text, size.size) || size.reason.code}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Part({ title, children }: { title: string; children: preact.ComponentChildren }) {
  return <div class="why-part"><h3>{title}</h3>{children}</div>;
}
