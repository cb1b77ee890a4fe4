// Why the job has the size it has: the engine's own sentence, then its numbers, then the roads not taken.
import type { Explanation } from "../../api/types";
import { jobHref } from "../../router";
import { count, quantity } from "../../text/format";

export function WhyPanel({ explanation }: { explanation: Explanation | null }) {
  return (
    <section class="card why-panel" aria-labelledby="why-title">
      <header class="card-head"><h2 id="why-title">Why</h2>{explanation?.reason && <code class="code">{explanation.reason.code}</code>}</header>
      {explanation === null ? <div class="skeleton line" /> : <Body why={explanation} />}
    </section>
  );
}

function Body({ why }: { why: Explanation }) {
  return (
    <>
      <p class="why-summary" data-testid="why-summary">{why.summary}</p>
      {why.evidence.length > 0 && <Part title="Evidence"><ul class="lines">{why.evidence.map((line) => <li key={line}>{line}</li>)}</ul></Part>}
      {why.alternatives.length > 0 && (
        <Part title="What lost">
          <table class="plain">
            <thead><tr><th scope="col">Size</th><th scope="col" class="number">Score</th><th scope="col">Because</th></tr></thead>
            <tbody>
              {why.alternatives.map((other) => (
                <tr key={other.size}>
                  <th scope="row">{count(other.size)}</th><td class="number">{quantity(other.score)}</td>
                  <td>{other.reason.text || other.reason.code}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Part>
      )}
      {why.unblocks.length > 0 && <Part title="What would change it"><ul class="lines">{why.unblocks.map((line) => <li key={line}>{line}</li>)}</ul></Part>}
      {why.ahead.length > 0 && (
        <Part title="Ahead of it">
          <p>{why.ahead.map((job, index) => <span key={job}>{index > 0 && ", "}<a href={jobHref(job)}>{job}</a></span>)}</p>
        </Part>
      )}
    </>
  );
}

function Part({ title, children }: { title: string; children: preact.ComponentChildren }) {
  return <div class="why-part"><h3>{title}</h3>{children}</div>;
}
