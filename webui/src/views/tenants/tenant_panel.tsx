// The chosen tenant: what is set of it, and its jobs.
import { Fragment } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Job, Tenant, TenantTree } from "../../api/types";
import { goTo } from "../../page/address";
import { useNow } from "../../page/now";
import { jobColour } from "../../page/palette";
import { kTenantsAtFirst, type TenantsView } from "../../page/queries";
import { StateChip } from "../../parts/state_chip";
import { jobHref, tenantHref } from "../../page/router";
import { firstOf } from "../../state/job_order";
import { isOver } from "../../state/model";
import { useSelect } from "../../state/store";
import { currencyOf, withBelow } from "../../state/tenant_rows";
import { forecastLine } from "../../text/forecast_text";
import { count, money, quantity, sizeText } from "../../text/format";
import { jobsLeftText } from "../../text/jobs_left_text";
import { budgetText, defaultPairs, limitPairs, scarceText, thresholdText } from "../../text/tenant_text";
import { useDark } from "../../page/theme";

const kPageRows = 40;
const kOneColumn = matchMedia("(max-width: 1080px)");

export function TenantPanel({ tree, name, view }: { tree: TenantTree; name: string; view: TenantsView }) {
  const heading = useRef<HTMLHeadingElement>(null);
  // Where the panel lies below the tree, choosing a tenant brings it into view; beside the tree nothing moves.
  useEffect(() => { if (kOneColumn.matches) heading.current?.focus(); }, []);
  const tenant = tree.tenants.find((other) => other.name === name);
  return (
    <section class="card tenant-panel" aria-labelledby="tenant-title">
      <header class="card-head">
        <h2 id="tenant-title" ref={heading} tabIndex={-1}>{name}</h2>
        {tenant && tenant.parent !== null && <span class="quiet">in {tenant.path.slice(0, -1).join(" / ")}</span>}
        <a class="close" href={tenantHref(null, { ...view, jobs: kTenantsAtFirst.jobs })}>All tenants</a>
      </header>
      {tenant ? <Body tree={tree} tenant={tenant} view={view} /> : <p class="empty-line">There is no tenant {name} in the tree, or this token may not see it.</p>}
    </section>
  );
}

interface Of {
  tree: TenantTree;
  tenant: Tenant;
  view: TenantsView;
}

function Body({ tree, tenant, view }: Of) {
  const currency = currencyOf(tree);
  const defaults = defaultPairs(tenant.defaults);
  const scarce = tenant.now === null ? null : scarceText(tenant.now);
  return (
    <>
      <dl class="pairs">
        {limitPairs(tenant, currency).map(([what, value]) => <Fragment key={what}><dt>{what}</dt><dd>{value}</dd></Fragment>)}
        {tenant.now !== null && <><dt>Used since it was set up</dt><dd>{quantity(tenant.now.slot_hours)} slot-hours, {money(tenant.now.cost, currency)}</dd></>}
      </dl>
      {scarce !== null && <p class="quiet small" data-testid="scarce-types">{scarce}</p>}
      {(tenant.now?.loan ?? 0) >= 0.05 && (
        <p class="quiet small loan">Of late it held {quantity(tenant.now?.loan)} slots beyond its guarantee while others waited, which counts against it.</p>
      )}
      {tenant.budget !== null && (
        <div class="why-part">
          <h3>Budget of {budgetText(tenant.budget, currency)}</h3>
          <ul class="lines">{tenant.budget.thresholds.map((each) => <li key={each.percent}>{thresholdText(each)}</li>)}</ul>
        </div>
      )}
      {defaults.length > 0 && (
        <div class="why-part">
          <h3>Defaults of job files</h3>
          <dl class="pairs" data-testid="tenant-defaults">
            {defaults.map(([field, value]) => <Fragment key={field}><dt><code>{field}</code></dt><dd>{value}</dd></Fragment>)}
          </dl>
        </div>
      )}
      <Jobs tree={tree} tenant={tenant} view={view} />
    </>
  );
}

function Jobs({ tree, tenant, view }: Of) {
  const all = useSelect((state) => state.jobs);
  const left = useSelect((state) => state.jobsLeft);
  const rows = view.jobs;
  const names = useMemo(() => withBelow(tree, tenant.name), [tree, tenant.name]);
  const jobs = useMemo(() => [...all.values()].filter((job) => names.has(job.tenant) && !isOver(job.state)), [all, names]);
  const first = useMemo(() => firstOf(jobs, { column: "state", descending: false }, rows), [jobs, rows]);
  return (
    <div class="why-part">
      <h3>Jobs that run or wait</h3>
      {jobs.length === 0 && left?.part !== "live" && (
        <p class="quiet small">None. {names.size > 1 ? "Jobs name one of the tenants below it." : <>Its jobs name it as <code>tenant: {tenant.name}</code>.</>}</p>
      )}
      <ul class="tenant-job-list" data-testid="tenant-jobs">{first.map((job) => <JobItem key={job.id} job={job} />)}</ul>
      {jobs.length > rows && (
        <button class="text-button" type="button" onClick={() => goTo(tenantHref(tenant.name, { ...view, jobs: rows + kPageRows }), "replace")}>
          Show {Math.min(kPageRows, jobs.length - rows)} more of {count(jobs.length)}
        </button>
      )}
      {left?.part === "live" && <p class="quiet small">{jobsLeftText(left)}</p>}
    </div>
  );
}

function JobItem({ job }: { job: Job }) {
  const dark = useDark();
  const now = useNow();
  const when = forecastLine(job, now);
  return (
    <li>
      <i class="swatch" style={{ background: jobColour(job.id, dark) }} aria-hidden="true" />
      <a href={jobHref(job.id)}>{job.name}</a>
      <StateChip state={job.state} />
      <span class="quiet small">{sizeText(job)}{when !== null && ` · ${when}`}</span>
    </li>
  );
}
