// What nodes of a pool cost against how long jobs take, under several rules and settings of one workload: a point each,
// and for each rule the points that no other of it beats in both. A figure is the mean over seeds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "schedctl/words.hpp"

namespace tidepool::ctl {

inline constexpr const char* kFixedRule = "fixed";
inline constexpr const char* kThresholdRule = "threshold";
inline constexpr const char* kBuiltInRule = "built-in";

struct FrontierPoint {
  std::string rule;     // one of the above
  std::string setting;  // "8 nodes", "wait 60s, idle 5m"
  double avg_jct_s = 0;
  double p99_jct_s = 0;
  double avg_queue_s = 0;
  double node_hours = 0;
  double cost = 0;
  double completed = 0;   // jobs, of all seeds together
  std::string complaint;  // of a run without sound figures; empty = none
};

struct Frontier {
  std::string workload;  // by the name that is printed
  std::string policy;
  std::string cluster;
  std::int64_t jobs = 0;  // of one seed
  std::vector<std::uint64_t> seeds;
  std::string command;  // that makes it again
  std::vector<FrontierPoint> points;
};

// Those of the rule that none other of it is at least as good as in both time and node hours; the quickest first.
[[nodiscard]] std::vector<FrontierPoint> best_points(const Frontier& frontier, const std::string& rule);

// Node hours with which the rule has this mean completion time or less: between two of the best points in proportion,
// beyond the slowest those of it. None: it is nowhere so quick.
[[nodiscard]] std::optional<double> node_hours_at(const std::vector<FrontierPoint>& best, double avg_jct_s);

// The built-in rule beside the threshold rule, at each best point of that one.
struct Saving {
  double avg_jct_s = 0;
  double threshold_hours = 0;
  double built_in_hours = 0;
  [[nodiscard]] double share() const { return 1 - built_in_hours / threshold_hours; }
};
[[nodiscard]] std::vector<Saving> savings_of(const Frontier& frontier);

[[nodiscard]] std::string frontier_text(const Frontier& frontier, const Style& style);
[[nodiscard]] nlohmann::ordered_json frontier_json(const Frontier& frontier);
// One row a point.
[[nodiscard]] std::string frontier_csv(const Frontier& frontier);
[[nodiscard]] std::string frontier_html(const Frontier& frontier);

}  // namespace tidepool::ctl
