#include "core/decide/reconcile/holding_limits.hpp"

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include "core/tenants/entitlement.hpp"
#include "core/tenants/preemption_limits.hpp"
#include "core/tenants/tenant_needs.hpp"
#include "core/tenants/tenant_nodes.hpp"

namespace tidepool::core {
namespace {

class HoldingLimits {
 public:
  // What this decision keeps for jobs that wait counts as held, so that who leaves for it leaves now.
  HoldingLimits(const DecisionDraft& draft, PreemptionLimits& limits)
      : state_(draft.state()), places_(places_of(*state_.tenants)), over_(places_.size()) {
    most_ = most_held(nodes_of(*state_.tenants, places_), slots_to_share(state_));
    for (const auto& [name, place] : places_) over_[place] = limits.held(name) - most_[place];
    if (!limits.none()) leave_out_asked(draft, limits);
  }

  [[nodiscard]] const Tenant* exceeded_by(const Job& job) const {
    const auto path = state_.tenants->path_to(job.spec.tenant);
    const auto found = std::find_if(path.begin(), path.end(), [&](const Tenant* each) { return over_of(*each) > 0; });
    return found == path.end() ? nullptr : *found;
  }

  void leaves(const Job& job) { add(job, -slots_kept(state_, job)); }

  // Some tenant would hold too much if the job stayed after all. Else it does.
  bool must_leave(const Job& job) {
    add(job, slots_kept(state_, job));
    if (exceeded_by(job) == nullptr) return false;
    leaves(job);
    return true;
  }

  [[nodiscard]] reason::OverTenantLimit reason(const Tenant& tenant) const {
    return {.most = static_cast<int>(most_[places_.at(tenant.name)]), .word = tenant.name};
  }

 private:
  // Slots of jobs that are asked to leave are kept for others already.
  void leave_out_asked(const DecisionDraft& draft, const PreemptionLimits& limits) {
    for (const PlannedIntent& planned : draft.plan()) {
      if (std::holds_alternative<AskIntent>(planned.intent)) leaves(*state_.find_job(job_of(planned.intent)));
    }
    for (const auto& [id, job] : state_.jobs) {
      if (limits.awaits_answer(*job)) leaves(*job);
    }
  }
  void add(const Job& job, std::int64_t slots) {
    for (const Tenant* each : state_.tenants->path_to(job.spec.tenant)) over_[places_.at(each->name)] += slots;
  }
  [[nodiscard]] std::int64_t over_of(const Tenant& tenant) const { return over_[places_.at(tenant.name)]; }

  const ClusterState& state_;
  TenantPlaces places_;
  std::vector<std::int64_t> most_;  // that each may hold, by place
  std::vector<std::int64_t> over_;  // slots that each holds beyond that; below 0: fewer
};

bool limits_holdings(const TenantTree& tree) {
  return std::any_of(tree.tenants.begin(), tree.tenants.end(),
                     [](const Tenant& each) { return each.borrow || each.lend; });
}

struct Leaver {
  const Job* job;
  reason::OverTenantLimit reason;
};

}  // namespace

void keep_to_holding_limits(DecisionDraft& draft, Victims& victims) {
  const ClusterState& state = draft.state();
  if (victims.empty() || !limits_holdings(*state.tenants) || !draft.parts().tenants_share(state)) return;
  HoldingLimits limits(draft, victims.limits());
  std::vector<Leaver> chosen;
  const auto& jobs = victims.all();
  for (auto each = jobs.rbegin(); each != jobs.rend(); ++each) {
    const Tenant* exceeded = limits.exceeded_by(*each->job);
    if (exceeded == nullptr || !victims.may_leave_unclaimed(*each->job)) continue;
    limits.leaves(*each->job);
    chosen.push_back({each->job, limits.reason(*exceeded)});
  }
  // One that the others make up for stays, the highest in the plan's order first.
  for (auto each = chosen.rbegin(); each != chosen.rend(); ++each) {
    if (limits.must_leave(*each->job)) victims.end_unclaimed(*each->job, each->reason);
  }
}

}  // namespace tidepool::core
