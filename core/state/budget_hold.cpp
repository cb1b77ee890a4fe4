#include "core/state/budget_hold.hpp"

#include <algorithm>

namespace tidepool::core {
namespace {

reason::OfBudget told_of(const BudgetHold& hold) {
  return {
      .limit = hold.limit, .percent = hold.percent, .ends_unix = hold.window_ends_us / 1'000'000, .word = hold.tenant};
}

}  // namespace

// Only facts, and no decision, turn a job that a budget shrinks into a withheld one: so a plan that was made stays
// valid.
bool is_withheld(const Job& job) {
  return job.hold && (job.hold->action != BudgetAction::kShrink || job.state() == JobState::kPending);
}

bool is_shrunk(const Job& job) {
  return job.hold && !is_withheld(job);
}

int pinned_by_user(const Job& job) {
  return std::max(job.requests.pinned_size, job.hold ? job.hold->pinned_size : 0);
}

reason::BudgetSpent why_withheld(const Job& job) {
  return {told_of(*job.hold)};
}

reason::BudgetStopped why_stopped(const Job& job) {
  return {told_of(*job.hold)};
}

reason::BudgetShrunk why_shrunk(const Job& job) {
  const int least = job.spec.elastic.sizes.front();
  return {{.from = least, .to = least}, told_of(*job.hold)};
}

}  // namespace tidepool::core
