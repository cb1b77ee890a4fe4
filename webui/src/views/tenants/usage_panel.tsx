// What a tenant, or all of them, used on each day of the week or month; the chart's numbers also as a table.
import { useMemo } from "preact/hooks";
import type { TenantTree, UsageWindow } from "../../api/types";
import { goTo } from "../../page/address";
import { useNow } from "../../page/now";
import type { TenantsView } from "../../page/queries";
import { tenantHref } from "../../page/router";
import { useSelect } from "../../state/store";
import { withBelow } from "../../state/tenant_rows";
import { dayOf, daysOf, type UsageDay, usageDays } from "../../state/usage_days";
import { count, money, quantity } from "../../text/format";
import { dayText, usageProblem } from "../../text/tenant_text";

const kWindows: [UsageWindow, string][] = [["week", "Week"], ["month", "Month"]];

interface Props {
  tree: TenantTree;
  name: string | null;
  view: TenantsView;
}

export function UsagePanel({ tree, name, view }: Props) {
  const page = useSelect((state) => state.tenants);
  const today = dayOf(useNow());
  const usage = page?.usage ?? null;
  const names = useMemo(() => (name === null ? null : withBelow(tree, name)), [tree, name]);
  const days = useMemo(() => (usage === null ? [] : usageDays(usage, names, today)), [usage, names, today]);
  const hours = days.reduce((sum, day) => sum + day.slotHours, 0);
  const cost = days.reduce((sum, day) => sum + day.cost, 0);
  return (
    <section class="card usage-panel" aria-labelledby="usage-title">
      <header class="card-head">
        <h2 id="usage-title">Usage by day{name === null ? "" : ` of ${name}`}</h2>
        <div class="segments" role="group" aria-label="Days shown">
          {kWindows.map(([window, word]) => (
            <button key={window} type="button" aria-pressed={page?.window === window} onClick={() => goTo(tenantHref(name, { ...view, usage: window }))}>{word}</button>
          ))}
        </div>
      </header>
      {page?.usageProblem && <p class="notice warn">{usageProblem(page.usageProblem)}.</p>}
      {usage === null && !page?.usageProblem && <div class="skeleton line" />}
      {usage !== null && (
        <>
          <p class="usage-sum" data-testid="usage-sum"><b>{quantity(hours)}</b> slot-hours, <b>{money(cost, usage.currency)}</b> <span class="quiet">this {page?.window}, days in UTC</span></p>
          <Bars days={days} window={daysOf(usage.from, usage.to)} />
          <details>
            <summary>As a table</summary>
            <Table days={days} currency={usage.currency} />
          </details>
        </>
      )}
    </section>
  );
}

// One column a day of the window, days to come included, so that its length shows how far it is.
function Bars({ days, window }: { days: readonly UsageDay[]; window: readonly string[] }) {
  const most = Math.max(...days.map((day) => day.slotHours), 0);
  const used = new Map(days.map((day) => [day.day, day.slotHours]));
  const label = most === 0 ? "no slots were used" : `slot-hours by day, at most ${quantity(most)}; the table below has each day`;
  const step = window.length > 7 ? 7 : 1;
  return (
    <div class="days" role="img" aria-label={label}>
      <span class="most">{most > 0 ? `${quantity(most)} slot-hours` : ""}</span>
      {window.map((day, index) => (
        <span key={day} class={used.has(day) ? "day" : "day to-come"} title={`${dayText(day)}: ${used.has(day) ? `${quantity(used.get(day))} slot-hours` : "to come"}`}>
          <i style={{ height: `${most > 0 ? (100 * (used.get(day) ?? 0)) / most : 0}%` }} />
          <b>{index % step === 0 ? Number(day.slice(8)) : ""}</b>
        </span>
      ))}
    </div>
  );
}

function Table({ days, currency }: { days: readonly UsageDay[]; currency: string }) {
  return (
    <table class="plain" data-testid="usage-days">
      <thead><tr><th scope="col">Day</th><th scope="col" class="number">Jobs</th><th scope="col" class="number">Slot-hours</th><th scope="col" class="number">Cost</th></tr></thead>
      <tbody>
        {[...days].reverse().map((day) => (
          <tr key={day.day}>
            <th scope="row">{dayText(day.day)}</th><td class="number">{count(day.jobs)}</td>
            <td class="number">{quantity(day.slotHours)}</td><td class="number">{money(day.cost, currency)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
