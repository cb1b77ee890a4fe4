// Runs of several policies over the same workloads and seeds, side by side. A figure of a policy is the mean over
// seeds; policies are compared seed by seed, because two runs of one seed had the same arrivals and faults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "schedctl/words.hpp"
#include "sim/sim_report.hpp"

namespace tidepool::ctl {

struct ComparedRun {
  std::string policy;
  std::string workload;
  std::uint64_t seed = 0;
  sim::SimReport report;
  std::string
      complaint;  // of a policy file that failed in some rounds, or of a run without sound figures; empty = none
};

struct Comparison {
  std::vector<std::string> policies;   // the first is what the others are measured against
  std::vector<std::string> workloads;  // by the name that is printed
  std::vector<std::uint64_t> seeds;
  std::string simulator;
  std::string cluster;
  std::string command;            // that makes it again
  std::vector<ComparedRun> runs;  // workload by workload, policy by policy, seed by seed

  [[nodiscard]] const ComparedRun& run(std::size_t workload, std::size_t policy, std::size_t seed) const {
    return runs[(workload * policies.size() + policy) * seeds.size() + seed];
  }
};

// Only the marked runs, for what goes by rows; there is no table of them.
[[nodiscard]] Comparison comparison_of(const Comparison& comparison, const std::vector<bool>& marked);

// The 95 % confidence interval of a mean (Student's t); of two values, which are too few for one, these values.
struct Spread {
  double low = 0;
  double high = 0;
  bool is_interval = true;
};

// Of a single value there is no spread.
struct Estimate {
  double mean = 0;
  std::optional<Spread> spread;
};
[[nodiscard]] Estimate estimate_of(const std::vector<double>& values);

// The geometric mean of pairwise ratios. Pairs with a zero are left out; none left = nothing.
struct Ratio {
  double mean = 1;
  std::optional<Spread> spread;
};
[[nodiscard]] std::optional<Ratio> ratio_of(const std::vector<double>& values, const std::vector<double>& to);

// What a table shows of a run. Lower is better unless `more_is_better`.
struct Figure {
  const char* name;   // in JSON and the report
  const char* title;  // of the column
  double (*of)(const sim::Scoreboard& score);
  bool more_is_better = false;
  bool is_time = false;
  bool of_completed = false;  // unknown where no job completed
};
[[nodiscard]] const std::vector<Figure>& figures();
// The average completion time; "- (no job completed)" where none did.
[[nodiscard]] std::string average_in_words(const sim::Scoreboard& score);

// What must be known to read a workload's figures right: jobs that did not complete, rounds in which a policy file
// failed, deadlines met, what no policy can reach. Under the table and in the report alike.
[[nodiscard]] std::vector<std::string> remarks_on(const Comparison& comparison, std::size_t workload);

// One table a workload, and one over all of them if there are several; fits 80 columns.
[[nodiscard]] std::string comparison_text(const Comparison& comparison, const Style& style);
[[nodiscard]] nlohmann::ordered_json comparison_json(const Comparison& comparison);
// One row a run, with the policy, workload and seed before the score's own fields.
[[nodiscard]] std::string comparison_csv(const Comparison& comparison);
// One row a job of each run.
[[nodiscard]] std::string comparison_jobs_csv(const Comparison& comparison);

}  // namespace tidepool::ctl
