// The fields of tenants, of what a plan finds of them and of what it changes. Private to the core's codecs.
#pragma once

#include "base/codec/archive.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/plan.hpp"
#include "core/state/tenants.hpp"

namespace tidepool::core {

void fields(auto& archive, codec::Like<Tenant> auto& tenant) {
  archive("name", tenant.name);
  archive("parent", tenant.parent);
  archive("guarantee", tenant.guarantee);
  archive("weight", tenant.weight);
  archive("borrow", tenant.borrow);
  archive("lend", tenant.lend);
  archive("priority_max", tenant.priority_max);
  archive("job_slots_max", tenant.job_slots_max);
  archive("job_price_max", tenant.job_price_max);
}

void fields(auto& archive, codec::Like<TenantTree> auto& tree) {
  archive("tenants", tree.tenants);
  archive("half_life", tree.half_life);
  archive("rebalance_every", tree.rebalance_every);
}

void fields(auto& archive, codec::Like<TenantUse> auto& use) {
  archive("slot_time", use.slot_time);
  archive("cost", use.cost);
}

void fields(auto& archive, codec::Like<TenantPlan> auto& plan) {
  archive("entitled", plan.entitled);
  archive("wanted", plan.wanted);
  archive("sated", plan.sated);
  archive("loan", plan.loan);
  archive("counted_use", plan.counted_use);
  archive("mark", plan.mark);
}

void fields(auto& archive, codec::Like<TenantChange> auto& change) {
  archive("tenant", change.tenant);
  archive("now", change.now);
}

// All of tenants that a state holds, as one object of its head.
struct StoredTenants {
  TenantTree tree;
  TenantUses uses;
  std::map<std::string, TenantPlan> plans;
  std::optional<Instant> loans_counted;
};
void fields(auto& archive, codec::Like<StoredTenants> auto& stored) {
  archive("tree", stored.tree);
  archive("uses", stored.uses);
  archive("plans", stored.plans);
  archive("loans_counted", stored.loans_counted);
}

// What a decision changes of them, as one object of it.
struct StoredTenantChanges {
  std::vector<TenantChange> changes;
  bool counts_loans = false;
};
void fields(auto& archive, codec::Like<StoredTenantChanges> auto& stored) {
  archive("changes", stored.changes);
  archive("counts_loans", stored.counts_loans);
}

}  // namespace tidepool::core
