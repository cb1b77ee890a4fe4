// One line on the state of the pool: how many slots are used, free, or out of reach, and what it costs now.
import { useMemo } from "preact/hooks";
import { type PoolSums, sumJobs, sumPool } from "../../state/pool";
import { useSelect } from "../../state/store";
import { usedText } from "../../text/empty_text";
import { count, money, plural } from "../../text/format";

export function PoolStrip() {
  const nodes = useSelect((state) => state.nodes);
  const jobs = useSelect((state) => state.jobs);
  const pool = useMemo(() => sumPool(nodes.values()), [nodes]);
  const more = useSelect((state) => (state.jobsLeft?.part === "live" ? "+" : "")); // some jobs are not read yet
  const limited = useSelect((state) => state.ownTenant !== null); // such a token sees all slots, and jobs of one tenant
  const work = useMemo(() => sumJobs(jobs.values()), [jobs]);
  return (
    <section class="card pool" aria-label="Pool">
      <div class="pool-main">
        <p class="figure">
          <span class="big" data-testid="slots-used">{count(pool.used)}</span>
          <span class="of">of {count(pool.total)} slots in use</span>
          <span class="quiet">{usedText(pool)}</span>
        </p>
        <PoolBar pool={pool} />
        <ul class="legend">
          <Key kind="used" label="in use" slots={pool.used} />
          <Key kind="free" label="free" slots={pool.free} />
          {pool.cordoned > 0 && <Key kind="cordoned" label="closed" slots={pool.cordoned} title="empty, on nodes that take no workers: cordoned, draining, drained or unsteady" />}
          {pool.quarantined > 0 && <Key kind="quarantined" label="quarantined" slots={pool.quarantined} />}
          {pool.lost > 0 && <Key kind="lost" label="lost" slots={pool.lost} />}
        </ul>
      </div>
      <dl class="facts">
        <Fact name="Running" value={`${count(work.running)}${more}`} note={limited ? "of your tenant" : plural(work.running, "job")} />
        <Fact name="Waiting" value={`${count(work.waiting + work.suspended)}${more}`} note={work.suspended > 0 ? `${count(work.suspended)} of them suspended` : limited ? "of your tenant" : plural(work.waiting + work.suspended, "job")} />
        <Fact name="Nodes" value={count(pool.nodesUp)} note={pool.nodesLost > 0 ? `${pool.nodesLost} lost` : "up"} />
        <Fact name="Largest gang" value={count(pool.largestFree)} note="free on one node" />
        <Fact name="Spend" value={`${money(work.costPerHour, work.currency)}${more}`} note={limited ? "per hour, your tenant" : "per hour"} />
      </dl>
    </section>
  );
}

function PoolBar({ pool }: { pool: PoolSums }) {
  const all = pool.total + pool.lost;
  const parts = [["used", pool.used], ["free", pool.free], ["cordoned", pool.cordoned], ["quarantined", pool.quarantined], ["lost", pool.lost]] as const;
  const text = parts.filter(([, slots]) => slots > 0).map(([kind, slots]) => `${slots} ${kind === "cordoned" ? "closed" : kind}`).join(", ");
  return (
    <div class="pool-bar" role="img" aria-label={`Slots: ${text || "none"}`}>
      {parts.map(([kind, slots]) => slots > 0 && <i key={kind} class={kind} style={{ flexGrow: slots / all }} />)}
    </div>
  );
}

function Key({ kind, label, slots, title }: { kind: string; label: string; slots: number; title?: string }) {
  return <li title={title}><i class={`key ${kind}`} aria-hidden="true" /><b>{count(slots)}</b> {label}</li>;
}

function Fact({ name, value, note }: { name: string; value: string; note: string }) {
  return <div><dt>{name}</dt><dd><span class="value">{value}</span> <span class="quiet">{note}</span></dd></div>;
}
