#include "core/state/account.hpp"

namespace tidepool::core {
namespace {

constexpr std::int64_t kUsPerHour = 3'600'000'000;

}  // namespace

void charge(const ClusterState& state, Job& job, Instant until) {
  if (until <= job.account.charged_until) return;
  const Duration held = until - job.account.charged_until;
  job.account.charged_until = until;
  job.account.slot_time += held * slots_in_use(state, job);
  // 128 bits, because price times microseconds overflows 64 within days.
  __extension__ using Wide = __int128;
  const Wide owed =
      static_cast<Wide>(price_per_hour(state, job).count_micros()) * held.count_us() + job.account.cost_remainder;
  job.account.cost += Money::micros(static_cast<std::int64_t>(owed / kUsPerHour));
  job.account.cost_remainder = static_cast<std::int64_t>(owed % kUsPerHour);
}

void charge_with_tenant(ClusterState& state, Job& job, Instant until) {
  const Account before = job.account;
  charge(state, job, until);
  if (state.tenants->empty() || job.account.slot_time == before.slot_time) return;
  TenantUse& use = state.tenant_uses[job.spec.tenant];
  use.slot_time += job.account.slot_time - before.slot_time;
  use.cost += job.account.cost - before.cost;
}

int slots_in_use(const ClusterState& state, const Job& job) {
  std::size_t slots = 0;
  for (const WorkerId id : job.membership.workers) {
    const Worker* worker = state.find_worker(id);
    if (worker != nullptr && !worker->node_lost) slots += worker->slots.size();
  }
  return static_cast<int>(slots);
}

Money price_per_hour(const ClusterState& state, const Job& job) {
  Money sum;
  for (const WorkerId id : job.membership.workers) {
    const Worker* worker = state.find_worker(id);
    const Node* node = worker == nullptr ? nullptr : state.find_node(worker->node);
    if (node == nullptr || worker->node_lost) continue;
    sum += Money::micros(node->price_per_slot_hour.count_micros() * static_cast<std::int64_t>(worker->slots.size()));
  }
  return sum;
}

}  // namespace tidepool::core
