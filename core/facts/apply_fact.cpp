#include "core/facts/apply_fact.hpp"

#include <concepts>

#include "base/overloaded.hpp"
#include "core/facts/job_facts.hpp"
#include "core/facts/node_facts.hpp"
#include "core/facts/parking_facts.hpp"
#include "core/facts/policy_facts.hpp"
#include "core/facts/program_facts.hpp"
#include "core/facts/shares.hpp"
#include "core/facts/training_facts.hpp"

namespace tidepool::core {
namespace {

// What workers report of their job, as against what users ask of it.
template <class F>
concept Report =
    std::same_as<F, GenerationSwitched> || std::same_as<F, StepsMeasured> || std::same_as<F, SharesChanged> ||
    std::same_as<F, DataEpochAudited> || std::same_as<F, TrainingFinished> || std::same_as<F, StateParked> ||
    std::same_as<F, CheckpointTaken> || std::same_as<F, StateRestored>;

// It comes too late to change anything.
bool is_of_ended_job(const ClusterState& state, const Fact& fact) {
  return std::visit(Overloaded{
                        [&](const Report auto& report) { return state.has_ended(report.job); },
                        [](const auto&) { return false; },
                    },
                    fact);
}

}  // namespace

Status apply_fact(StateChange& change, const Fact& fact, const StragglerDetectors& detectors) {
  if (is_of_ended_job(change.state(), fact)) return ok_status();
  return std::visit(Overloaded{
                        [&](const StepsMeasured& steps) { return apply(change, steps, detectors); },
                        [](const ClockAdvanced&) { return ok_status(); },
                        [&](const auto& any) { return apply(change, any); },
                    },
                    fact);
}

}  // namespace tidepool::core
