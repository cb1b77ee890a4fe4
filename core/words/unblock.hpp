// What would change a verdict, from its own numbers alone: so it can also be shown for a decision that is read years
// later. explain.hpp adds what the present state of the cluster offers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/state/plan.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {

// A remedy for a verdict, and who may apply it.
struct Advice {
  Advice(std::string said) : text(std::move(said)) {}  // NOLINT(google-explicit-constructor): most is for all callers
  Advice(const char* said) : text(said) {}             // NOLINT(google-explicit-constructor)

  std::string text;
  bool for_admin = false;    // only an admin of all tenants may follow it
  JobId cancels;             // the text begins with "cancel JOB"; only a caller who may cancel that job may follow it
  JobId ends;                // the text begins with "the end of JOB": useless if that frees nothing for the job
  bool by_priority = false;  // a policy file may ignore priorities
  bool pins = false;         // requests a pinned size, which its tenant's guarantee may not cover
  bool of_lenders = false;   // about tenants without their names: who may see them gets these (name_lenders())
};
[[nodiscard]] Advice advice_for_admin(std::string text);
[[nodiscard]] Advice advice_to_cancel(JobId job, const std::string& more);
// "the end of job-3", followed by `more`.
[[nodiscard]] Advice advice_of_end(JobId job, const std::string& more = "");
[[nodiscard]] std::vector<std::string> texts_of(const std::vector<Advice>& advice);

// Most relevant first: "the end of job-3, which gains least among the jobs that hold slots". Empty if nothing must
// change. `job` is used in commands.
[[nodiscard]] std::vector<Advice> advice_of(const Reason& reason, JobId job);
[[nodiscard]] std::vector<std::string> unblocks_of(const Reason& reason, JobId job);

// The chosen size compared with the best that lost: "score in speed-up: 2 workers 1.9, 4 workers 1.2". Empty if nothing
// lost, the policy gives sizes no scores, or its scores have no named unit.
[[nodiscard]] std::string scores_of(const Alternative& chosen, const std::vector<Alternative>& lost);

}  // namespace tidepool::core
