// Slots by node, coloured by job. Few nodes get a labelled row each; many become a mosaic on a canvas.
import { useMemo } from "preact/hooks";
import { byText } from "../../state/job_order";
import { useSelect } from "../../state/store";
import { slotLegend } from "../../text/empty_text";
import { SlotMosaic } from "./slot_mosaic";
import { SlotRows } from "./slot_rows";
import type { SlotViewProps } from "./slot_view";

const kMostRows = 16;
const kMostSlotsARow = 32;

export function SlotPanel({ lit, onLight }: Pick<SlotViewProps, "lit" | "onLight">) {
  const nodeMap = useSelect((state) => state.nodes);
  const jobs = useSelect((state) => state.jobs);
  const nodes = useMemo(() => [...nodeMap.values()].sort((a, b) => byText.compare(a.name, b.name) || byText.compare(a.id, b.id)), [nodeMap]);
  const small = nodes.length <= kMostRows && nodes.every((node) => node.slots.length <= kMostSlotsARow);
  const others = nodes.some(({ slots }) => slots.some((slot) => slot.job === null && slot.busy));
  const view = { nodes, jobs, lit, onLight };
  return (
    <section class="card slots" aria-labelledby="slots-title">
      <header class="card-head">
        <h2 id="slots-title">Slots by node</h2>
        <span class="quiet">{slotLegend(small, others)}</span>
      </header>
      {nodes.length === 0 && <p class="empty-line">No node has joined. Start <code>agentd</code> on a node, or <code>schedulerd --dev</code> for a local one.</p>}
      {nodes.length > 0 && (small ? <SlotRows {...view} /> : <SlotMosaic {...view} />)}
    </section>
  );
}
