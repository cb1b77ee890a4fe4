// Slots by node, coloured by job. Few nodes get a labelled row each; many become a mosaic on a canvas.
import { useMemo } from "preact/hooks";
import type { ClusterNode } from "../../api/types";
import { useSelect } from "../../state/store";
import { SlotMosaic } from "./slot_mosaic";
import { SlotRows } from "./slot_rows";

const kMostRows = 16;
const kMostSlotsARow = 32;

export interface SlotViewProps {
  nodes: readonly ClusterNode[];
  names: ReadonlyMap<string, string>; // job id -> name
  lit: string | null;
  onLight(job: string | null): void;
}

const byName = new Intl.Collator("en", { numeric: true });

export function SlotPanel({ lit, onLight }: Pick<SlotViewProps, "lit" | "onLight">) {
  const nodeMap = useSelect((state) => state.nodes);
  const jobs = useSelect((state) => state.jobs);
  const nodes = useMemo(() => [...nodeMap.values()].sort((a, b) => byName.compare(a.name, b.name) || byName.compare(a.id, b.id)), [nodeMap]);
  const names = useMemo(() => new Map([...jobs.values()].map((job) => [job.id, job.name])), [jobs]);
  const small = nodes.length <= kMostRows && nodes.every((node) => node.slots.length <= kMostSlotsARow);
  const view = { nodes, names, lit, onLight };
  return (
    <section class="card slots" aria-labelledby="slots-title">
      <header class="card-head">
        <h2 id="slots-title">Slots by node</h2>
        <span class="quiet">colour = job{small ? "" : "; pale = free, grey = cordoned, crossed = quarantined, red = lost"}</span>
      </header>
      {nodes.length === 0 && <p class="empty-line">No node has joined. Start <code>agentd</code> on a node, or <code>schedulerd --dev</code> for a local one.</p>}
      {nodes.length > 0 && (small ? <SlotRows {...view} /> : <SlotMosaic {...view} />)}
    </section>
  );
}
