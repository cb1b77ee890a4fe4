// When something is expected to start and end, drawn from now to the latest time: the band holds eight of ten cases,
// the mark is the expected time. Decoration: text beside it says the same.
import type { ExpectedTime } from "../api/types";
import { momentWithin } from "../text/forecast_text";

export function Lanes({ start, end, now }: { start: ExpectedTime | null; end: ExpectedTime | null; now: number }) {
  const last = Math.max(...[start, end].map((time) => (time ? Date.parse(time.late) : 0)));
  if (last <= now) return null;
  const place = (at: string) => `${Math.min(100, Math.max(0, (100 * (Date.parse(at) - now)) / (last - now)))}%`;
  const lane = (name: string, time: ExpectedTime | null) => time && (
    <>
      <span>{name}</span>
      <span class="lane">
        <i class="band" style={{ left: place(time.early), right: `calc(100% - ${place(time.late)})` }} />
        <i class="mark" style={{ left: place(time.expected) }} />
      </span>
    </>
  );
  return (
    <div class="lanes" aria-hidden="true">
      {lane("start", start)}
      {lane("end", end)}
      <span /><span class="lane-ends"><span>now</span><span>{momentWithin(last, now, last)}</span></span>
    </div>
  );
}
