#include "sim/scoreboard.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/digest.hpp"
#include "core/state/node_constraints.hpp"
#include "sim/text_lines.hpp"

namespace tidepool::sim {
namespace {

bool completed(const JobResult& row) {
  return row.state == core::JobState::kSucceeded && row.finished_s.has_value();
}

template <class Number>
double mean(const std::vector<Number>& values) {
  double sum = 0;
  for (const Number value : values) sum += static_cast<double>(value);
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// Nearest rank: the smallest value that at least `share` of all do not exceed.
template <class Number>
double percentile(std::vector<Number> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  return static_cast<double>(values[static_cast<std::size_t>(std::max(1.0, rank)) - 1]);
}

// How many jobs were in the system at each time, as a step function with its integral.
class Crowd {
 public:
  Crowd(const std::vector<JobResult>& rows, double end) {
    std::vector<std::pair<double, int>> changes;
    for (const JobResult& row : rows) {
      changes.emplace_back(row.submitted_s, 1);
      changes.emplace_back(row.finished_s.value_or(end), -1);
    }
    std::sort(changes.begin(), changes.end());
    double integral = 0;
    double before = 0;
    int present = 0;
    for (const auto& [at, change] : changes) {
      integral += present * (at - before);
      before = at;
      present += change;
      points_.push_back({at, integral, present});
    }
  }

  [[nodiscard]] double mean_between(double from, double to) const {
    return to <= from ? 1 : std::max(1.0, (integral_at(to) - integral_at(from)) / (to - from));
  }

 private:
  struct Point {
    double at;
    double integral;
    int present;
  };
  [[nodiscard]] double integral_at(double at) const {
    const auto after = std::upper_bound(points_.begin(), points_.end(), at,
                                        [](double value, const Point& point) { return value < point.at; });
    if (after == points_.begin()) return 0;
    const Point& last = *std::prev(after);
    return last.integral + last.present * (at - last.at);
  }
  std::vector<Point> points_;
};

// The fastest slots of each type. Nodes of which nothing is told compute as the jobs' truths say.
class Speeds {
 public:
  explicit Speeds(const std::vector<NodeKind>& kinds) {
    for (const NodeKind& kind : kinds) {
      double& speed = by_type_[kind.slot_type];
      speed = std::max(speed, kind.speed);
    }
  }
  [[nodiscard]] double best_for(const core::JobSpec& spec) const {
    double best = 0;
    for (const auto& [type, speed] : by_type_) {
      if (core::takes_slot_type(spec.slot_types, type)) best = std::max(best, speed);
    }
    return best > 0 ? best : 1;
  }

 private:
  std::map<std::string, double> by_type_;
};

// How long the job takes alone on `share` slots of such a speed: at its fastest allowed size within them; with less
// than its smallest size it would run that share of the time.
double alone_seconds(const SimJob& job, double share, double speed) {
  double best = 0;  // steps a second
  for (const int size : job.spec.elastic.sizes) {
    const double slots = static_cast<double>(size) * job.spec.gpus_per_worker;
    const double stretch = std::min(1.0, share / slots);
    if (stretch < 1 && size != job.spec.elastic.sizes.front()) break;
    best = std::max(best, stretch / step_seconds(job.truth, size, 1 / speed));
  }
  return static_cast<double>(steps_of(job.truth)) / best;
}

std::string text(const std::optional<double>& value) {
  return value ? short_text(*value) : "";
}

nlohmann::ordered_json known(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

// A 0 would read as the best of all.
nlohmann::ordered_json of_some(std::int64_t jobs, double value) {
  return known(jobs > 0 ? std::optional(value) : std::nullopt);
}

Scoreboard::PoolBill bill_of(const std::vector<NodeLife>& nodes) {
  Scoreboard::PoolBill bill{.nodes = static_cast<std::int64_t>(nodes.size())};
  for (const NodeLife& node : nodes) {
    bill.never_joined += node.joined ? 0 : 1;
    bill.node_hours += node.hours();
    bill.cost += node.cost();
  }
  return bill;
}

double slot_seconds_of(const std::vector<NodeLife>& nodes) {
  double sum = 0;
  for (const NodeLife& node : nodes) sum += node.hours() * 3'600 * node.slots;
  return sum;
}

// What every board has.
nlohmann::ordered_json json_of_all(const Scoreboard& board) {
  return {{"policy", board.policy},
          {"workload", board.workload},
          {"cluster", board.cluster},
          {"jobs", board.jobs},
          {"completed", board.completed},
          {"avg_jct_s", of_some(board.completed, board.avg_jct_s)},
          {"p50_jct_s", of_some(board.completed, board.p50_jct_s)},
          {"p90_jct_s", of_some(board.completed, board.p90_jct_s)},
          {"p99_jct_s", of_some(board.completed, board.p99_jct_s)},
          {"makespan_s", board.makespan_s},
          {"avg_queue_s", of_some(board.started, board.avg_queue_s)},
          {"gpu_hours", board.gpu_hours},
          {"utilization", board.utilization},
          {"resizes", board.resizes},
          {"preemptions", board.preemptions},
          {"ftf_worst", of_some(board.completed, board.ftf_worst)},
          {"ftf_unfair_fraction", of_some(board.completed, board.ftf_unfair_fraction)},
          {"jct_bound_s", known(board.jct_bound_s)},
          {"gap_p50", known(board.gap_p50)},
          {"gap_p99", known(board.gap_p99)},
          {"decisions", board.decisions},
          {"decision_us_p50", board.decision_us_p50},
          {"decision_us_p99", board.decision_us_p99},
          {"wall_s", board.wall_s},
          {"digest", board.digest}};
}

}  // namespace

std::function<double(std::size_t, double)> alone_in(const Workload& workload, const std::vector<NodeKind>& kinds) {
  return [&workload, speeds = Speeds(kinds)](std::size_t row, double slots) {
    const SimJob& job = workload.jobs[row];
    return alone_seconds(job, slots, speeds.best_for(job.spec));
  };
}

std::vector<double> finish_time_fairness(const ScoreInput& input) {
  const auto& rows = input.result.rows;
  const Crowd crowd(rows, input.result.end.to_seconds());
  std::vector<double> fairness;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!completed(rows[i])) {
      fairness.push_back(0);
      continue;
    }
    const double present = crowd.mean_between(rows[i].submitted_s, *rows[i].finished_s);
    const double alone = input.alone_seconds(i, input.cluster.slots() / present);
    fairness.push_back((*rows[i].finished_s - rows[i].submitted_s) / alone);
  }
  return fairness;
}

Scoreboard score(const ScoreInput& input) {
  const SimResult& result = input.result;
  Scoreboard board{.policy = input.policy, .workload = input.workload, .cluster = input.cluster.text()};
  std::vector<double> jct;
  std::vector<double> queue;
  double first = 0;
  double last = 0;
  double slot_seconds = 0;
  for (const JobResult& row : result.rows) {
    if (board.jobs++ == 0 || row.submitted_s < first) first = row.submitted_s;
    last = std::max(last, row.finished_s.value_or(result.end.to_seconds()));
    slot_seconds += row.slot_seconds;
    board.resizes += row.resizes;
    board.preemptions += row.preemptions;
    if (row.started_s) queue.push_back(*row.started_s - row.submitted_s);
    if (completed(row)) jct.push_back(*row.finished_s - row.submitted_s);
    if (!row.deadline_s) continue;
    ++board.deadlines;
    board.deadlines_met += completed(row) && *row.finished_s <= *row.deadline_s ? 1 : 0;
  }
  board.completed = static_cast<std::int64_t>(jct.size());
  board.started = static_cast<std::int64_t>(queue.size());
  board.avg_jct_s = mean(jct);
  board.p50_jct_s = percentile(jct, 0.5);
  board.p90_jct_s = percentile(jct, 0.9);
  board.p99_jct_s = percentile(jct, 0.99);
  board.avg_queue_s = mean(queue);
  board.makespan_s = last - first;
  board.gpu_hours = slot_seconds / 3'600;
  double slot_seconds_there = input.cluster.slots() * board.makespan_s;
  if (result.nodes) {
    board.bill = bill_of(*result.nodes);
    slot_seconds_there = input.fixed_slots * board.makespan_s + slot_seconds_of(*result.nodes);
  }
  if (slot_seconds_there > 0) board.utilization = slot_seconds / slot_seconds_there;
  std::int64_t unfair = 0;
  for (const double ftf : finish_time_fairness(input)) {
    board.ftf_worst = std::max(board.ftf_worst, ftf);
    unfair += ftf > 1 ? 1 : 0;
  }
  if (!jct.empty()) board.ftf_unfair_fraction = static_cast<double>(unfair) / static_cast<double>(jct.size());
  board.jct_bound_s = input.jct_bound_s;
  board.deadlines_bound = input.deadlines_bound;
  if (!result.gaps.empty()) {
    board.gap_p50 = percentile(result.gaps, 0.5);
    board.gap_p99 = percentile(result.gaps, 0.99);
  }
  board.faults = result.faults;
  board.decisions = result.decisions;
  board.decision_us_p50 = percentile(result.decide_ns, 0.5) / 1e3;
  board.decision_us_p99 = percentile(result.decide_ns, 0.99) / 1e3;
  board.wall_s = input.wall_s;
  board.digest = hex_of(result.digest);
  return board;
}

nlohmann::ordered_json to_json(const Scoreboard& board) {
  nlohmann::ordered_json json = json_of_all(board);
  if (board.deadlines > 0) {
    json["deadlines"] = board.deadlines;
    json["deadlines_met"] = board.deadlines_met;
    json["deadline_ratio"] = static_cast<double>(board.deadlines_met) / static_cast<double>(board.deadlines);
    if (board.deadlines_bound > 0) json["deadlines_bound"] = board.deadlines_bound;
  }
  if (board.faults > 0) json["faults"] = board.faults;
  if (board.bill) {
    json["nodes"] = board.bill->nodes;
    json["nodes_never_joined"] = board.bill->never_joined;
    json["node_hours"] = board.bill->node_hours;
    json["cost"] = board.bill->cost;
  }
  return json;
}
std::string per_job_csv(const std::vector<JobResult>& rows) {
  std::string csv =
      "name,application,tenant,state,submitted_s,started_s,finished_s,queue_s,jct_s,slot_hours,resizes,preemptions,"
      "steps,deadline_s\n";
  for (const JobResult& row : rows) {
    const auto since_submission = [&](const std::optional<double>& at) {
      return at ? std::optional(*at - row.submitted_s) : std::nullopt;
    };
    csv += row.name + "," + row.application + "," + row.tenant + "," + core::to_text(row.state) + "," +
           text(row.submitted_s) + "," + text(row.started_s) + "," + text(row.finished_s) + "," +
           text(since_submission(row.started_s)) + "," + text(since_submission(row.finished_s)) + "," +
           text(row.slot_seconds / 3'600) + "," + std::to_string(row.resizes) + "," + std::to_string(row.preemptions) +
           "," + std::to_string(row.steps) + "," + text(row.deadline_s) + "\n";
  }
  return csv;
}

}  // namespace tidepool::sim
