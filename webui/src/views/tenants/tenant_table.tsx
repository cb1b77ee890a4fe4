// The tree as a table, one row a tenant. All bars have one scale, the slots of the pool, so they can be compared.
import { useMemo, useState } from "preact/hooks";
import type { TenantTree, UsageWindow } from "../../api/types";
import { sumPool } from "../../state/pool";
import { tenantHref } from "../../page/router";
import { useSelect } from "../../state/store";
import { rowsOf, scaleOf } from "../../state/tenant_rows";
import { count } from "../../text/format";
import { slots } from "../../text/tenant_text";
import { SlotLegend } from "./slot_bar";
import { TenantLine } from "./tenant_line";

const kPageRows = 100;

export function TenantTable({ tree, chosen, usage }: { tree: TenantTree; chosen: string | null; usage: UsageWindow }) {
  const nodes = useSelect((state) => state.nodes);
  const pool = useMemo(() => sumPool(nodes.values()).total, [nodes]);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [shown, setShown] = useState(kPageRows);
  const rows = useMemo(() => rowsOf(tree, closed), [tree, closed]);
  const scale = scaleOf(tree, pool);
  const toggle = (name: string) => setClosed((now) => {
    const next = new Set(now);
    if (!next.delete(name)) next.add(name);
    return next;
  });
  return (
    <section class="card" aria-labelledby="tenants-title">
      <header class="card-head"><h2 id="tenants-title">Tenants</h2><span class="quiet">bars: 0 to {slots(scale)}, the same for all</span></header>
      <SlotLegend />
      <div class="table-scroll">
        <table class="tenant-table" data-testid="tenants">
          <thead><tr><th scope="col">Tenant</th><th scope="col">Slots</th><th scope="col">Jobs</th><th scope="col">Budget</th></tr></thead>
          <tbody>
            {rows.slice(0, shown).map((row) => (
              <TenantLine key={row.tenant.name} tree={tree} row={row} href={tenantHref(row.tenant.name, usage)} scale={scale} chosen={row.tenant.name === chosen}
                closed={closed.has(row.tenant.name)} onToggle={toggle} />
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > shown && (
        <button class="button more" type="button" onClick={() => setShown(shown + kPageRows)}>
          Show {Math.min(kPageRows, rows.length - shown)} more of {count(rows.length)}
        </button>
      )}
    </section>
  );
}
