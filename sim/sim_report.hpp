// The result of a run: its score, a row per job, and the history of each job. Every simulator ends in report_of, so
// that a figure means the same under all of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/scoreboard.hpp"
#include "sim/sharing.hpp"

namespace tidepool::sim {

struct SimReport {
  Scoreboard score;
  std::string per_job_csv;
  std::string decisions_jsonl;     // one decision a line; empty unless requested
  std::string forecasts_json;      // accuracy of forecasts (one object); empty unless they were made
  std::optional<Sharing> sharing;  // of runs whose pool is shared between tenants
  std::vector<JobResult> rows;     // in the workload's order
  std::vector<double> fairness;    // finish-time fairness of each row; 0 = it has not completed
  std::vector<std::string> notes;  // what the workload requests and the run lacks, as sentences
  bool cut_off = false;            // stopped by the limit of simulated time
  std::string trouble;             // why the run says nothing about a policy (run_outcome.hpp); empty = it is valid
};

// Of the result, `rows` and `decision_lines` are copied.
[[nodiscard]] SimReport report_of(const ScoreInput& input);

// The daemon's decisions, one a line, in which each job that is there by its id also has its name, as the rows do.
[[nodiscard]] std::string named_decisions(const SimResult& result);

}  // namespace tidepool::sim
