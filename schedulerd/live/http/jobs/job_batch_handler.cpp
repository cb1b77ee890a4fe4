// POST of many job files at once: stored together in one commit, or not at all.
#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.hpp"
#include "core/explain/waiting_together.hpp"
#include "core/facts/job_facts.hpp"
#include "core/words/wording.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/jobs/job_requests.hpp"
#include "schedulerd/live/http/render.hpp"
#include "schedulerd/live/http/tenant_view.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

constexpr std::size_t kJobsMax = 1'000;

// The job files of the request, at least one.
std::variant<json, Problem> read_files(const Call& call) {
  auto body = read_body(call);
  if (std::holds_alternative<Problem>(body)) return body;
  auto& document = std::get<json>(body);
  std::vector<FieldError> errors;
  ObjectReader in(document, "", errors);
  const json& jobs = in.raw("jobs");
  if (errors.empty() && !jobs.is_array()) {
    in.fail("jobs", jobs.is_null() ? "Missing" : "WrongType", "must be the list of the job files");
  } else if (errors.empty() && (jobs.empty() || jobs.size() > kJobsMax)) {
    in.fail("jobs", "OutOfRange",
            "has " + core::counted(static_cast<int>(jobs.size()), "job file") + "; a batch takes 1 to " +
                std::to_string(kJobsMax));
  }
  in.finish();
  if (errors.empty()) return json(std::move(document["jobs"]));
  const std::string detail = errors.front().message;
  return Problem{.status = 422,
                 .code = "InvalidBatch",
                 .detail = detail,
                 .hint = "send {\"jobs\": [...]} with the documents that POST /v1/jobs takes; nothing was stored",
                 .errors = std::move(errors)};
}

// An entry that is refused, as a submit of it alone would be.
struct RefusedEntry {
  std::size_t index = 0;
  Problem problem;
};

// Where all are refused for their tenant, or until jobs have ended, so is the batch.
int status_of(const std::vector<RefusedEntry>& refused) {
  const auto all_are = [&](int status) {
    return std::all_of(refused.begin(), refused.end(),
                       [&](const RefusedEntry& entry) { return entry.problem.status == status; });
  };
  return all_are(403) ? 403 : all_are(429) ? 429 : 422;
}

Problem batch_problem(const Call& call, std::size_t jobs, const std::vector<RefusedEntry>& refused) {
  const int status = status_of(refused);
  Problem problem{.status = status,
                  .code = "BatchRefused",
                  .detail = std::to_string(refused.size()) + " of " + core::counted(static_cast<int>(jobs), "job") +
                            " refused; the first has index " + std::to_string(refused.front().index) + ": " +
                            refused.front().problem.detail,
                  .hint = (status == 429 ? std::string("submit the batch again once some jobs have ended")
                                         : "correct the refused entries and submit the batch again") +
                          "; nothing was stored",
                  .errors = {},
                  .refused = json::array()};
  for (const auto& [index, why] : refused) {
    problem.errors.push_back({"/jobs/" + std::to_string(index), "Invalid", "is refused: " + why.detail});
    problem.refused.push_back(
        {{"index", index}, {"problem", problem_document(why, call.request.path, call.request.request_id)}});
  }
  return problem;
}

using ReadEntry = std::variant<core::JobSpec, Problem>;

// Those that their reader has refused, and those that the engine would refuse.
std::vector<RefusedEntry> refused_of(const std::vector<ReadEntry>& entries, const Published& seen) {
  std::vector<RefusedEntry> refused;
  core::SubmitCheck check(seen.state);
  for (std::size_t index = 0; index < entries.size(); ++index) {
    if (const auto* problem = std::get_if<Problem>(&entries[index])) {
      refused.push_back({index, *problem});
      continue;
    }
    const auto& spec = std::get<core::JobSpec>(entries[index]);
    const Status taken = check.add(spec);
    if (!taken.ok()) refused.push_back({index, naming_tenant(problem_of_change(taken.error()), spec.tenant, seen)});
  }
  return refused;
}

json texts_of(const std::vector<JobId>& ids) {
  json texts = json::array();
  for (const JobId id : ids) texts.push_back(id.text());
  return texts;
}

// What has been stored, in the order of the files, and what is waited for. A repeated request has as many files as its
// first.
HttpResponse batch_response(const Receipt& receipt, std::size_t jobs, const SeenBy& seen_by) {
  std::vector<JobId> ids;
  const auto first = receipt.job.value_or(JobId()).number();
  for (std::size_t i = 0; i < jobs; ++i) ids.emplace_back(first + i);
  json waits = json::array();
  for (const core::WaitingTogether& each : core::waiting_together(seen_by.seen.state, ids)) {
    waits.push_back(
        {{"reason", without_foreign_jobs(render_reason(each.reason), seen_by)}, {"jobs", texts_of(each.jobs)}});
  }
  return json_response(201, {{"ids", texts_of(ids)}, {"waits", std::move(waits)}, {"as_of_seq", receipt.as_of_seq}});
}

}  // namespace

void submit_jobs(Rest& rest, Call call) {
  auto files = read_files(call);
  if (const auto* problem = std::get_if<Problem>(&files)) return call.fail(*problem);
  std::vector<ReadEntry> entries;
  for (auto& file : std::get<json>(files)) entries.push_back(read_submitted(std::move(file), call, rest.options()));
  const std::size_t jobs = entries.size();
  const auto is_problem = [](const ReadEntry& entry) { return std::holds_alternative<Problem>(entry); };
  if (std::any_of(entries.begin(), entries.end(), is_problem)) {
    return call.fail(batch_problem(call, jobs, refused_of(entries, *call.seen)));
  }
  leader::SubmitJobs command;
  for (const auto& entry : entries) command.specs.push_back(std::get<core::JobSpec>(entry));
  const auto answer = [&rest, jobs, caller = call.caller](const Receipt& receipt, const Published& seen) {
    return batch_response(receipt, jobs, rest.seen_by(seen, caller));
  };
  // The engine names the first; what it has against the others is found in the same way.
  Call asked = call;
  asked.request.body.clear();  // the answer may wait for a while
  auto refusal = [asked = std::move(asked), entries = std::move(entries)](const Error& error, const Published& seen) {
    const auto refused = refused_of(entries, seen);
    return refused.empty() ? problem_of_change(error) : batch_problem(asked, entries.size(), refused);
  };
  rest.command(std::move(call), std::move(command), answer, std::move(refusal));
}

}  // namespace tidepool::live::http
