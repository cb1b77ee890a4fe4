// The jobs: sortable, filtered as one types, a row is a link to the job. A batch of events costs a pass over all jobs and
// draws the rows of those that it changed, of which a page has `kPageRows`.
import { useMemo } from "preact/hooks";
import type { Job } from "../../api/types";
import { goTo, useTyped } from "../../page/address";
import { kMostText, kPageRows, type JobsView } from "../../page/queries";
import { kPlanHref, overviewHref } from "../../page/router";
import { type Column, countScopes, descendsFirst, firstOf, inScope, matches, type Order, type Scope, wordsOf } from "../../state/job_order";
import { mayChange } from "../../state/model";
import { useSelect } from "../../state/store";
import { noneFoundText } from "../../text/empty_text";
import { count } from "../../text/format";
import { isPartial, jobsLeftText } from "../../text/jobs_left_text";
import { JobRow } from "./job_row";

const kScopes: [Scope, string][] = [["active", "Active"], ["waiting", "Waiting"], ["ended", "Ended"], ["all", "All"]];
const kColumns: { column: Column; title: string; class?: string }[] = [
  { column: "name", title: "Job" }, { column: "state", title: "State" }, { column: "size", title: "Size" },
  { column: "throughput", title: "Samples/s", class: "number" }, { column: "progress", title: "Progress" },
  { column: "cost", title: "Cost", class: "number" }, { column: "submitted", title: "Submitted", class: "number" },
];

interface Lit {
  lit: string | null;
  onLight(job: string | null): void;
}

export function JobTable({ view, lit, onLight }: Lit & { view: JobsView }) {
  const jobMap = useSelect((state) => state.jobs);
  const left = useSelect((state) => state.jobsLeft);
  const may = useSelect(mayChange);
  const { scope, order, rows } = view;
  const { text, type, settle } = useTyped(view.text, (typed) => goTo(overviewHref({ ...view, text: typed }), "replace"));
  const jobs = useMemo(() => [...jobMap.values()], [jobMap]);
  const counts = useMemo(() => countScopes(jobs), [jobs]);
  // Until someone chooses, a pool whose jobs have all ended shows those instead of an empty table.
  const shown = scope ?? (counts.active > 0 ? "active" : "all");
  const found = useMemo(() => {
    const words = wordsOf(text);
    return jobs.filter((job) => inScope(job, shown) && matches(job, words));
  }, [jobs, shown, text]);
  const list = useMemo(() => firstOf(found, order, rows), [found, order, rows]);
  const choose = (chosen: Partial<JobsView>, entry: "push" | "replace" = "push") => {
    settle();
    goTo(overviewHref({ ...view, text, ...chosen }), entry);
  };
  const sortBy = (column: Column) =>
    choose({ order: { column, descending: order.column === column ? !order.descending : descendsFirst(column) } });
  return (
    <section class="card jobs" aria-labelledby="jobs-title">
      <header class="card-head">
        <h2 id="jobs-title">Jobs</h2>
        <div class="segments" role="group" aria-label="Which jobs">
          {kScopes.map(([key, word]) => (
            <button key={key} type="button" aria-pressed={shown === key} onClick={() => choose({ scope: key })}>
              {word} <span class="count">{count(counts[key])}{isPartial(left, key) && "+"}</span>
            </button>
          ))}
        </div>
        <input type="search" class="filter" placeholder="Filter by name, tenant, reason …" aria-label="Filter jobs" value={text}
          maxLength={kMostText} onInput={(event) => type(event.currentTarget.value)} onChange={settle} />
        {may && <a class="button" href={kPlanHref}>Plan a job</a>}
        <OrderChoice order={order} onOrder={(chosen) => choose({ order: chosen })} />
      </header>
      {list.length === 0
        ? <Nothing found={jobs.length > 0 ? noneFoundText(shown, wordsOf(text).length > 0) : null} reading={isPartial(left, shown)} may={may} />
        : <Table {...{ list, order, sortBy, lit, onLight }} />}
      {found.length > rows && (
        <button class="button more" type="button" onClick={() => choose({ rows: rows + kPageRows }, "replace")}>
          Show {Math.min(kPageRows, found.length - rows)} more of {count(found.length)}
        </button>
      )}
      {left !== null && isPartial(left, shown) && <p class="quiet small jobs-left" data-testid="jobs-left">{jobsLeftText(left)}</p>}
    </section>
  );
}

// Where the table has no head of columns to press.
function OrderChoice({ order: { column, descending }, onOrder }: { order: Order; onOrder(order: Order): void }) {
  return (
    <div class="order-choice">
      <label for="order">Order</label>
      <select id="order" value={column} onChange={({ currentTarget: { value } }) => onOrder({ column: value as Column, descending: descendsFirst(value as Column) })}>
        {kColumns.map(({ column: each, title }) => <option key={each} value={each}>{title}</option>)}
      </select>
      <button class="button" type="button" onClick={() => onOrder({ column, descending: !descending })}
        aria-label={descending ? "descending, change to ascending" : "ascending, change to descending"}>{descending ? "↓" : "↑"}</button>
    </div>
  );
}

function Table({ list, order, sortBy, lit, onLight }: Lit & { list: Job[]; order: Order; sortBy(column: Column): void }) {
  return (
    <div class="table-scroll">
      <table class="job-table">
        <thead>
          <tr>
            {kColumns.map(({ column, title, class: kind }) => (
              <th key={column} scope="col" class={kind} aria-sort={order.column !== column ? "none" : order.descending ? "descending" : "ascending"}>
                <button type="button" onClick={() => sortBy(column)}>
                  {title}<span class="arrow" aria-hidden="true">{order.column !== column ? "" : order.descending ? "↓" : "↑"}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        {list.map((job) => <JobRow key={job.id} job={job} dimmed={lit !== null && lit !== job.id} onLight={onLight} />)}
      </table>
    </div>
  );
}

// `found`: what is said of those there are; null: there are none.
function Nothing({ found, reading, may }: { found: string | null; reading: boolean; may: boolean }) {
  if (reading) return <p class="empty-line">None of the jobs read so far matches.</p>;
  if (found !== null) return <p class="empty-line">{found}</p>;
  if (!may) return <p class="empty-line">No jobs yet. The first one appears here by itself.</p>;
  return <p class="empty-line">No jobs yet. <code>schedctl submit examples/charlm.yaml</code> starts the first one; it appears here by itself. Or <a href={kPlanHref}>plan one</a> first.</p>;
}
