// Every change of membership and what it cost in time and repeated work.
import type { Job, TideEvent } from "../../api/types";
import { num, reason, str } from "../../state/event_data";
import type { Detail } from "../../state/model";
import { count, milliseconds } from "../../text/format";
import { hasEarlier, noSwitchesText } from "../../text/switch_text";
import { Moment } from "../../parts/when";

const kUnits: [number, string][] = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]];

export function bytes(value: number | null): string {
  if (value === null) return "–";
  const unit = kUnits.find(([size]) => value >= size);
  return unit ? `${(value / unit[0]).toFixed(1)} ${unit[1]}` : `${value} B`;
}

export function Generations({ job, detail }: { job: Job; detail: Detail }) {
  const switches = [...detail.switches].reverse();
  return (
    <section class="card" aria-labelledby="generations-title">
      <header class="card-head"><h2 id="generations-title">Generations</h2><span class="quiet">changes of membership, newest first</span></header>
      {switches.length === 0 ? <None job={job} loaded={detail.loaded} /> : (
        <div class="table-scroll">
          <table class="plain generation-table" data-testid="generations">
            <thead>
              <tr>
                <th scope="col">No.</th><th scope="col">Size</th><th scope="col">Reason</th>
                <th scope="col" class="number" title="Time in which no rank made a step">Stall</th>
                <th scope="col" class="number">Steps / samples redone</th><th scope="col" class="number moved">Moved</th><th scope="col" class="number">When</th>
              </tr>
            </thead>
            <tbody>{switches.map((event) => <Row key={event.seq} event={event} />)}</tbody>
          </table>
        </div>
      )}
      {hasEarlier(detail.switches) && (
        <p class="quiet small">Earlier ones are in <code>schedctl events</code>, as far as they are kept.</p>
      )}
    </section>
  );
}

function None({ job, loaded }: { job: Job; loaded: boolean }) {
  if (!loaded) return <div class="skeleton line" />;
  return <p class="empty-line">{noSwitchesText(job)}</p>;
}

function Row({ event }: { event: TideEvent }) {
  return (
    <tr>
      <th scope="row" data-title="No.">{count(num(event, "generation"))}</th>
      <td class="nowrap" data-title="Size">{count(num(event, "from_size"))} → {count(num(event, "to_size"))}</td>
      <td class="reason">{reason(event)?.text ?? str(event, "reason") ?? "–"}</td>
      <td class="number nowrap" data-title="Stall">{milliseconds(num(event, "stall_ms"))}</td>
      <td class="number nowrap" data-title="Redone" title="steps / samples redone">{count(num(event, "steps_redone"))}<span class="quiet"> / {count(num(event, "samples_repeated"))}</span></td>
      <td class="number nowrap moved">{bytes(num(event, "bytes_moved"))}</td>
      <td class="number nowrap" data-title="When"><Moment at={event.at} /></td>
    </tr>
  );
}
