#include "policies/host/hosted_policy.hpp"

namespace tidepool::policies::host {

cluster::Allocation HostedPolicy::allocate(const cluster::View& view, core::StepBudget& budget) const {
  budget.spend(static_cast<std::int64_t>(view.jobs.size()));
  const Judged judged = setup_.host.ask(view, setup_.params);
  if (const auto* answers = std::get_if<Answers>(&judged)) {
    return host::allocate(view, *answers, standard_for(view, *answers, setup_.fallback, budget));
  }
  if (setup_.on_fault) setup_.on_fault(std::get<PolicyFault>(judged));
  return setup_.fallback.allocate(view, budget);
}

}  // namespace tidepool::policies::host
