// What requests about jobs have in common: their bodies, the job that they name, and how a job is answered.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/v1/job_spec.hpp"
#include "base/json.hpp"
#include "core/facts/job_facts.hpp"
#include "schedulerd/live/http/render.hpp"
#include "schedulerd/live/http/rest.hpp"

namespace tidepool::live::http {

// `again`: what the caller did, "submit" or "change it".
[[nodiscard]] Problem job_errors(std::vector<FieldError> errors, const std::string& again);

// Complains of a policy that the daemon does not have or that cannot size a single job, and of a straggler detector
// that it does not have.
void check_names(const api::v1::JobSpecV1& spec, const RestOptions& options, std::vector<FieldError>& errors);

// The job that a file submits for this call's caller, with what it leaves out filled by the defaults of its tenant; a
// problem if it is refused.
[[nodiscard]] std::variant<core::JobSpec, Problem> read_submitted(nlohmann::json document, const Call& call,
                                                                  const RestOptions& options);

// The same of the call's body, a job file as JSON or YAML. Findings in YAML name their lines.
[[nodiscard]] std::variant<core::JobSpec, Problem> read_submitted_file(const Call& call, const RestOptions& options);

// The refusal of a job of this tenant, with a finding about that field where it is refused for its tenant.
[[nodiscard]] Problem naming_tenant(Problem refusal, const std::string& tenant, const Published& seen);

// Reads the body's JSON; a problem if it is none.
[[nodiscard]] std::variant<nlohmann::json, Problem> read_body(const Call& call);

// The job with its ETag.
[[nodiscard]] HttpResponse job_response(int status, Rest& rest, const SeenBy& seen_by, JobId id);

// Puts a command of the job in and answers with the job as it is then.
void send_job_command(Rest& rest, Call call, CommandBody body, JobId id);

// Answers ?dry_run=true with a job that is not stored: as `render_job` has it but for the fields in `changed`.
struct DryRun {
  const core::Job& job;
  nlohmann::json changed;
  std::string would;
};
[[nodiscard]] HttpResponse dry_run_response(const Rest& rest, const SeenBy& seen_by, const DryRun& dry_run);
void reply_dry_run(const Rest& rest, const Call& call, const DryRun& dry_run);

// Why the engine would refuse what a dry run asks for; none: it would carry it out. A copy of the picture's state takes
// the fact, so nothing is stored.
template <class Fact>
[[nodiscard]] std::optional<Problem> why_refused(const Published& seen, const Fact& fact) {
  core::ClusterState trial = seen.state;
  core::StateChange change(trial, seen.now);
  const Status taken = core::apply(change, fact);
  return taken.ok() ? std::nullopt : std::optional(problem_of(taken.error()));
}

// The job of a changing call: found, visible, and as If-Match says, if it repeats no other; null = answered already.
// The call's command is bound to the job as it is here, if If-Match names it.
[[nodiscard]] std::shared_ptr<const core::Job> job_to_change(const Rest& rest, Call& call);

}  // namespace tidepool::live::http
