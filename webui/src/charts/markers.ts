// Decisions and mishaps of a job as marks on its time line. Pure.
import type { TideEvent } from "../api/types";
import { describe, toneOf } from "../text/event_text";

export interface Marker {
  at: number; // seconds since 1970, as uPlot counts
  tone: ReturnType<typeof toneOf>;
  texts: string[]; // more than one where marks would lie on each other
}

// A resize is marked where it was decided; that it then took place shows in the size itself.
const kMarked = new Set([
  "job.started", "job.resizing", "job.resize_requested", "job.suspended", "job.requeued", "job.resumed", "job.finished",
  "worker.lost", "worker.killed", "worker.straggling", "worker.replaced", "job.rebalanced",
]);
const kWeight = { bad: 4, warn: 3, change: 2, good: 1, plain: 0 };

// Marks closer than `closest` seconds become one, which speaks with the tone of its gravest part. `earlier`: all are
// marked, for they stand for events that were not read.
export function markersOf(events: readonly TideEvent[], closest: number, earlier: readonly TideEvent[] = []): Marker[] {
  const markers: Marker[] = [];
  for (const event of [...earlier, ...events.filter(({ type }) => kMarked.has(type))]) {
    const at = Date.parse(event.at) / 1000;
    const tone = toneOf(event);
    const last = markers[markers.length - 1];
    if (last && at - last.at < closest) {
      last.texts.push(describe(event));
      if (kWeight[tone] > kWeight[last.tone]) last.tone = tone;
    } else {
      markers.push({ at, tone, texts: [describe(event)] });
    }
  }
  return markers;
}
