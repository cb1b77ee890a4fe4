import type { Client } from "../../api/client";
import type { Job } from "../../api/types";
import { jobColour } from "../../page/palette";
import { StateChip } from "../../parts/state_chip";
import { When } from "../../parts/when";
import { planLikeHref, tenantHref } from "../../page/router";
import { secondsLeft } from "../../state/cost";
import { isOver, mayChange } from "../../state/model";
import { useSelect } from "../../state/store";
import { duration, money, quantity, sizeText } from "../../text/format";
import { failedCheckpointText, failureText, lossText, paceText, progressText, shareDone, stepText, throughputText } from "../../text/progress_text";
import { useDark } from "../../page/theme";
import { JobActions } from "./job_actions";

export function JobHeader({ job, client }: { job: Job; client: Client }) {
  const dark = useDark();
  const failure = failureText(job);
  const may = useSelect(mayChange);
  return (
    <header class="job-head">
      <div class="job-title">
        <h1><i class="swatch" style={{ background: jobColour(job.id, dark) }} aria-hidden="true" />{job.name}</h1>
        <StateChip state={job.state} />
        {job.pinned_size !== null && <span class="tag">pinned to {job.pinned_size}</span>}
      </div>
      <p class="quiet job-sub">
        {job.id} · tenant <a href={tenantHref(job.tenant)}>{job.tenant}</a> · submitted <When at={job.submitted_at} />
        {job.finished_at !== null && <> · ended <When at={job.finished_at} /></>}
        {may && <> · <a href={planLikeHref(job.id)}>plan one like this</a></>}
        {Object.entries(job.labels).map(([key, value]) => <span class="tag" key={key}>{key}: {value}</span>)}
      </p>
      <JobActions job={job} client={client} />
      {failure !== null && <p class="notice bad" role="alert">{failure}</p>}
      {job.state === "failed" && <p class="quiet small logs">Its output, if there is any: <code>schedctl logs {job.id}</code></p>}
      {job.checkpoint_failure != null && <p class="notice warn" role="status" data-testid="checkpoint-failure">{failedCheckpointText(job)}</p>}
    </header>
  );
}

export function JobFigures({ job }: { job: Job }) {
  const { progress } = job;
  const left = job.forecast?.end ? null : secondsLeft(job); // beside a forecast another time would contradict it
  return (
    <dl class="card figures">
      <Figure name="Size" value={sizeText(job).replace(/ \(.*/, "")} note={`${job.min === job.max ? "fixed size" : `${job.min}–${job.max} allowed`}, generation ${job.generation}`} testid="size" />
      <Figure name="Throughput" value={throughputText(job)} note={paceText(job)} />
      <Figure name="Progress" value={progressText(progress)} note={`${stepText(job)}${left === null ? "" : `, ${duration(left)} left`}`}
        testid="progress" bar={shareDone(progress)} />
      <Figure name="Loss" value={quantity(progress.loss)} note={lossText(progress)} />
      <Figure name="Cost" value={money(job.cost.amount, job.cost.currency)} note={isOver(job.state) ? "in all" : `${money(job.cost.per_hour, job.cost.currency)} per hour`} />
    </dl>
  );
}

function Figure({ name, value, note, testid, bar }: { name: string; value: string; note: string; testid?: string; bar?: number | null }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span class="value" data-testid={testid}>{value}</span>
        {bar !== undefined && bar !== null && <span class="bar" aria-hidden="true"><i style={{ width: `${bar * 100}%` }} /></span>}
        <span class="quiet">{note}</span>
      </dd>
    </div>
  );
}
