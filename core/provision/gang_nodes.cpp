#include "core/provision/gang_nodes.hpp"

#include <optional>

#include "core/state/worker_groups.hpp"
#include "core/tenants/preemption_limits.hpp"

namespace tidepool::core {

bool GangNodes::serve() {
  bool any = false;
  for (const GangNeed& need : moving_workers(turn_.state, turn_.now)) {
    any = turn_.orders.serve(need, [&](const NodePool& pool) { return turn_.targets.may_buy(pool); }) || any;
  }
  serve_backlog(turn_.state, turn_.orders.room(), [&](const BacklogGang& gang) { any = serve_waiting(gang) || any; });
  return any;
}

// Returns whether it waits for a node that is coming, or was ordered now.
bool GangNodes::serve_waiting(const BacklogGang& gang) {
  bool gives_way = false;
  const auto may_buy_for_it = [&](const NodePool& pool) {
    if (turn_.targets.of(pool) != nullptr) return false;
    gives_way = gives_way || others_give_way(*gang.job, pool.spec, gang.slots_lacking);
    return !turn_.targets.is_settled(pool) && !gives_way;
  };
  const bool waits_for_nodes = turn_.orders.serve({.job = gang.job, .workers = gang.workers}, may_buy_for_it);
  if (!waits_for_nodes && gang.slots_lacking > 0) not_served_.push_back(gang.job);
  if (gives_way) slots_to_give_ += gang.slots_lacking;
  return waits_for_nodes;
}

void GangNodes::keep_nodes() {
  for (const auto& [id, job] : turn_.state.jobs) {
    if (is_being_preempted(*job)) not_served_.push_back(job.get());
  }
  turn_.orders.keep_for(not_served_, [&](const NodePool& pool) { return turn_.targets.may_buy(pool); });
}

// Running jobs can release the slots that the gang lacks at a smaller loss than their cost. If the policy does not make
// them release the slots, the gang gets nodes after it has waited for as long as a node takes to come.
bool GangNodes::others_give_way(const Job& job, const PoolSpec& spec, int lacking) {
  const bool is_apart = gang_of(job) == 1 || !(job.spec.pack_node || has_groups(job.spec));
  const bool any_slots_do = job.spec.gpus_per_worker == 1 && is_apart;
  if (!any_slots_do || turn_.now - waits_since(job) >= spec.lead_time) return false;
  const std::vector<SizeStep>& steps = steps_down_on(spec.slot_type);
  const auto before = lost_with(steps, slots_to_give_);
  const auto with_it = lost_with(steps, slots_to_give_ + lacking);
  if (!before || !with_it) return false;
  return scaled(spec.worth_per_slot_hour, (*with_it - *before) / lacking) <=
         scaled(spec.price_per_slot_hour, kBuyAbove);
}

const std::vector<SizeStep>& GangNodes::steps_down_on(const std::string& slot_type) {
  const auto [known, is_first] = steps_down_.try_emplace(slot_type);
  if (is_first) known->second = steps_down(turn_.state, slot_type);
  return known->second;
}

}  // namespace tidepool::core
