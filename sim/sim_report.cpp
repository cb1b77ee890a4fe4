#include "sim/sim_report.hpp"

#include <map>

#include <nlohmann/json.hpp>

namespace tidepool::sim {
namespace {

using nlohmann::ordered_json;

void add_names(ordered_json& value, const std::map<std::string, std::string>& names) {
  if (!value.is_structured()) return;
  for (ordered_json& part : value) add_names(part, names);
  if (!value.is_object() || !value.contains("job") || !value.at("job").is_string()) return;
  const auto name = names.find(value.at("job").get<std::string>());
  if (name != names.end()) value["name"] = name->second;
}

}  // namespace

SimReport report_of(const ScoreInput& input) {
  SimReport report{.score = score(input),
                   .per_job_csv = per_job_csv(input.result.rows),
                   .rows = input.result.rows,
                   .fairness = finish_time_fairness(input),
                   .cut_off = input.result.cut_off};
  for (const std::string& line : input.result.decision_lines) report.decisions_jsonl += line + "\n";
  return report;
}

std::string named_decisions(const SimResult& result) {
  std::map<std::string, std::string> names;
  for (const JobResult& row : result.rows) names.emplace(row.id.text(), row.name);
  std::string lines;
  for (const std::string& line : result.decision_lines) {
    ordered_json decision = ordered_json::parse(line);
    add_names(decision, names);
    lines += decision.dump() + "\n";
  }
  return lines;
}

}  // namespace tidepool::sim
