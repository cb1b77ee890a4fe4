import { useState } from "preact/hooks";
import type { TideEvent } from "../../api/types";
import { Moment } from "../../parts/when";
import { briefly, describe, toneOf } from "../../text/event_text";
import { withoutFailure } from "../../text/progress_text";

const kShown = 14;
const kOfAnEnd = new Set(["job.finished", "worker.lost"]);

interface Props {
  events: readonly TideEvent[];
  loaded: boolean;
  older: boolean; // there may be some from before those
  failure: string | null; // what the page says of it already
}

export function EventList({ events, loaded, older, failure }: Props) {
  const [all, setAll] = useState(false);
  const newest = [...events].reverse();
  const shown = all ? newest : briefly(newest, kShown);
  return (
    <section class="card" aria-labelledby="events-title">
      <header class="card-head"><h2 id="events-title">Events</h2><span class="quiet">newest first</span></header>
      {newest.length === 0 && !loaded && <div class="skeleton line" />}
      {newest.length === 0 && loaded && (
        <p class="empty-line">{older ? "Only steps were reported of late." : "Nothing has happened yet."}</p>
      )}
      <ol class="event-list">
        {shown.map((event) => (
          <li key={event.seq} class={toneOf(event)} title={`${event.type}, no. ${event.seq}`}>
            <Moment at={event.at} />
            <span>
              {kOfAnEnd.has(event.type) ? withoutFailure(describe(event), failure) : describe(event)}
              {event.actor && <span class="quiet"> (by {event.actor.name ?? event.actor.token})</span>}
            </span>
          </li>
        ))}
      </ol>
      {older && <p class="quiet small">Of older events only changes of membership are listed; <code>schedctl events</code> has all that are kept.</p>}
      {(all || shown.length < newest.length) && (
        <button class="text-button" type="button" onClick={() => setAll(!all)}>{all ? "Show fewer" : `Show all ${newest.length}`}</button>
      )}
    </section>
  );
}
