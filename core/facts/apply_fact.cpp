#include "core/facts/apply_fact.hpp"

#include "base/overloaded.hpp"
#include "core/facts/job_facts.hpp"
#include "core/facts/node_facts.hpp"
#include "core/facts/parking_facts.hpp"
#include "core/facts/policy_facts.hpp"
#include "core/facts/program_facts.hpp"
#include "core/facts/shares.hpp"
#include "core/facts/training_facts.hpp"

namespace tidepool::core {

Status apply_fact(StateChange& change, const Fact& fact, const StragglerDetectors& detectors) {
  return std::visit(Overloaded{
                        [&](const StepsMeasured& steps) { return apply(change, steps, detectors); },
                        [](const ClockAdvanced&) { return ok_status(); },
                        [&](const auto& any) { return apply(change, any); },
                    },
                    fact);
}

}  // namespace tidepool::core
