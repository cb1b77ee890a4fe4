// The decisions above the charts: a mark each, its sentence on hover and on focus.
import { useState } from "preact/hooks";
import type { Marker } from "../../charts/markers";
import { clockWithin } from "../../text/format";

interface Props {
  markers: readonly Marker[];
  from: number;
  to: number;
}

export function MarkerRail({ markers, from, to }: Props) {
  const [open, setOpen] = useState<number | null>(null);
  const shown = open === null ? null : markers.find((marker) => marker.at === open);
  const place = (at: number) => `${(Math.max(0, Math.min(1, (at - from) / Math.max(1e-9, to - from))) * 100).toFixed(3)}%`;
  const time = (at: number) => clockWithin(at * 1000, (to - from) * 1000);
  return (
    <div class="rail" role="group" aria-label={`${markers.length} decisions and events on the time line`}>
      {markers.map((marker) => (
        <button key={marker.at} type="button" class={`marker ${marker.tone}`} style={{ left: place(marker.at) }}
          aria-label={`${time(marker.at)}: ${marker.texts.join("; ")}`}
          onPointerEnter={() => setOpen(marker.at)} onPointerLeave={() => setOpen(null)}
          onFocus={() => setOpen(marker.at)} onBlur={() => setOpen(null)} onClick={() => setOpen(marker.at)}>
          {marker.texts.length > 1 && <span aria-hidden="true">{marker.texts.length}</span>}
        </button>
      ))}
      {shown && (
        <div class={`bubble${(shown.at - from) / Math.max(1e-9, to - from) > 0.5 ? " to-left" : ""}`} style={{ left: place(shown.at) }}>
          <span class="quiet">{time(shown.at)}</span>
          {shown.texts.map((text, index) => <p key={index}>{text}</p>)}
        </div>
      )}
    </div>
  );
}
