#include "policies/host/file_policy.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/decide/plan_inputs.hpp"
#include "policies/host/answers.hpp"
#include "policies/tidal/tidal.hpp"

namespace tidepool::policies::host {
namespace {

// Null if the round says nothing about the job as it is today.
const core::PolicyJobAnswer* answer_of(const core::PolicyRound& round, const core::ClusterState& state, JobId id) {
  const core::PolicyJobAnswer* answer = round.answer_for(id);
  const core::Job* job = state.find_job(id);
  return answer != nullptr && job != nullptr && answer->asked == core::digest_of_request(*job) ? answer : nullptr;
}

// What the round says, row by row of today's view, in the words of the file alone. `unanswered` gets the rows that it
// does not speak of.
Answers answers_today(const core::PolicyRound& round, const core::ClusterState& state, const cluster::View& view,
                      std::vector<std::size_t>& unanswered) {
  // A hook answers for all jobs or is not there.
  const bool ranks =
      std::any_of(round.job_answers.begin(), round.job_answers.end(), [](const auto& answer) { return answer.rank; });
  const bool sizes =
      std::any_of(round.job_answers.begin(), round.job_answers.end(), [](const auto& answer) { return answer.size; });
  Answers answers;
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    const core::PolicyJobAnswer* answer = answer_of(round, state, view.jobs[row].id);
    if (answer == nullptr) unanswered.push_back(row);
    answers.admitted.push_back(answer == nullptr || answer->admitted);
    if (ranks) answers.rank.push_back(answer == nullptr ? 0 : answer->rank.value_or(0));
    if (sizes) answers.sizes.push_back(answer == nullptr ? 0 : answer->size.value_or(0));
    answers.marks.push_back(answer == nullptr ? std::nullopt : answer->mark);
    answers.why.push_back(answer == nullptr ? FileReason{} : FileReason{answer->word, answer->numbers});
  }
  return answers;
}

// A job that the answer leaves out keeps what it has, and so comes first.
void keep_unanswered(const cluster::View& view, const std::vector<std::size_t>& unanswered, Answers& answers,
                     cluster::Allocation& standard) {
  if (unanswered.empty()) return;
  if (answers.rank.empty()) {
    answers.rank.resize(view.jobs.size());
    for (std::size_t place = 0; place < standard.order.size(); ++place) {
      answers.rank[standard.order[place]] = static_cast<double>(place);
    }
  }
  for (const std::size_t row : unanswered) {
    const int held = size_of(view.jobs[row].placement);
    answers.rank[row] = -std::numeric_limits<double>::infinity();
    if (answers.sizes.empty()) {
      standard.grants[row] = {.size = held, .reason = {}, .lost = {}, .mark = {}};
    } else {
      answers.sizes[row] = held;
    }
  }
}

class Planner final : public cluster::RowPlanner {
 public:
  explicit Planner(std::shared_ptr<const cluster::AllocationPolicy> fallback) : fallback_(std::move(fallback)) {}

 private:
  cluster::Allocation allocate(const core::PlanRequest& request, const cluster::View& view,
                               core::StepBudget& budget) const override {
    const core::ClusterState& state = request.view.state;
    if (!state.deployment.answer || !state.deployment.answer->fault.empty()) return fallback_->allocate(view, budget);
    budget.spend(static_cast<std::int64_t>(view.jobs.size()));
    std::vector<std::size_t> unanswered;
    Answers answers = answers_today(*state.deployment.answer, state, view, unanswered);
    cluster::Allocation standard = standard_for(view, answers, *fallback_, budget);
    keep_unanswered(view, unanswered, answers, standard);
    cluster::Allocation allocation = host::allocate(view, answers, standard);
    for (const std::size_t row : unanswered) {
      allocation.grants[row].reason = core::reason::AwaitsPolicy{{.size = size_of(view.jobs[row].placement)}};
      allocation.grants[row].unasked = true;
    }
    return allocation;
  }

  std::shared_ptr<const cluster::AllocationPolicy> fallback_;
};

}  // namespace

FilePolicy::FilePolicy(std::shared_ptr<const cluster::AllocationPolicy> fallback)
    : WholeClusterPolicy("policy file", fallback), fallback_(std::move(fallback)) {}

std::unique_ptr<core::Planner> FilePolicy::planner() const {
  return std::make_unique<Planner>(fallback_);
}

std::shared_ptr<const cluster::AllocationPolicy> built_in_fallback() {
  return std::make_shared<const tidal::Tidal>();
}

}  // namespace tidepool::policies::host
