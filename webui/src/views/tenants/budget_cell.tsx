// What is spent of a tenant's budget, its thresholds as ticks, what is in force and what comes at the present rate.
import type { Budget, BudgetNow, Tenant, TenantTree } from "../../api/types";
import { budgetInForce, budgetMeter, type BudgetMeter, currencyOf } from "../../state/tenant_rows";
import { count } from "../../text/format";
import { budgetText, inForceText, outlookText, spentText, thresholdText } from "../../text/tenant_text";

export function BudgetCell({ tree, tenant }: { tree: TenantTree; tenant: Tenant }) {
  const meter = budgetMeter(tenant);
  const inForce = budgetInForce(tree, tenant);
  return (
    <span class="budget">
      {meter && tenant.budget && tenant.now?.budget
        ? <Spent meter={meter} budget={tenant.budget} now={tenant.now.budget} currency={tenant.now.currency} />
        : inForce === null && <span class="quiet small">{tenant.budget === null ? "no budget" : budgetText(tenant.budget, currencyOf(tree))}</span>}
      {inForce !== null && <span class={`tag ${inForce.action === "shrink" ? "warn" : "bad"}`} data-testid="in-force">{inForceText(inForce, tenant.name)}</span>}
    </span>
  );
}

function Spent({ meter, budget, now, currency }: { meter: BudgetMeter; budget: Budget; now: BudgetNow; currency: string }) {
  const spent = spentText(budget, now, currency);
  const level = meter.ticks.some((tick) => tick.reached && tick.action !== "warn") ? "over" : meter.ticks.some((tick) => tick.reached) ? "near" : "";
  return (
    <>
      <span class="budget-bar" role="img" aria-label={`${spent}, ${count(Math.floor(meter.percent))} %; ${meter.ticks.map(thresholdText).join("; ")}`} title={meter.ticks.map(thresholdText).join("; ")}>
        <i class={`spent ${level}`} style={{ width: `${Math.min(100, (100 * meter.percent) / meter.scale)}%` }} />
        {meter.ticks.map((tick) => <i key={tick.percent} class="tick" style={{ left: `${(100 * tick.percent) / meter.scale}%` }} />)}
      </span>
      <span class="small">{spent}</span>
      <span class="quiet small">{outlookText(budget, now, currency)}</span>
    </>
  );
}
