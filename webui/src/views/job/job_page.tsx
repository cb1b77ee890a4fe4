// One job: what it does, how it got there, why it has the size it has.
import { useEffect } from "preact/hooks";
import type { Client } from "../../api/client";
import type { Job } from "../../api/types";
import { Unread } from "../../parts/unread";
import type { Detail } from "../../state/model";
import { earlierSwitches } from "../../state/reduce_detail";
import type { Session } from "../../state/session";
import { useSelect } from "../../state/store";
import { sentence } from "../../text/format";
import { failureText, isSilent } from "../../text/progress_text";
import { CostPanel } from "./cost_panel";
import { EventList } from "./event_list";
import { ForecastPanel } from "./forecast_panel";
import { Generations } from "./generations";
import { HistoryCharts } from "./history_charts";
import { JobFigures, JobHeader } from "./job_header";
import { RankTimes } from "./rank_times";
import { SizeCurve } from "./size_curve";
import { WhyPanel } from "./why_panel";

interface Props {
  id: string;
  spanS: number; // that the charts show; 0: all
  client: Client;
  session: Session;
}

export function JobPage({ id, spanS, client, session }: Props) {
  const job = useSelect((state) => state.jobs.get(id));
  const detail = useSelect((state) => (state.detail?.job === id ? state.detail : null));
  const down = useSelect((state) => state.link.kind === "down");
  useEffect(() => {
    session.open(id);
    return () => session.open(null);
  }, [id, session]);

  if (!job && down) return <Unread what={id} />;
  if (detail?.missing && !job) {
    return (
      <section class="empty" role="alert">
        {detail.missing.status === 404
          ? <><h1>There is no job {id}</h1><p>Or your token may not see it. <a href="#/?show=all">Go to the list of jobs</a>.</p></>
          : <><h1>Cannot show {id}</h1><p>{sentence(detail.missing.message)} <a href="#/">Go to the overview</a>.</p></>}
      </section>
    );
  }
  if (!job || !detail) return <div class="job-page" aria-busy="true"><p class="visually-hidden" role="status">Loading {id}</p><div class="skeleton strip" /><div class="skeleton tall" /></div>;
  return (
    <div class="job-page">
      <JobHeader job={job} client={client} />
      <JobFigures job={job} />
      <Rest {...{ job, detail, spanS, down }} onRetry={() => session.open(id)} />
    </div>
  );
}

function Rest({ job, detail, spanS, down, onRetry }: { job: Job; detail: Detail; spanS: number; down: boolean; onRetry(): void }) {
  if (detail.loaded || (detail.missing === null && !down)) return <Columns job={job} detail={detail} spanS={spanS} />;
  if (down) return <Unread what="Its history and its reasons" />;
  return (
    <section class="empty" role="alert">
      <h2>Its history and its reasons could not be read</h2>
      <p>{sentence(detail.missing?.message ?? "")}</p>
      <p><button class="button" type="button" onClick={onRetry}>Retry</button></p>
    </section>
  );
}

function Columns({ job, detail, spanS }: { job: Job; detail: Detail; spanS: number }) {
  const sizes = detail.sizes.length >= job.sizes.length ? detail.sizes : job.sizes;
  const failure = failureText(job);
  const begun = job.started_at !== null || job.generation > 0 || sizes.length > 0;
  return (
    <div class="columns">
      <div class="column">
        <HistoryCharts job={job} detail={detail} spanS={spanS} />
        {begun && !isSilent(job) && (
          <div class="pair">
            <SizeCurve job={job} sizes={sizes} fit={detail.fit} />
            <RankTimes workers={detail.workers} points={detail.points} loaded={detail.loaded} />
          </div>
        )}
        {begun && <Generations job={job} detail={detail} />}
      </div>
      <aside class="column side">
        <WhyPanel explanation={detail.explanation} failure={failure} />
        <ForecastPanel job={job} />
        <CostPanel job={job} sizes={sizes} fit={detail.fit} />
        <EventList events={[...earlierSwitches(detail), ...detail.events]} loaded={detail.loaded} older={detail.eventsAfter > 0} failure={failure} />
      </aside>
    </div>
  );
}
