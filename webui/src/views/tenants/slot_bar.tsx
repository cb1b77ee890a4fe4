// A tenant's slots on the scale of the pool: what it uses of its guarantee, what it borrows, what of the guarantee
// others may have, what it is owed, and as a mark how many it may have now. The line below says the same in numbers.
import type { SlotShares } from "../../state/tenant_rows";
import { sharesText, slots } from "../../text/tenant_text";

interface Props {
  shares: SlotShares;
  owed: number;
  scale: number;
}

export function SlotBar({ shares, owed, scale }: Props) {
  const { guarantee, held, borrowed, lent, entitled } = shares;
  const part = (kind: string, from: number, size: number) => size > 0 && (
    <i class={kind} style={{ left: `${(100 * from) / scale}%`, width: `${(100 * Math.min(size, scale - from)) / scale}%` }} />
  );
  const label = `${sharesText(shares)}${owed > 0 ? ` · ${slots(owed)} owed` : ""}`;
  return (
    <span class="slot-bar" role="img" aria-label={label} title={label}>
      {part("guaranteed", 0, guarantee)}
      {part("lent", guarantee - lent, lent)}
      {part("held", 0, held - borrowed)}
      {part("borrowed", held - borrowed, borrowed)}
      {part("owed", held, owed)}
      {entitled !== null && <i class="entitled" style={{ left: `${(100 * entitled) / scale}%` }} />}
    </span>
  );
}

const kKeys = [
  ["held", "in use"], ["borrowed", "in use, borrowed"], ["guaranteed", "guaranteed"], ["lent", "free to lend"], ["owed", "owed"], ["entitled", "entitled"],
] as const;

export function SlotLegend() {
  return <ul class="legend slot-legend">{kKeys.map(([kind, word]) => <li key={kind}><i class={`slot-key ${kind}`} aria-hidden="true" />{word}</li>)}</ul>;
}
