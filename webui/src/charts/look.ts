// What all charts share: thin grid, quiet labels, the same left edge, numbers that do not jump.
import type uPlot from "uplot";
import { clockWithin, compact } from "../text/format";
import { cssColour } from "../page/theme";

export const kLeftAxis = 52; // px; the marker rail above the charts uses the same
const kFont = "11px ui-sans-serif, system-ui, sans-serif";

export interface Ink {
  grid: string;
  label: string;
  strong: string;
  surface: string;
  tones: Record<"good" | "warn" | "bad" | "change" | "plain", string>;
}

export function inkOf(): Ink {
  return {
    grid: cssColour("--line"), label: cssColour("--ink-3"), strong: cssColour("--ink"), surface: cssColour("--surface"),
    tones: {
      good: cssColour("--good"), warn: cssColour("--warn"), bad: cssColour("--bad"), change: cssColour("--accent"),
      plain: cssColour("--ink-3"),
    },
  };
}

export function withAlpha(colour: string, alpha: number): string {
  const hex = /^#([0-9a-f]{6})$/i.exec(colour)?.[1];
  if (!hex) return colour;
  const part = (from: number) => parseInt(hex.slice(from, from + 2), 16);
  return `rgba(${part(0)}, ${part(2)}, ${part(4)}, ${alpha})`;
}

export function axis(ink: Ink, more: uPlot.Axis): uPlot.Axis {
  return {
    stroke: ink.label, font: kFont, ticks: { show: false }, gap: 6, grid: { stroke: ink.grid, width: 1 },
    ...more,
  };
}

export function valueAxis(ink: Ink): uPlot.Axis {
  return axis(ink, { size: kLeftAxis, space: 34, values: (_, values) => values.map((value) => (value === null ? "" : compact(value))) });
}

export function timeAxis(ink: Ink, visible: boolean): uPlot.Axis {
  return axis(ink, {
    size: visible ? 26 : 6, space: 90, grid: { show: false },
    values: ({ scales }, values) => {
      const stretch = (scales.x?.max ?? 0) - (scales.x?.min ?? 0);
      return values.map((value) => (visible ? clockWithin(value * 1000, stretch * 1000) : ""));
    },
  });
}
