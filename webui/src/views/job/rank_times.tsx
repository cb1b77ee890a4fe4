// Compute time of each rank before the allreduce: the slowest one sets the pace, a straggler is named.
import { useMemo } from "preact/hooks";
import type { MetricPoint, Worker } from "../../api/types";
import { milliseconds, percent, quantity } from "../../text/format";
import { median } from "./median";
import { RankHeat } from "./rank_heat";

const kMostBars = 16;

export function RankTimes({ workers, points, loaded }: { workers: readonly Worker[]; points: readonly MetricPoint[]; loaded: boolean }) {
  const ranked = useMemo(() => workers.filter((worker) => worker.rank !== null).sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0)), [workers]);
  const times = ranked.flatMap((worker) => (worker.compute_ms === null ? [] : [worker.compute_ms]));
  const middle = median(times);
  const most = Math.max(...times, middle * 1.25, 1e-9);
  const slowestFirst = ranked.length > kMostBars;
  const bars = slowestFirst ? [...ranked].sort((a, b) => Number(b.straggler) - Number(a.straggler) || (b.compute_ms ?? 0) - (a.compute_ms ?? 0)).slice(0, kMostBars) : ranked;
  const slow = ranked.filter((worker) => worker.straggler);
  return (
    <section class="card ranks" aria-labelledby="ranks-title">
      <header class="card-head">
        <h2 id="ranks-title">Compute time by rank</h2>
        <span class="quiet">{times.length > 0 && `median ${milliseconds(middle)}`}{slowestFirst && `, slowest ${kMostBars} of ${ranked.length}`}</span>
      </header>
      {ranked.length === 0 ? <None loaded={loaded} /> : (
        <>
          {slow.length > 0 && <p class="notice warn">{slow.map((worker) => `rank ${worker.rank} (${worker.id} on ${worker.node_name})`).join(", ")} {slow.length === 1 ? "is" : "are"} slow: all others wait for {slow.length === 1 ? "it" : "them"} at each step.</p>}
          <ul class="bars">
            {bars.map((worker) => <Bar key={worker.id} worker={worker} most={most} middle={middle} />)}
          </ul>
          <RankHeat points={points} />
        </>
      )}
    </section>
  );
}

function None({ loaded }: { loaded: boolean }) {
  return loaded ? <p class="empty-line">No worker holds a rank now.</p> : <div class="skeleton line" />;
}

function Bar({ worker, most, middle }: { worker: Worker; most: number; middle: number }) {
  const time = worker.compute_ms;
  const title = `${worker.id} on ${worker.node_name}, ${worker.phase}${worker.straggler_score === null ? "" : `, score ${quantity(worker.straggler_score)} of the median's speed`}`;
  return (
    <li title={title} class={worker.straggler ? "slow" : undefined} data-rank={worker.rank}>
      <span class="bar-name">{worker.rank} <span class="quiet">{worker.id}</span></span>
      <span class="bar-track">
        <i class="bar-fill" style={{ width: `${((time ?? 0) / most) * 100}%` }} />
        <i class="bar-median" style={{ left: `${(middle / most) * 100}%` }} />
      </span>
      <span class="bar-value">{milliseconds(time)}{worker.straggler && <span class="tag warn">slow</span>}{worker.share < 1 && <span class="tag" title="It is slow and gets a smaller part of each step, so that all finish together.">share {percent(worker.share)}</span>}</span>
    </li>
  );
}
