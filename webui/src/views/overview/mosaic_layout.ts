// Where each slot of a large cluster is drawn: a node is a small block of cells, blocks fill rows. Pure.
import type { ClusterNode } from "../../api/types";

export interface MosaicLayout {
  cell: number; // side of a cell, CSS pixels
  pitch: number; // from one cell to the next inside a node
  blockColumns: number; // cells across one node
  blockRows: number;
  blockWidth: number; // with the gap to the next node
  blockHeight: number;
  perRow: number; // nodes in one row
  width: number;
  height: number;
}

const kBlockGap = 4;

// The largest cell, from 14 down to 4 pixels, with which everything stays within `tallest`.
export function layOut(nodeCount: number, slotsPerNode: number, width: number, tallest: number): MosaicLayout {
  const blockColumns = slotsPerNode <= 4 ? slotsPerNode : slotsPerNode <= 8 ? 4 : 8;
  const blockRows = Math.ceil(slotsPerNode / Math.max(1, blockColumns));
  let layout = sized(14);
  for (let cell = 13; cell >= 4 && layout.height > tallest; --cell) layout = sized(cell);
  return layout;

  function sized(cell: number): MosaicLayout {
    const pitch = cell + 1;
    const blockWidth = blockColumns * pitch - 1 + kBlockGap;
    const blockHeight = blockRows * pitch - 1 + kBlockGap;
    const perRow = Math.max(1, Math.floor((width + kBlockGap) / blockWidth));
    const rows = Math.ceil(nodeCount / perRow);
    return { cell, pitch, blockColumns, blockRows, blockWidth, blockHeight, perRow, width, height: rows * blockHeight - kBlockGap };
  }
}

export function slotOrigin(layout: MosaicLayout, node: number, slot: number): { x: number; y: number } {
  return {
    x: (node % layout.perRow) * layout.blockWidth + (slot % layout.blockColumns) * layout.pitch,
    y: Math.floor(node / layout.perRow) * layout.blockHeight + Math.floor(slot / layout.blockColumns) * layout.pitch,
  };
}

// The slot under a point, or null between the cells.
export function slotAt(layout: MosaicLayout, nodes: readonly ClusterNode[], x: number, y: number): { node: number; slot: number } | null {
  const column = Math.floor(x / layout.blockWidth);
  if (column < 0 || column >= layout.perRow || y < 0) return null;
  const node = Math.floor(y / layout.blockHeight) * layout.perRow + column;
  const inX = Math.floor((x - column * layout.blockWidth) / layout.pitch);
  const inY = Math.floor((y % layout.blockHeight) / layout.pitch);
  if (inX >= layout.blockColumns || inY >= layout.blockRows) return null;
  const slot = inY * layout.blockColumns + inX;
  return slot < (nodes[node]?.slots.length ?? 0) ? { node, slot } : null;
}
