// Cost so far, its pace, and what the same work would have cost at the largest size.
import type { Job, MeasuredSize, ThroughputFit } from "../../api/types";
import { costAtMax, hasSmallerSizes } from "../../state/cost";
import { isOver } from "../../state/model";
import { duration, money, percent } from "../../text/format";

interface Props {
  job: Job;
  sizes: readonly MeasuredSize[];
  fit: ThroughputFit | null;
}

export function CostPanel({ job, sizes, fit }: Props) {
  const paid = Number(job.cost.amount);
  const other = costAtMax(job, sizes, fit);
  const saved = other && other.amount > 0 ? 1 - paid / other.amount : null;
  const widest = Math.max(paid, other?.amount ?? 0) || 1;
  const show = (amount: number) => money(amount, job.cost.currency);
  return (
    <section class="card" aria-labelledby="cost-title">
      <header class="card-head"><h2 id="cost-title">Cost</h2>{!isOver(job.state) && <span class="quiet">{show(Number(job.cost.per_hour))} per hour now</span>}</header>
      <dl class="cost-bars">
        <div><dt>So far</dt><dd><i class="cost-bar" style={{ width: `${(paid / widest) * 100}%` }} /><b>{show(paid)}</b></dd></div>
        {hasSmallerSizes(job, sizes) && (other || !isOver(job.state)) && (
          <div>
            <dt>The same samples at {job.max} {job.max === 1 ? "worker" : "workers"} throughout</dt>
            <dd>{other
              ? <><i class="cost-bar other" style={{ width: `${(other.amount / widest) * 100}%` }} /><b>{show(other.amount)}</b></>
              : <span class="quiet">known once throughput at {job.max} is measured or fitted</span>}</dd>
          </div>
        )}
      </dl>
      {other && saved !== null && (
        <p class="cost-note">
          {saved >= 0
            ? <>Staying at the maximum would have cost <b>{percent(1 / (1 - saved) - 1)}</b> more</>
            : <>Staying at the maximum would have cost <b>{percent(-saved / (1 - saved))}</b> less</>}
          {" "}and taken {duration(other.seconds)}, {other.source === "measured" ? "by the throughput measured there" : "by the fitted curve"}.
        </p>
      )}
      <p class="quiet small">Paid for {duration(job.cost.slot_seconds)} of slot time.</p>
    </section>
  );
}
