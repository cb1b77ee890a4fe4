// A cluster of hundreds of nodes on one canvas: 1,000 nodes of 8 slots draw in a few milliseconds.
// Arrow keys walk over the slots, Enter opens the job; a line below says what the pointer or keys are on.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ClusterNode, Job } from "../../api/types";
import { jobColour } from "../../page/palette";
import { closedBy, emptyKind } from "../../state/pool";
import { jobHref } from "../../page/router";
import { cssColour, useDark } from "../../page/theme";
import { clockBeside, count } from "../../text/format";
import { layOut, type MosaicLayout, slotAt, slotOrigin } from "./mosaic_layout";
import type { SlotViewProps } from "./slot_view";

const kTallest = 380;
interface Spot { node: number; slot: number }

export function SlotMosaic({ nodes, jobs, lit, onLight }: SlotViewProps) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const dark = useDark();
  const [width, setWidth] = useState(0);
  const [spot, setSpot] = useState<Spot | null>(null);
  const widest = useMemo(() => nodes.reduce((most, node) => Math.max(most, node.slots.length), 1), [nodes]);
  const layout = useMemo(() => layOut(nodes.length, widest, width || 600, kTallest), [nodes.length, widest, width]);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (canvas.current && width > 0) draw(canvas.current, layout, nodes, { lit, spot, dark });
  }, [layout, nodes, lit, spot, dark, width]);

  const move = (next: Spot | null) => {
    setSpot(next);
    onLight(next ? nodes[next.node]?.slots[next.slot]?.job ?? null : null);
  };
  const point = (event: PointerEvent) => {
    const next = slotAt(layout, nodes, event.offsetX, event.offsetY);
    if (next?.node !== spot?.node || next?.slot !== spot?.slot) move(next);
  };
  const openJob = () => {
    const job = spot && nodes[spot.node]?.slots[spot.slot]?.job;
    if (job) location.hash = jobHref(job);
  };
  const key = (event: KeyboardEvent) => {
    if (event.key === "Enter") return openJob();
    const first = { node: 0, slot: 0 };
    const next = stepBy(event.key, spot ?? first, layout, nodes);
    if (!next) return;
    event.preventDefault();
    move(spot === null && event.key !== "End" ? first : next);
  };
  return (
    <div ref={box} class="mosaic">
      <canvas ref={canvas} tabIndex={0} role="application" aria-describedby="mosaic-line"
        aria-label={`${count(nodes.length)} nodes, ${count(nodes.reduce((n, node) => n + node.slots.length, 0))} slots; arrow keys move, Enter opens the job`}
        onPointerMove={point} onPointerLeave={() => move(null)} onClick={openJob} onKeyDown={key} onBlur={() => move(null)} />
      <p id="mosaic-line" class="mosaic-line" aria-live="polite">{sentence(nodes, jobs, spot)}</p>
    </div>
  );
}

const noteOf = (node: ClusterNode) => (node.state !== "up" ? "lost" : closedBy(node));

function sentence(nodes: readonly ClusterNode[], jobs: ReadonlyMap<string, Job>, spot: Spot | null): string {
  const node = spot && nodes[spot.node];
  const slot = node?.slots[spot?.slot ?? 0];
  if (!node || !slot) return "Point at a slot, or use the arrow keys, to see its job and worker.";
  const note = noteOf(node);
  const where = `${node.name}${note === null ? "" : ` (${note})`}, slot ${slot.index}`;
  if (slot.quarantine) return `${where}: quarantined since ${clockBeside(slot.quarantine.since, Date.now())}: ${slot.quarantine.why}`;
  if (slot.job === null && slot.busy) return `${where}: held by another tenant`;
  if (slot.job === null) return `${where}: ${note === null ? "free" : "empty"}`;
  return `${where}: ${jobs.get(slot.job)?.name ?? slot.job} (${slot.job}), worker ${slot.worker ?? "?"}`;
}

function cross(pen: CanvasRenderingContext2D, x: number, y: number, size: number, colour: string): void {
  pen.strokeStyle = colour;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x + size, y + size);
  pen.moveTo(x + size, y);
  pen.lineTo(x, y + size);
  pen.stroke();
}

function edge(pen: CanvasRenderingContext2D, x: number, y: number, size: number, colour: string): void {
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  pen.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
}

function stepBy(key: string, from: Spot, layout: MosaicLayout, nodes: readonly ClusterNode[]): Spot | null {
  const last = (node: number) => (nodes[node]?.slots.length ?? 1) - 1;
  const clampNode = (node: number) => Math.max(0, Math.min(nodes.length - 1, node));
  const at = (node: number, slot: number): Spot => ({ node: clampNode(node), slot: Math.max(0, Math.min(last(clampNode(node)), slot)) });
  switch (key) {
    case "ArrowRight": return from.slot < last(from.node) ? at(from.node, from.slot + 1) : at(from.node + 1, 0);
    case "ArrowLeft": return from.slot > 0 ? at(from.node, from.slot - 1) : at(from.node - 1, last(clampNode(from.node - 1)));
    case "ArrowDown": return at(from.node + layout.perRow, from.slot);
    case "ArrowUp": return at(from.node - layout.perRow, from.slot);
    case "Home": return at(0, 0);
    case "End": return at(nodes.length - 1, last(nodes.length - 1));
    default: return null;
  }
}

function draw(canvas: HTMLCanvasElement, layout: MosaicLayout, nodes: readonly ClusterNode[], look: { lit: string | null; spot: Spot | null; dark: boolean }): void {
  const scale = devicePixelRatio || 1;
  canvas.width = Math.round(layout.width * scale);
  canvas.height = Math.round(layout.height * scale);
  canvas.style.width = `${layout.width}px`;
  canvas.style.height = `${layout.height}px`;
  const pen = canvas.getContext("2d");
  if (!pen) return;
  pen.scale(scale, scale);
  const [free, cordoned, ink, bad] = ["--slot-free", "--slot-cordoned", "--ink", "--bad"].map(cssColour) as [string, string, string, string];
  const colours = { other: cssColour("--ink-3"), lost: free, quarantined: cordoned, cordoned, free };
  nodes.forEach((node, n) => {
    node.slots.forEach((slot, s) => {
      const { x, y } = slotOrigin(layout, n, s);
      const kind = slot.quarantine ? "quarantined" : slot.job === null ? emptyKind(node, slot) : "job";
      pen.globalAlpha = slot.job !== null && look.lit !== null && look.lit !== slot.job ? 0.22 : 1;
      pen.fillStyle = kind === "job" ? jobColour(slot.job ?? "", look.dark) : colours[kind];
      pen.fillRect(x, y, layout.cell, layout.cell);
      if (kind === "quarantined") cross(pen, x, y, layout.cell, ink);
      // An edge alone: as a fill it would be the colour of a job. A lost node keeps its jobs until they are started elsewhere.
      if (node.state !== "up") edge(pen, x, y, layout.cell, bad);
    });
  });
  pen.globalAlpha = 1;
  if (look.spot) {
    const { x, y } = slotOrigin(layout, look.spot.node, look.spot.slot);
    pen.strokeStyle = ink;
    pen.lineWidth = 2;
    pen.strokeRect(x - 0.5, y - 0.5, layout.cell + 1, layout.cell + 1);
  }
}
