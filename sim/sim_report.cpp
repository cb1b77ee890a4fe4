#include "sim/sim_report.hpp"

namespace tidepool::sim {

SimReport report_of(const ScoreInput& input) {
  SimReport report{.score = score(input),
                   .per_job_csv = per_job_csv(input.result.rows),
                   .rows = input.result.rows,
                   .fairness = finish_time_fairness(input),
                   .cut_off = input.result.cut_off};
  for (const std::string& line : input.result.decision_lines) report.decisions_jsonl += line + "\n";
  return report;
}

}  // namespace tidepool::sim
