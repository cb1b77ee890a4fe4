// The tree as a table, one row a tenant. All bars have one scale, the slots of the pool, so they can be compared.
import { useMemo } from "preact/hooks";
import type { TenantTree } from "../../api/types";
import { goTo } from "../../page/address";
import { kTenantsAtFirst, type TenantsView } from "../../page/queries";
import { sumPool } from "../../state/pool";
import { tenantHref } from "../../page/router";
import { useSelect } from "../../state/store";
import { rowsOf, scaleOf } from "../../state/tenant_rows";
import { count } from "../../text/format";
import { slots } from "../../text/tenant_text";
import { SlotLegend } from "./slot_bar";
import { TenantLine } from "./tenant_line";

const kPageRows = 100;

export function TenantTable({ tree, chosen, view }: { tree: TenantTree; chosen: string | null; view: TenantsView }) {
  const nodes = useSelect((state) => state.nodes);
  const pool = useMemo(() => sumPool(nodes.values()).total, [nodes]);
  const { rows: shown, folded } = view;
  const rows = useMemo(() => rowsOf(tree, folded), [tree, folded]);
  const scale = scaleOf(tree, pool);
  const change = (changed: Partial<TenantsView>) => goTo(tenantHref(chosen, { ...view, ...changed }), "replace");
  const toggle = (name: string) => {
    const next = new Set(folded);
    if (!next.delete(name)) next.add(name);
    change({ folded: next });
  };
  return (
    <section class="card" aria-labelledby="tenants-title">
      <header class="card-head"><h2 id="tenants-title">Tenants</h2><span class="quiet">bars: 0 to {slots(scale)}, the same for all</span></header>
      <SlotLegend />
      <div class="table-scroll">
        <table class="tenant-table" data-testid="tenants">
          <thead><tr><th scope="col">Tenant</th><th scope="col">Slots</th><th scope="col">Jobs</th><th scope="col">Budget</th></tr></thead>
          <tbody>
            {rows.slice(0, shown).map((row) => (
              <TenantLine key={row.tenant.name} tree={tree} row={row} href={tenantHref(row.tenant.name, { ...view, jobs: kTenantsAtFirst.jobs })} scale={scale} chosen={row.tenant.name === chosen}
                closed={folded.has(row.tenant.name)} onToggle={toggle} />
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > shown && (
        <button class="button more" type="button" onClick={() => change({ rows: shown + kPageRows })}>
          Show {Math.min(kPageRows, rows.length - shown)} more of {count(rows.length)}
        </button>
      )}
    </section>
  );
}
