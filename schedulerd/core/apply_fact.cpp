#include "schedulerd/core/apply_fact.hpp"

#include "base/overloaded.hpp"
#include "schedulerd/core/job_facts.hpp"
#include "schedulerd/core/node_facts.hpp"
#include "schedulerd/core/parking_facts.hpp"
#include "schedulerd/core/policy_facts.hpp"
#include "schedulerd/core/program_facts.hpp"
#include "schedulerd/core/shares.hpp"
#include "schedulerd/core/training_facts.hpp"

namespace tidepool::core {

Status apply_fact(StateChange& change, const Fact& fact, const Engine::Parts& parts) {
  return std::visit(Overloaded{
                        [&](const StepsMeasured& steps) { return apply(change, steps, parts); },
                        [](const ClockAdvanced&) { return ok_status(); },
                        [&](const auto& any) { return apply(change, any); },
                    },
                    fact);
}

}  // namespace tidepool::core
