// One job in two lines: the numbers, and under them why it is as it is, in words.
import { memo } from "../../parts/memo";
import type { Job } from "../../api/types";
import { jobColour } from "../../page/palette";
import { Sparkline } from "../../parts/sparkline";
import { StateChip } from "../../parts/state_chip";
import { When } from "../../parts/when";
import { useNow } from "../../page/now";
import { jobHref } from "../../page/router";
import { useSelect } from "../../state/store";
import { money, quantity, sizeText, unbroken } from "../../text/format";
import { forecastLine, forecastTitle } from "../../text/forecast_text";
import { failureText, progressText, shareDone, stepText, throughputText } from "../../text/progress_text";
import { useDark } from "../../page/theme";

interface Props {
  job: Job;
  dimmed: boolean;
  onLight(job: string | null): void;
}

function Row({ job, dimmed, onLight }: Props) {
  const dark = useDark();
  const colour = jobColour(job.id, dark);
  return (
    <tbody class={dimmed ? "dimmed" : undefined} data-job={job.id}
      onPointerEnter={() => onLight(job.id)} onPointerLeave={() => onLight(null)} onClick={(event) => open(event, jobHref(job.id))}>
      <tr>
        <td class="name" data-title="Job">
          <i class="swatch" style={{ background: colour }} aria-hidden="true" />
          <span class="name-line">
            <a href={jobHref(job.id)} title={job.name}>{job.name}</a>
            <span class="quiet sub">{job.id}</span>
            <span class="quiet sub of" title={`tenant ${job.tenant}`}>· {job.tenant}</span>
          </span>
        </td>
        <td data-title="State"><StateChip state={job.state} /></td>
        <td data-title="Size"><span class="size">{sizeText(job)}</span><SizeLine job={job} colour={colour} /></td>
        <td class="number" data-title="Samples/s">{throughputText(job)}</td>
        <td data-title="Progress"><ProgressCell job={job} /></td>
        <td class="number" data-title="Cost">{money(job.cost.amount, job.cost.currency)}</td>
        <td class="number" data-title="Submitted"><When at={job.submitted_at} /></td>
      </tr>
      <SecondLine job={job} />
    </tbody>
  );
}

// A click into the row is one on its link, but not the end of marking text, nor the browser's own kinds of click.
function open(event: MouseEvent, href: string): void {
  const onLink = event.target instanceof Element && event.target.closest("a") !== null;
  if (onLink || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || getSelection()?.isCollapsed === false) return;
  location.hash = href;
}

// Why it is as it is, and beside it when it starts or ends.
function SecondLine({ job }: { job: Job }) {
  const now = useNow();
  const failure = failureText(job);
  const text = failure ?? job.reason?.text;
  const forecast = forecastLine(job, now);
  if (!text && forecast === null) return null;
  return (
    <tr class="why">
      <td colSpan={forecast === null ? 7 : 4} class={failure === null ? undefined : "bad"}>{text && unbroken(text)}</td>
      {forecast !== null && <td colSpan={3} class="forecast" title={forecastTitle(job) ?? undefined}>{forecast}</td>}
    </tr>
  );
}

function SizeLine({ job, colour }: { job: Job; colour: string }) {
  const points = useSelect((state) => state.sizeHistory.get(job.id));
  const now = useNow();
  const end = job.finished_at === null ? now : Date.parse(job.finished_at);
  // A job older than the events that are kept has at least the size it has now.
  const known = points ?? (job.size > 0 && job.started_at !== null ? [{ at: Date.parse(job.started_at), size: job.size }] : []);
  return <Sparkline points={known} end={end} max={job.max} colour={colour} />;
}

function ProgressCell({ job }: { job: Job }) {
  const { loss } = job.progress;
  const done = shareDone(job.progress);
  return (
    <span class="progress-cell" title={stepText(job)}>
      {done !== null && (
        <span class="bar" role="progressbar" aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(done * 100)}
          aria-label={`progress of ${job.name}`}>
          <i style={{ width: `${done * 100}%` }} />
        </span>
      )}
      <span class="progress-text">{progressText(job.progress)}{loss !== null && <span class="quiet"> loss {quantity(loss)}</span>}</span>
    </span>
  );
}

export const JobRow = memo(Row);
