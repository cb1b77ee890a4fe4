// Whether what the page shows is fresh, and whether the engine is at work.
import { useNow } from "../../page/now";
import { When } from "../../parts/when";
import { eventRate } from "../../state/pool";
import { useSelect } from "../../state/store";
import { count } from "../../text/format";

export function Health() {
  const link = useSelect((state) => state.link.kind);
  const seq = useSelect((state) => state.seq);
  const lastEventAt = useSelect((state) => state.lastEventAt);
  const arrivals = useSelect((state) => state.arrivals);
  const policy = useSelect((state) => state.policies.find((entry) => entry.active));
  const last = useSelect((state) => state.decisions[0]);
  const now = useNow();
  return (
    <section class="card" aria-labelledby="health-title">
      <header class="card-head"><h2 id="health-title">Engine</h2></header>
      <dl class="pairs">
        <dt>Event stream</dt><dd>{link === "live" ? "connected" : link === "down" ? "disconnected" : "connecting"}</dd>
        <dt>Last event</dt><dd><When at={lastEventAt} /><span class="quiet">, no. {count(seq)}</span></dd>
        <dt>Events a second</dt><dd>{eventRate(arrivals, now).toFixed(1)} <span class="quiet">over a minute</span></dd>
        <dt>Last decision</dt><dd>{last ? <When at={last.at} /> : <span class="quiet">none yet</span>}</dd>
        <dt>Policy</dt><dd>{policy ? <span title={policy.summary}>{policy.name}</span> : <span class="quiet">unknown</span>}</dd>
      </dl>
    </section>
  );
}
