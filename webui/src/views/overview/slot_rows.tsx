import type { ClusterNode, Slot } from "../../api/types";
import { inkOn, jobColour } from "../../page/palette";
import { closedBy, emptyKind, isHeld, quarantinedOn } from "../../state/pool";
import { jobHref } from "../../page/router";
import { useDark } from "../../page/theme";
import { clockBeside, percent } from "../../text/format";
import type { SlotViewProps } from "./slot_view";

const kNoteWidth = 160;
const kRoomy = { nodes: 6, cell: 74 }; // so few nodes stand below each other where their slots would be too narrow for names
const kTight = 36;

export function SlotRows({ nodes, jobs, lit, onLight }: SlotViewProps) {
  const most = Math.max(...nodes.map(({ slots }) => slots.length), 1);
  const row = kNoteWidth + most * (nodes.length <= kRoomy.nodes ? kRoomy.cell : kTight);
  return (
    <ul class="node-rows" style={{ "--row": `${row}px` }}>
      {nodes.map((node) => (
        <li key={node.id} class={node.state === "up" ? undefined : "lost"}>
          <span class="node-name"><b title={`${node.name}, ${node.id}`}>{node.name}</b> <NodeNote node={node} /></span>
          <span class="cells">
            {node.slots.map((slot) => <Cell key={slot.index} {...{ node, slot, jobs, lit, onLight }} />)}
          </span>
        </li>
      ))}
    </ul>
  );
}

function NodeNote({ node }: { node: ClusterNode }) {
  if (node.state !== "up") return <span class="tag bad">lost</span>;
  if (node.drain) {
    const { drained, deadline, reason, cause, maintenance } = node.drain;
    if (cause === "maintenance" && maintenance?.begun) {
      return <span class="tag" title={reason}>maintenance until {clockBeside(maintenance.ends, Date.now())}</span>;
    }
    const until = `${cause === "reclaim" ? "reclaimed at" : "draining until"} ${clockBeside(deadline, Date.now())}`;
    return <span class="tag" title={reason}>{drained ? "drained" : until}</span>;
  }
  if (node.cordoned) return <span class="tag">cordoned</span>;
  if (node.faults?.unsteady_until) {
    const { losses, failed_starts, unsteady_until } = node.faults;
    const title = `${losses} losses, ${failed_starts} failed starts lately: no new workers until then`;
    return <span class="tag warn" title={title}>unsteady until {clockBeside(unsteady_until, Date.now())}</span>;
  }
  const quarantined = quarantinedOn(node);
  const used = node.slots.filter(isHeld).length - quarantined;
  if (quarantined > 0) {
    return <span class="tag warn" title={`${used} of ${node.slots.length} slots in use`}>{quarantined} quarantined</span>;
  }
  const health = node.health;
  const measured = health ? `, measured at ${percent(health.speed)} of what may be expected` : "";
  return (
    <span class="quiet" title={`${node.price_per_slot_hour} per slot and hour${node.price_rule ? `, by ${node.price_rule}` : ""}${measured}`}>
      {used} of {node.slots.length} {node.slot_type}
      {health?.slow && <> <span class="tag warn">slow: {percent(health.speed)}</span></>}
    </span>
  );
}

interface CellProps extends Omit<SlotViewProps, "nodes"> {
  node: ClusterNode;
  slot: Slot;
}

// What a slot is that no job at hand holds.
export function emptyText(node: ClusterNode, slot: Slot): string {
  const kind = emptyKind(node, slot);
  if (kind === "other") return "held by another tenant";
  return kind === "cordoned" ? `closed: its node is ${closedBy(node) ?? "closed"}` : kind;
}

function Cell({ node, slot, jobs, lit, onLight }: CellProps) {
  const dark = useDark();
  if (slot.quarantine) {
    const since = clockBeside(slot.quarantine.since, Date.now());
    const words = `slot ${slot.index}: quarantined since ${since}: worker ${slot.worker ?? "?"} has ended, and ${slot.quarantine.why}`;
    return <span class="cell quarantined" title={words}><span class="visually-hidden">{words}</span></span>;
  }
  if (slot.job === null) {
    const text = emptyText(node, slot);
    return <span class={`cell ${emptyKind(node, slot)}`} title={`slot ${slot.index}: ${text}`}><span class="visually-hidden">{text}</span></span>;
  }
  const job = slot.job;
  const colour = jobColour(job, dark);
  const name = jobs.get(job)?.name ?? job;
  const label = `${name}, worker ${slot.worker ?? "?"}, slot ${slot.index} of ${node.name}${node.state === "up" ? "" : ", which is lost"}`;
  return (
    // Of the slots of a job that lie beside each other the keyboard stops at the first: all lead to the same page.
    <a tabIndex={node.slots[node.slots.indexOf(slot) - 1]?.job === job ? -1 : undefined} class={`cell held${lit !== null && lit !== job ? " dimmed" : ""}`} href={jobHref(job)} title={label} aria-label={label}
      style={{ background: colour, color: inkOn(colour) }} data-job={job}
      onPointerEnter={() => onLight(job)} onPointerLeave={() => onLight(null)} onFocus={() => onLight(job)} onBlur={() => onLight(null)}>
      <span class="cell-job">{name}</span><span class="cell-worker">{slot.worker}</span>
    </a>
  );
}
