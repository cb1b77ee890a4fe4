// The tenants that share the pool: what each has of its slots and its budget; of the chosen one its limits, jobs and use.
import { useEffect } from "preact/hooks";
import type { TenantTree } from "../../api/types";
import type { TenantsView } from "../../page/queries";
import { Unread } from "../../parts/unread";
import type { Refusal } from "../../state/model";
import type { Session } from "../../state/session";
import { useSelect } from "../../state/store";
import { preemptionText, tenantsProblem } from "../../text/tenant_text";
import { TenantPanel } from "./tenant_panel";
import { TenantTable } from "./tenant_table";
import { UsagePanel } from "./usage_panel";

interface Props {
  chosen: string | null;
  view: TenantsView;
  session: Session;
}

export function TenantsPage({ chosen, view, session }: Props) {
  const { usage } = view;
  const page = useSelect((state) => state.tenants);
  const down = useSelect((state) => state.link.kind === "down");
  useEffect(() => {
    session.tenants.open(usage);
    return () => session.tenants.close();
  }, [session]);
  useEffect(() => session.tenants.choose(usage), [session, usage]);
  return (
    <div class="tenants-page">
      <h1 class="visually-hidden">Tenants</h1>
      {page?.problem && <Problem refusal={page.problem} alone={page.tree === null} />}
      {page?.tree && (page.tree.tenants.length === 0 ? <NoTree /> : <Tree tree={page.tree} chosen={chosen} view={view} />)}
      {!page?.problem && !page?.tree && (down ? <Unread what="The tenants" /> : <div aria-busy="true"><p class="visually-hidden" role="status">Loading tenants</p><div class="skeleton tall" /></div>)}
    </div>
  );
}

function Tree({ tree, chosen, view }: Omit<Props, "session"> & { tree: TenantTree }) {
  const preemption = preemptionText(tree);
  return (
    <>
      {tree.warnings.map((warning) => <p class="notice warn" key={warning}>{warning}</p>)}
      <div class="columns">
        <div class="column">
          <TenantTable tree={tree} chosen={chosen} view={view} />
          {preemption !== null && <p class="quiet" data-testid="preemption-limits">{preemption}</p>}
        </div>
        <aside class="column side">
          {chosen !== null && <TenantPanel key={chosen} tree={tree} name={chosen} view={view} />}
          <UsagePanel tree={tree} name={chosen} view={view} />
        </aside>
      </div>
    </>
  );
}

function Problem({ refusal, alone }: { refusal: Refusal; alone: boolean }) {
  const text = `${tenantsProblem(refusal)}.`;
  if (!alone) return <p class="notice warn" role="alert">{text} What you see was read before.</p>;
  return <section class="empty" role="alert"><h2>No tenants to show</h2><p>{text}</p></section>;
}

function NoTree() {
  return (
    <section class="empty" data-testid="no-tenants">
      <h2>Slots are not shared by tenants</h2>
      <p>A tree of tenants gives each a guaranteed part of the slots, a weight for the rest and, if it is to have one, a budget.</p>
      <p>Write <code>tenants.yaml</code> and set it with <code>schedctl tenants apply tenants.yaml</code>; it appears here by itself.</p>
      <p class="quiet">A token of a tenant that is not in the tree sees none of it.</p>
    </section>
  );
}
