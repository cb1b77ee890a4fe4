// What of a comparison goes by rows: a run or a job a line.
#include <algorithm>
#include <string_view>

#include <nlohmann/json.hpp>

#include "schedctl/studies/comparison.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::ordered_json;

// A CSV cell; empty if nothing is known.
std::string cell_of(const ordered_json& value) {
  if (value.is_null()) return "";
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  return text.find(',') == std::string::npos ? text : "\"" + text + "\"";
}

}  // namespace

Comparison comparison_of(const Comparison& comparison, const std::vector<bool>& marked) {
  Comparison some = comparison;
  some.runs.clear();
  for (std::size_t i = 0; i < marked.size(); ++i) {
    if (marked[i]) some.runs.push_back(comparison.runs[i]);
  }
  return some;
}

std::string comparison_csv(const Comparison& comparison) {
  std::vector<ordered_json> scores;
  std::vector<std::string> names;  // of some run at least; a run that does not have one leaves its cell empty
  for (const ComparedRun& run : comparison.runs) {
    const ordered_json& score = scores.emplace_back(sim::to_json(run.report.score));
    for (const auto& [name, value] : score.items()) {
      const bool key = name == "policy" || name == "workload";
      if (!key && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  std::string csv = "policy,workload,seed,simulator";
  for (const std::string& name : names) csv += "," + name;
  csv += "\n";
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const ComparedRun& run = comparison.runs[i];
    csv +=
        cell_of(run.policy) + "," + cell_of(run.workload) + "," + std::to_string(run.seed) + "," + comparison.simulator;
    for (const std::string& name : names) csv += "," + cell_of(scores[i].value(name, ordered_json(nullptr)));
    csv += "\n";
  }
  return csv;
}

std::string comparison_jobs_csv(const Comparison& comparison) {
  std::string csv;
  for (const ComparedRun& run : comparison.runs) {
    std::string_view rest = run.report.per_job_csv;
    const std::size_t header = rest.find('\n') + 1;
    if (csv.empty()) csv = "policy,workload,seed," + std::string(rest.substr(0, header));
    rest.remove_prefix(header);
    const std::string key = cell_of(run.policy) + "," + cell_of(run.workload) + "," + std::to_string(run.seed) + ",";
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n') + 1;
      csv += key + std::string(rest.substr(0, end));
      rest.remove_prefix(end);
    }
  }
  return csv;
}

}  // namespace tidepool::ctl
