// The page an operator leaves open: what each job holds, which jobs wait and why, what was decided last.
import { useState } from "preact/hooks";
import type { JobsView } from "../../page/queries";
import { Unread } from "../../parts/unread";
import { useSelect } from "../../state/store";
import { DecisionFeed } from "./decision_feed";
import { Health } from "./health";
import { JobTable } from "./job_table";
import { PoolStrip } from "./pool_strip";
import { SlotPanel } from "./slot_panel";

export function Overview({ view, loading }: { view: JobsView; loading: boolean }) {
  // The job under the pointer, in the table or among the slots: the others step back.
  const [lit, setLit] = useState<string | null>(null);
  const neverListed = useSelect((state) => state.seq === 0 && state.nodes.size === 0 && state.jobs.size === 0);
  const down = useSelect((state) => state.link.kind === "down");
  if (neverListed && down) return <Unread what="Jobs and nodes" />;
  if (neverListed && loading) return <Loading />;
  return (
    <div class="overview">
      <h1 class="visually-hidden">Overview</h1>
      <PoolStrip />
      <div class="columns">
        <div class="column">
          <SlotPanel lit={lit} onLight={setLit} />
          <JobTable view={view} lit={lit} onLight={setLit} />
        </div>
        <aside class="column side">
          <DecisionFeed />
          <Health />
        </aside>
      </div>
    </div>
  );
}

function Loading() {
  return (
    <div class="overview" aria-busy="true">
      <p class="visually-hidden" role="status">Loading jobs and nodes</p>
      <div class="skeleton strip" />
      <div class="columns"><div class="column"><div class="skeleton tall" /></div><aside class="column side"><div class="skeleton tall" /></aside></div>
    </div>
  );
}
