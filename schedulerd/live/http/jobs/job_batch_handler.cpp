// POST of many job files at once: stored together in one commit, or not at all.
#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.hpp"
#include "core/words/wording.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/jobs/job_requests.hpp"

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

Problem batch_problem(const Call& call, std::size_t jobs, const std::vector<RefusedEntry>& refused) {
  const bool forbidden =
      std::all_of(refused.begin(), refused.end(), [](const auto& entry) { return entry.problem.status == 403; });
  Problem problem{.status = forbidden ? 403 : 422,
                  .code = "BatchRefused",
                  .detail = std::to_string(refused.size()) + " of " + core::counted(static_cast<int>(jobs), "job") +
                            " refused; the first has index " + std::to_string(refused.front().index) + ": " +
                            refused.front().problem.detail,
                  .hint = "correct what is refused and submit the batch again; nothing was stored",
                  .errors = {},
                  .refused = json::array()};
  for (const auto& [index, why] : refused) {
    problem.errors.push_back({"/jobs/" + std::to_string(index), "Invalid", "is refused: " + why.detail});
    problem.refused.push_back(
        {{"index", index}, {"problem", problem_document(why, call.request.path, call.request.request_id)}});
  }
  return problem;
}

// What has been stored, in the order of the files. A repeated request has as many files as its first.
HttpResponse batch_response(const Receipt& receipt, std::size_t jobs) {
  json ids = json::array();
  const auto first = receipt.job.value_or(JobId()).number();
  for (std::size_t i = 0; i < jobs; ++i) ids.push_back(JobId(first + i).text());
  return json_response(201, {{"ids", std::move(ids)}, {"as_of_seq", receipt.as_of_seq}});
}

}  // namespace

void submit_jobs(Rest& rest, Call call) {
  auto files = read_files(call);
  if (const auto* problem = std::get_if<Problem>(&files)) return call.fail(*problem);
  SubmitJobs command;
  std::vector<RefusedEntry> refused;
  for (auto& file : std::get<json>(files)) {
    auto read = read_submitted(std::move(file), call, rest.options());
    if (auto* spec = std::get_if<core::JobSpec>(&read)) {
      command.specs.push_back(std::move(*spec));
    } else {
      refused.push_back({command.specs.size() + refused.size(), std::get<Problem>(std::move(read))});
    }
  }
  const std::size_t jobs = command.specs.size() + refused.size();
  if (!refused.empty()) return call.fail(batch_problem(call, jobs, refused));
  const auto answer = [jobs](const Receipt& receipt, const Published&) { return batch_response(receipt, jobs); };
  rest.command(std::move(call), std::move(command), answer);
}

}  // namespace tidepool::live::http
