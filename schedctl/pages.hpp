// One resource as a page of text: a job, its explanation, and an error answer. Pure.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "schedctl/job_file.hpp"
#include "schedctl/words.hpp"

namespace tidepool::ctl {

// `workers` may be empty.
[[nodiscard]] std::string job_page(const nlohmann::json& job, const nlohmann::json& workers, const Style& style);

// The verdict in a plain sentence first, then evidence, alternatives, and what would change it. With numbers: also
// those of each reason and the scores of sizes, in the policy's own measure.
enum class Detail { kWords, kNumbers };
[[nodiscard]] std::string why_page(const nlohmann::json& explanation, const Style& style,
                                   Detail detail = Detail::kWords);

// A problem+json body as lines for a person; field errors with the line of `file` where known.
struct ProblemSource {
  std::string file;  // "charlm.yaml"; empty = the problem is not about a file
  const FieldLines* lines = nullptr;
  std::vector<ProblemSource> entries;  // of a batch: where each of its entries comes from
};
[[nodiscard]] std::string problem_text(const nlohmann::json& problem, const ProblemSource& source = {});

}  // namespace tidepool::ctl
