// The tree of tenants as rows, and what each has of the pool's slots. Pure: plain sums and differences of what the
// daemon says; how many slots a tenant may have is the daemon's word alone (`entitled`).
import type { BudgetAction, Tenant, TenantTree } from "../api/types";

export interface TenantRow {
  tenant: Tenant;
  depth: number;
  children: number; // directly below it
  owed: number; // slots that it wants, may have and does not hold yet
}

// Each after its parent; what lies below a tenant of `closed` is left out.
export function rowsOf(tree: TenantTree, closed: ReadonlySet<string>): TenantRow[] {
  const children = childrenOf(tree);
  const owed = owedTo(tree, children);
  return tree.tenants
    .filter((tenant) => !tenant.path.slice(0, -1).some((above) => closed.has(above)))
    .map((tenant) => ({
      tenant, depth: tenant.path.length - 1, children: children.get(tenant.name) ?? 0, owed: owed.get(tenant.name) ?? 0,
    }));
}

function childrenOf(tree: TenantTree): ReadonlyMap<string, number> {
  const children = new Map<string, number>();
  for (const { parent } of tree.tenants) if (parent !== null) children.set(parent, (children.get(parent) ?? 0) + 1);
  return children;
}

// Those of the tenants below are a tenant's own, one by one: what one of them has too much another has not.
function owedTo(tree: TenantTree, children: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const owed = new Map<string, number>();
  for (const { name, path, now } of tree.tenants) {
    if (children.has(name) || now === null || now.entitled === null || now.wanted === null) continue;
    const slots = Math.max(0, Math.min(now.entitled, now.wanted) - now.held);
    for (const each of path) owed.set(each, (owed.get(each) ?? 0) + slots);
  }
  return owed;
}

// The tenant and all below it.
export function withBelow(tree: TenantTree, name: string): ReadonlySet<string> {
  return new Set(tree.tenants.filter((tenant) => tenant.path.includes(name)).map((tenant) => tenant.name));
}

// All money of a daemon has one; of a tenant above the token's own only what is set is told, which does not name it.
export function currencyOf(tree: TenantTree): string {
  return tree.tenants.find(({ now }) => now !== null)?.now?.currency ?? "USD";
}

export interface SlotShares {
  guarantee: number;
  held: number;
  borrowed: number; // held beyond the guarantee
  lent: number; // of the guarantee, neither held nor claimed: others may have it, whether they do or not
  entitled: number | null;
}

// Null where the token may not see what the tenant has.
export function sharesOf(tenant: Tenant): SlotShares | null {
  if (tenant.now === null) return null;
  const { guarantee } = tenant;
  const { held, entitled } = tenant.now;
  return {
    guarantee, held, entitled, borrowed: Math.max(0, held - guarantee),
    lent: entitled === null ? 0 : Math.max(0, guarantee - Math.max(held, entitled)),
  };
}

// All bars of the page have this one scale: the slots of the pool, or more where guarantees or holdings are more.
export function scaleOf(tree: TenantTree, poolSlots: number): number {
  const most = (tenant: Tenant) => Math.max(tenant.guarantee, tenant.now?.held ?? 0, tenant.now?.entitled ?? 0);
  return tree.tenants.reduce((scale, tenant) => Math.max(scale, most(tenant)), Math.max(1, poolSlots));
}

const kStrength: Record<BudgetAction, number> = { warn: 0, shrink: 1, pause: 2, stop: 3 };

export interface BudgetInForce {
  action: BudgetAction;
  tenant: string; // whose budget it is
  until: string;
}

function holdsMore(one: BudgetInForce, other: BudgetInForce): boolean {
  const stronger = kStrength[one.action] - kStrength[other.action];
  return stronger > 0 || (stronger === 0 && Date.parse(one.until) >= Date.parse(other.until));
}

// The strongest that holds of its own budget and of those above it, of equals the one renewed last; null: none.
export function budgetInForce(tree: TenantTree, tenant: Tenant): BudgetInForce | null {
  const found = tree.tenants
    .filter((other) => tenant.path.includes(other.name))
    .flatMap(({ name, now }) => (now?.budget?.action ? [{ action: now.budget.action, tenant: name, until: now.budget.window_ends_at }] : []));
  return found.reduce<BudgetInForce | null>((most, each) => (most === null || holdsMore(each, most) ? each : most), null);
}

export interface BudgetTick {
  percent: number;
  action: BudgetAction;
  reached: boolean;
}

export interface BudgetMeter {
  percent: number; // spent of the limit
  scale: number; // percent at the end of the bar: all thresholds and what is spent fit in
  ticks: BudgetTick[];
}

// Null where the tenant has no budget of its own, or the token may not see it.
export function budgetMeter({ budget, now }: Tenant): BudgetMeter | null {
  if (budget === null || !now?.budget) return null;
  const limit = Number(budget.limit);
  const spent = Number(now.budget.spent);
  const percent = limit > 0 ? (100 * spent) / limit : spent > 0 ? Infinity : 0;
  const last = budget.thresholds[budget.thresholds.length - 1]?.percent ?? 100;
  const scale = Math.max(100, last, Math.min(percent, 2 * Math.max(100, last)));
  return { percent, scale, ticks: budget.thresholds.map((each) => ({ ...each, reached: percent >= each.percent })) };
}
