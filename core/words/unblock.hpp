// What would change a verdict, from its own numbers alone: so a decision that is read years later still says it.
// explain.hpp adds what the present state of the cluster offers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/state/plan.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {

// What would change a verdict, and who may do it.
struct Advice {
  Advice(std::string said) : text(std::move(said)) {}  // NOLINT(google-explicit-constructor): most is for all callers
  Advice(const char* said) : text(said) {}             // NOLINT(google-explicit-constructor)

  std::string text;
  bool for_admin = false;    // only an admin of all tenants may follow it
  JobId cancels;             // the text is "cancel JOB" and more of it; only who may cancel that job may follow it
  JobId ends;                // the text is "the end of JOB": of no use where that frees nothing for the job
  bool by_priority = false;  // a policy file need not heed priorities
  bool pins = false;         // asks for a size of its own, which its tenant's guarantee may not hold
  bool of_lenders = false;   // of tenants that it does not name: who may see them is told which (name_lenders())
};
[[nodiscard]] Advice advice_for_admin(std::string text);
[[nodiscard]] Advice advice_to_cancel(JobId job, const std::string& more);
// "the end of job-3", and more of it.
[[nodiscard]] Advice advice_of_end(JobId job, const std::string& more = "");
[[nodiscard]] std::vector<std::string> texts_of(const std::vector<Advice>& advice);

// Most telling first: "the end of job-3, which gains least among the jobs that hold slots". Empty where nothing has to
// change. `job` is named in commands.
[[nodiscard]] std::vector<Advice> advice_of(const Reason& reason, JobId job);
[[nodiscard]] std::vector<std::string> unblocks_of(const Reason& reason, JobId job);

// The chosen size against the best that lost: "score in speed-up: 2 workers 1.9, 4 workers 1.2". Empty where nothing
// lost, the policy gives sizes no scores, or its scores are in no unit that has a name.
[[nodiscard]] std::string scores_of(const Alternative& chosen, const std::vector<Alternative>& lost);

}  // namespace tidepool::core
