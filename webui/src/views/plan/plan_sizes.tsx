// How many workers the job would have from when on, drawn and as a table.
import type { Plan } from "../../api/plan_types";
import { type SizeSpan, sizeSpans, spanWidths } from "../../state/size_spans";
import { momentWithin } from "../../text/forecast_text";
import { count, duration } from "../../text/format";
import { sizesText } from "../../text/plan_text";

const kTold = 16; // the daemon tells no more changes than that

export function PlanSizes({ plan, old }: { plan: Plan; old: boolean }) {
  const { forecast } = plan;
  const now = Date.parse(forecast.computed_at);
  const spans = sizeSpans(forecast);
  const last = spans[spans.length - 1];
  if (last === undefined) return null;
  return (
    <section class={`card plan-sizes${old ? " old" : ""}`} aria-labelledby="plan-sizes-title">
      <header class="card-head"><h2 id="plan-sizes-title">Workers over time</h2></header>
      <Steps spans={spans} now={now} />
      <details>
        <summary>As a table</summary>
        <table class="plain" data-testid="plan-sizes">
          <thead><tr><th scope="col">From</th><th scope="col" class="number">Workers</th><th scope="col" class="number">For</th></tr></thead>
          <tbody>{spans.map((span) => <Row key={span.from} span={span} now={now} until={last.to ?? last.from} />)}</tbody>
        </table>
      </details>
      {forecast.sizes.length >= kTold && <p class="quiet small">These are the first {kTold} changes; more may come.</p>}
      {forecast.end !== null && <p class="quiet small">From a simulation of the pool. Start and end above are corrected by how far off earlier forecasts were, so they can differ from this.</p>}
    </section>
  );
}

function Row({ span, now, until }: { span: SizeSpan; now: number; until: number }) {
  return (
    <tr>
      <th scope="row">{span.from <= now ? "now" : momentWithin(span.from, now, until)}</th>
      <td class="number">{span.size === 0 ? "none" : count(span.size)}</td>
      <td class="number">{span.to === null ? "not known" : duration((span.to - span.from) / 1000)}</td>
    </tr>
  );
}

// Width is time, height is workers.
function Steps({ spans, now }: { spans: readonly SizeSpan[]; now: number }) {
  const most = Math.max(...spans.map(({ size }) => size), 1);
  const widths = spanWidths(spans);
  const end = spans[spans.length - 1]?.to ?? null;
  return (
    <div role="img" aria-label={sizesText(spans)}>
      <div class="steps">
        {spans.map((span, index) => (
          <span key={span.from} class={`step${span.to === null ? " on" : ""}`} style={{ flexGrow: Math.max(1, Math.round((widths[index] ?? 0) * 1000)) }}
            title={sizesText([span])}>
            <b>{count(span.size)}</b>
            <i style={{ "--part": span.size / most }} />
          </span>
        ))}
      </div>
      <div class="lane-ends small quiet"><span>now</span><span>{end === null ? "goes on" : momentWithin(end, now, end)}</span></div>
    </div>
  );
}
