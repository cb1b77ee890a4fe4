#include "core/tenants/victim_order.hpp"

#include <algorithm>

namespace tidepool::core {
namespace {

std::int64_t given_up_by(const Job& job) {
  return std::int64_t{job.size()} * job.spec.gpus_per_worker;
}

}  // namespace

std::int64_t VictimOrder::planned_for(const std::string& tenant) const {
  const auto found = planned_.find(tenant);
  return found == planned_.end() ? 0 : found->second;
}

void VictimOrder::take(const Job& job) {
  for (const Tenant* each : tree_.path_to(job.spec.tenant)) taken_[each->name] += given_up_by(job);
}

bool VictimOrder::leaves_planned(const Job& job) {
  const std::string& tenant = job.spec.tenant;
  return limits_.held(tenant) - taken_[tenant] - given_up_by(job) >= planned_for(tenant);
}

bool VictimOrder::leaves_guaranteed(const Job& job, const Job& claimant) {
  const auto above_claimant = tree_.path_to(claimant.spec.tenant);
  const auto path = tree_.path_to(job.spec.tenant);
  return std::all_of(path.begin(), path.end(), [&](const Tenant* each) {
    if (std::find(above_claimant.begin(), above_claimant.end(), each) != above_claimant.end()) return true;
    const std::int64_t left = limits_.held(each->name) - taken_[each->name] - given_up_by(job);
    return left >= std::min<std::int64_t>(each->guarantee, planned_for(each->name));
  });
}

std::vector<std::size_t> VictimOrder::of(const std::vector<const Job*>& victims, const SlotsFor& claim) {
  taken_.clear();
  const std::string& own = claim.job.spec.tenant;
  const bool has_its_part = limits_.held(own) + claim.slots > planned_for(own);
  std::vector<std::size_t> of_own;
  std::vector<std::size_t> of_others;
  std::vector<std::size_t> last;
  for (std::size_t at = 0; at < victims.size(); ++at) {
    const Job& job = *victims[at];
    if (job.spec.tenant == own) {
      of_own.push_back(at);
    } else if (leaves_planned(job) && leaves_guaranteed(job, claim.job)) {
      of_others.push_back(at);
      take(job);
    } else {
      last.push_back(at);
    }
  }
  std::vector<std::size_t> order = has_its_part ? of_own : of_others;
  const std::vector<std::size_t>& next = has_its_part ? of_others : of_own;
  order.insert(order.end(), next.begin(), next.end());
  for (const std::size_t at : last) {
    const Job& job = *victims[at];
    const bool may = !has_its_part && leaves_guaranteed(job, claim.job);
    if (!may && !limits_.covers(claim, job)) continue;
    order.push_back(at);
    take(job);
  }
  return order;
}

}  // namespace tidepool::core
