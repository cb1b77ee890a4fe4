import type { JobState } from "../api/types";
import { StateGlyph } from "./icons";

const kGlyphs = {
  pending: "wait", starting: "wait", running: "run", resizing: "change", suspending: "hold", suspended: "hold",
  succeeded: "done", failed: "fail", cancelled: "off",
} as const;

export function StateChip({ state }: { state: JobState }) {
  const glyph = kGlyphs[state] ?? "off";
  return <span class={`chip ${glyph}`}><StateGlyph kind={glyph} />{state}</span>;
}
