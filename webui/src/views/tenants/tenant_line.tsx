// One tenant: its place in the tree, its slots, its jobs, its budget.
import type { Tenant, TenantTree } from "../../api/types";
import { sharesOf, type TenantRow } from "../../state/tenant_rows";
import { count } from "../../text/format";
import { sharesText, slots } from "../../text/tenant_text";
import { BudgetCell } from "./budget_cell";
import { SlotBar } from "./slot_bar";

const kDeepest = 5; // what lies deeper is not indented further

interface Props {
  tree: TenantTree;
  row: TenantRow;
  href: string;
  scale: number;
  chosen: boolean;
  closed: boolean;
  onToggle(name: string): void;
}

export function TenantLine({ tree, row: { tenant, depth, children, owed }, href, scale, chosen, closed, onToggle }: Props) {
  const shares = sharesOf(tenant);
  return (
    <tr class={chosen ? "chosen" : undefined} data-tenant={tenant.name}>
      <th scope="row" style={{ "--depth": Math.min(depth, kDeepest) }}>
        <span class="tenant-name">
          {children > 0
            ? <button class="fold" type="button" aria-expanded={!closed} aria-label={`tenants below ${tenant.name}`} onClick={() => onToggle(tenant.name)}><i aria-hidden="true" /></button>
            : <span class="fold" aria-hidden="true" />}
          <a href={href} aria-current={chosen ? "true" : undefined}>{tenant.name}</a>
          {tenant.parent !== null && <span class="visually-hidden"> in {tenant.parent}</span>}
        </span>
        <span class="quiet weight">{tenant.weight === 0 ? "only what is left over" : `weight ${count(tenant.weight)}`}{closed && `, ${children} below`}</span>
      </th>
      <td data-title="Slots">
        {shares === null
          ? <span class="quiet small">{count(tenant.guarantee)} guaranteed; what it has is not shown to this token</span>
          : <><SlotBar shares={shares} owed={owed} scale={scale} /><span class="quiet small">{sharesText(shares)}</span></>}
      </td>
      <td data-title="Jobs"><Jobs tenant={tenant} owed={owed} /></td>
      <td data-title="Budget"><BudgetCell tree={tree} tenant={tenant} /></td>
    </tr>
  );
}

function Jobs({ tenant, owed }: { tenant: Tenant; owed: number }) {
  if (tenant.now === null) return <span class="quiet">–</span>;
  const { jobs_running, jobs_waiting } = tenant.now;
  return (
    <span class="tenant-jobs">
      <span>{count(jobs_running)} running</span>
      <span class={jobs_waiting > 0 ? undefined : "quiet"}>{count(jobs_waiting)} waiting</span>
      {owed > 0 && <span class="tag warn" title="It wants them, may have them and does not hold them yet">{slots(owed)} owed</span>}
    </span>
  );
}
