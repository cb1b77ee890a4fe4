#include "schedulerd/live/http/numbers/tenant_numbers.hpp"

#include <map>
#include <string>

#include "core/state/account.hpp"
#include "schedulerd/live/http/numbers/job_use.hpp"

namespace tidepool::live::http {
namespace {

void add_job(const core::ClusterState& state, const core::Job& job, Instant now, TenantNumbers& numbers) {
  switch (job.state()) {
    case core::JobState::kPending: ++numbers.waiting; break;
    case core::JobState::kStarting:
    case core::JobState::kRunning:
    case core::JobState::kResizing: ++numbers.running; break;
    default: break;
  }
  numbers.held += core::slots_in_use(state, job);
  const core::Used uncharged = used_now(state, job, now) - core::Used{job.account.slot_time, job.account.cost};
  numbers.use.slot_time += uncharged.slot_time;
  numbers.use.cost += uncharged.cost;
}

void add(const TenantNumbers& below, TenantNumbers& sum) {
  sum.held += below.held;
  sum.waiting += below.waiting;
  sum.running += below.running;
  sum.use.slot_time += below.use.slot_time;
  sum.use.cost += below.use.cost;
  sum.entitled += below.entitled;
  sum.wanted += below.wanted;
  sum.satisfied = sum.satisfied && below.satisfied;
  sum.loan += below.loan;
}

}  // namespace

std::vector<TenantNumbers> tenant_numbers(const core::ClusterState& state, Instant now) {
  const auto& tenants = state.tenants->tenants;
  std::vector<TenantNumbers> numbers(tenants.size());
  std::map<std::string, std::size_t> place;
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    const std::string& name = tenants[i].name;
    place.emplace(name, i);
    if (const auto use = state.tenant_uses.find(name); use != state.tenant_uses.end()) numbers[i].use = use->second;
    const auto plan = state.plan.tenants.find(name);
    if (plan == state.plan.tenants.end()) continue;
    numbers[i].entitled = plan->second.entitled;
    numbers[i].wanted = plan->second.wanted_in_all();
    numbers[i].satisfied = !plan->second.wants_more();
    numbers[i].loan = plan->second.loan;
    numbers[i].of_types = plan->second.of_types;
  }
  for (const auto& [id, job] : state.jobs) {
    if (const auto at = place.find(job->spec.tenant); at != place.end()) add_job(state, *job, now, numbers[at->second]);
  }
  // Each tenant stands after its parent, so from the end on every sum is whole before it is added.
  for (std::size_t i = tenants.size(); i-- > 0;) {
    if (!tenants[i].parent.empty()) add(numbers[i], numbers[place.at(tenants[i].parent)]);
  }
  return numbers;
}

}  // namespace tidepool::live::http
