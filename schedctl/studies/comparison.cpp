#include "schedctl/studies/comparison.hpp"

#include <algorithm>
#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>

#include "schedctl/text_table.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::ordered_json;

// Of fewer values there is no interval: that of two is 13 times as wide as what they span.
constexpr std::size_t kIntervalLeast = 3;

// 97.5 % quantile of Student's t: the factor of a two-sided 95 % interval.
double t_factor(std::size_t values) {
  return boost::math::quantile(boost::math::students_t(static_cast<double>(values - 1)), 0.975);
}

// At most five characters for what is below 100,000.
std::string short_number(double value) {
  std::array<char, 32> buffer{};
  const double size = std::fabs(value);
  const int digits = size >= 99.95 || size == 0 ? 0 : size >= 9.995 ? 1 : 2;
  const int length = std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
  return {buffer.data(), static_cast<std::size_t>(std::max(0, length))};
}

struct TimeUnit {
  const char* name;
  double seconds;
};

// One unit for all times of a table, so that they can be compared at a glance.
TimeUnit unit_for(double typical_s) {
  if (typical_s >= 3 * 86'400) return {"days", 86'400};
  if (typical_s >= 2 * 3'600) return {"hours", 3'600};
  if (typical_s >= 120) return {"minutes", 60};
  return {"seconds", 1};
}

// Seed by seed; 0 where it is not known, which no ratio counts.
std::vector<double> values_of(const Comparison& comparison, std::size_t workload, std::size_t policy,
                              const Figure& figure) {
  std::vector<double> values;
  for (std::size_t seed = 0; seed < comparison.seeds.size(); ++seed) {
    values.push_back(figure.of(comparison.run(workload, policy, seed).report.score));
  }
  return values;
}

// A table tells once what its spreads are, by how many seeds or workloads there are: one of another kind, where figures
// are missing, is left out.
template <class Mean>
Mean with_spread_of(std::size_t count, Mean mean) {
  if (mean.spread && mean.spread->is_interval != (count >= kIntervalLeast)) mean.spread.reset();
  return mean;
}

// Over the seeds in which it is known; nothing if in none.
std::optional<Estimate> known_estimate_of(const Comparison& comparison, std::size_t workload, std::size_t policy,
                                          const Figure& figure) {
  std::vector<double> values;
  for (std::size_t seed = 0; seed < comparison.seeds.size(); ++seed) {
    const sim::Scoreboard& score = comparison.run(workload, policy, seed).report.score;
    if (!figure.of_completed || score.completed > 0) values.push_back(figure.of(score));
  }
  if (values.empty()) return std::nullopt;
  return with_spread_of(comparison.seeds.size(), estimate_of(values));
}

// The mean completion time to that of the first policy.
std::optional<Ratio> ratio_over_seeds(const Comparison& comparison, std::size_t workload, std::size_t policy) {
  const Figure& jct = figures().front();
  const auto ratio = ratio_of(values_of(comparison, workload, policy, jct), values_of(comparison, workload, 0, jct));
  return ratio ? std::optional(with_spread_of(comparison.seeds.size(), *ratio)) : std::nullopt;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// Index of the best policy; nothing if fewer than two are known, or these are all the same.
std::optional<std::size_t> best_of(const std::vector<std::optional<Estimate>>& figures, bool more_is_better) {
  std::optional<std::size_t> best;
  bool differ = false;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (!figures[i]) continue;
    const double mean = figures[i]->mean;
    const double best_mean = best ? figures[*best]->mean : mean;
    differ = differ || mean != best_mean;
    if (!best || (more_is_better ? mean > best_mean : mean < best_mean)) best = i;
  }
  return differ ? best : std::nullopt;
}

double scale_of(const Figure& figure, const TimeUnit& unit) {
  return figure.is_time ? unit.seconds : 1;
}

// The best figure as it is shown, so that figures that read alike are marked alike; nothing if all of them do.
std::optional<std::string> best_shown(const std::vector<std::optional<Estimate>>& estimates, const Figure& figure,
                                      const TimeUnit& unit) {
  const auto best = best_of(estimates, figure.more_is_better);
  if (!best) return std::nullopt;
  const double scale = scale_of(figure, unit);
  const std::string shown = short_number(estimates[*best]->mean / scale);
  const bool differ = std::any_of(estimates.begin(), estimates.end(), [&](const std::optional<Estimate>& each) {
    return each && short_number(each->mean / scale) != shown;
  });
  return differ ? std::optional(shown) : std::nullopt;
}

std::string ratio_text(const std::optional<Ratio>& ratio) {
  return ratio ? short_number(ratio->mean) : "-";
}

std::string spread_text(const std::optional<Ratio>& ratio) {
  if (!ratio || !ratio->spread) return "";
  return short_number(ratio->spread->low) + "-" + short_number(ratio->spread->high);
}

double half_of(const Spread& spread) {
  return (spread.high - spread.low) / 2;
}

std::vector<Column> columns_for(const std::vector<Figure>& shown) {
  std::vector<Column> columns{{.title = "POLICY", .flexible = true}, {.title = "RATIO", .right = true}};
  for (const Figure& figure : shown) columns.push_back({.title = figure.title, .right = true});
  return columns;
}

bool all_seeds_alike(const Comparison& comparison, std::size_t workload) {
  for (std::size_t policy = 0; policy < comparison.policies.size(); ++policy) {
    for (std::size_t seed = 1; seed < comparison.seeds.size(); ++seed) {
      const auto& first = comparison.run(workload, policy, 0).report.score.digest;
      if (comparison.run(workload, policy, seed).report.score.digest != first) return false;
    }
  }
  return comparison.seeds.size() > 1;
}

std::string title_of(const Comparison& comparison, std::size_t workload, const TimeUnit& unit, const Style& style) {
  const sim::Scoreboard& score = comparison.run(workload, 0, 0).report.score;
  const std::string seeds = count_of(static_cast<double>(comparison.seeds.size()), "seed");
  return bold(printable(comparison.workloads[workload]), style) + "  " + whole(static_cast<double>(score.jobs)) +
         " jobs on " + printable(comparison.cluster) + ", simulator: " + comparison.simulator + ", " + seeds +
         ", times in " + unit.name + "\n";
}

void add_policy(TextTable& table, const Comparison& comparison, std::size_t workload, std::size_t policy,
                const TimeUnit& unit, const std::vector<std::optional<std::string>>& best) {
  const auto ratio = ratio_over_seeds(comparison, workload, policy);
  std::vector<std::string> line{comparison.policies[policy], ratio_text(ratio)};
  std::vector<std::string> spread{"", spread_text(ratio)};
  bool any = !spread.back().empty();
  for (std::size_t f = 0; f < figures().size(); ++f) {
    const Figure& figure = figures()[f];
    const double scale = scale_of(figure, unit);
    const auto estimate = known_estimate_of(comparison, workload, policy, figure);
    const bool has_spread = estimate && estimate->spread;
    const std::string shown = estimate ? short_number(estimate->mean / scale) : "-";
    line.push_back(shown + (best[f] == shown ? "*" : " "));
    spread.push_back(has_spread ? "±" + short_number(half_of(*estimate->spread) / scale) + " " : "");
    any = any || has_spread;
  }
  table.add(std::move(line));
  if (any && !all_seeds_alike(comparison, workload)) table.add(std::move(spread));
}

// What is promised to users beside completion times, and how far the figures are from what is possible at all.
std::string deadlines_line(const Comparison& comparison, std::size_t workload) {
  std::string line;
  std::int64_t bound = 0;  // what some policy is charged, another is not
  for (std::size_t policy = 0; policy < comparison.policies.size(); ++policy) {
    std::int64_t met = 0;
    std::int64_t all = 0;
    std::int64_t own_bound = 0;
    for (std::size_t seed = 0; seed < comparison.seeds.size(); ++seed) {
      const sim::Scoreboard& score = comparison.run(workload, policy, seed).report.score;
      met += score.deadlines_met;
      all += score.deadlines;
      own_bound += score.deadlines_bound;
    }
    bound = std::max(bound, own_bound);
    if (all == 0) return "";
    line += (line.empty() ? "deadlines met: " : ", ") + printable(comparison.policies[policy]) + " " +
            whole(static_cast<double>(met)) + " of " + whole(static_cast<double>(all)) + " (" +
            percent(static_cast<double>(met) / static_cast<double>(all)) + ")";
  }
  return bound > 0 ? line + "; no policy meets more than " + whole(static_cast<double>(bound)) : line;
}

std::string bounds_line(const Comparison& comparison, std::size_t workload) {
  const TimeUnit unit = unit_for(mean_of(values_of(comparison, workload, 0, figures().front())));
  std::vector<double> bounds;
  for (std::size_t seed = 0; seed < comparison.seeds.size(); ++seed) {
    const auto& bound = comparison.run(workload, 0, seed).report.score.jct_bound_s;
    if (bound) bounds.push_back(*bound);
  }
  std::string line;
  if (!bounds.empty()) {
    line = "no policy gets AVG JCT below " + short_number(mean_of(bounds) / unit.seconds) + " " + unit.name;
  }
  for (std::size_t policy = 0; policy < comparison.policies.size(); ++policy) {
    std::vector<double> middle;
    std::vector<double> high;
    for (std::size_t seed = 0; seed < comparison.seeds.size(); ++seed) {
      const sim::Scoreboard& score = comparison.run(workload, policy, seed).report.score;
      if (score.gap_p50) middle.push_back(*score.gap_p50 * 100);
      if (score.gap_p99) high.push_back(*score.gap_p99 * 100);
    }
    if (middle.empty()) continue;
    line += (line.empty() ? "" : "; ") + printable(comparison.policies[policy]) + "'s decisions are worth " +
            short_number(mean_of(middle)) + " % (median) to " + short_number(mean_of(high)) +
            " % (99th percentile) less than the best choice of sizes could be";
  }
  return line;
}

std::string completed_line(const Comparison& comparison, std::size_t workload, std::size_t policy) {
  double completed = 0;
  double jobs = 0;
  for (std::size_t seed = 0; seed < comparison.seeds.size(); ++seed) {
    const sim::Scoreboard& score = comparison.run(workload, policy, seed).report.score;
    completed += static_cast<double>(score.completed);
    jobs += static_cast<double>(score.jobs);
  }
  if (completed == jobs) return "";
  if (completed == 0) return printable(comparison.policies[policy]) + ": no job completed, so there are no job times";
  return printable(comparison.policies[policy]) + ": " + whole(completed) + " of " + whole(jobs) +
         " jobs completed; its job times are of those";
}

std::string workload_table(const Comparison& comparison, std::size_t workload, const Style& style) {
  const TimeUnit unit = unit_for(mean_of(values_of(comparison, workload, 0, figures().front())));
  std::vector<std::optional<std::string>> best;
  for (const Figure& figure : figures()) {
    std::vector<std::optional<Estimate>> estimates;
    for (std::size_t policy = 0; policy < comparison.policies.size(); ++policy) {
      estimates.push_back(known_estimate_of(comparison, workload, policy, figure));
    }
    best.push_back(best_shown(estimates, figure, unit));
  }
  TextTable table(columns_for(figures()));
  for (std::size_t policy = 0; policy < comparison.policies.size(); ++policy) {
    add_policy(table, comparison, workload, policy, unit, best);
  }
  std::string out = title_of(comparison, workload, unit, style) + table.text(style);
  for (const std::string& line : remarks_on(comparison, workload)) out += wrapped(line, 2, style) + "\n";
  if (all_seeds_alike(comparison, workload)) out += "Every seed gave the same run: nothing in it is drawn.\n";
  return out;
}

// Each workload counts once: with the mean over its seeds.
std::string overall_table(const Comparison& comparison, const Style& style) {
  const std::size_t count = comparison.workloads.size();
  TextTable table({{.title = "POLICY", .flexible = true},
                   {.title = "AVG JCT", .right = true},
                   {.title = count < kIntervalLeast ? "RANGE" : "95 %", .right = true},
                   {.title = "P99 JCT", .right = true},
                   {.title = "MAKESPAN", .right = true},
                   {.title = "FTF", .right = true}});
  for (std::size_t policy = 0; policy < comparison.policies.size(); ++policy) {
    std::vector<std::string> line{comparison.policies[policy]};
    for (const char* name : {"avg_jct_s", "p99_jct_s", "makespan_s", "ftf_worst"}) {
      const auto figure = std::find_if(figures().begin(), figures().end(),
                                       [&](const Figure& any) { return std::string_view(any.name) == name; });
      std::vector<double> own;
      std::vector<double> first;
      for (std::size_t workload = 0; workload < count; ++workload) {
        own.push_back(known_estimate_of(comparison, workload, policy, *figure).value_or(Estimate()).mean);
        first.push_back(known_estimate_of(comparison, workload, 0, *figure).value_or(Estimate()).mean);
      }
      auto ratio = ratio_of(own, first);
      if (ratio) ratio = with_spread_of(count, *ratio);
      line.push_back(ratio_text(ratio));
      if (line.size() == 2) line.push_back(spread_text(ratio));
    }
    table.add(std::move(line));
  }
  return bold("all workloads", style) + "  ratios to " + printable(comparison.policies.front()) +
         ", geometric mean over " + count_of(static_cast<double>(count), "workload") + "\n" + table.text(style) +
         (count == 2 ? "RANGE is what the ratios of AVG JCT of the two workloads span.\n"
                     : "95 % is the confidence interval of the ratio of AVG JCT over workloads.\n");
}

// What two values span; null: there are fewer, or enough for an interval.
ordered_json range_of(const std::optional<Spread>& spread) {
  return spread && !spread->is_interval ? ordered_json{spread->low, spread->high} : ordered_json(nullptr);
}

ordered_json json_of(const Estimate& estimate) {
  const bool has_interval = estimate.spread && estimate.spread->is_interval;
  ordered_json value{{"mean", estimate.mean}};
  value["half_width_95"] = has_interval ? ordered_json(half_of(*estimate.spread)) : ordered_json(nullptr);
  value["range"] = range_of(estimate.spread);
  return value;
}

ordered_json json_of(const std::optional<Ratio>& ratio) {
  if (!ratio) return nullptr;
  ordered_json value{{"mean", ratio->mean}};
  const bool has_interval = ratio->spread && ratio->spread->is_interval;
  value["low_95"] = has_interval ? ordered_json(ratio->spread->low) : ordered_json(nullptr);
  value["high_95"] = has_interval ? ordered_json(ratio->spread->high) : ordered_json(nullptr);
  value["range"] = range_of(ratio->spread);
  return value;
}

// What ± and the ranges under RATIO mean, if there are any.
std::string spread_note(const Comparison& comparison, bool has_any) {
  if (!has_any) return "";
  return comparison.seeds.size() < kIntervalLeast
             ? ", and ± and the ranges under it span the two seeds, which are too few for an interval"
             : ", and ± and the ranges under it are 95 % intervals over seeds";
}

}  // namespace

Estimate estimate_of(const std::vector<double>& values) {
  Estimate estimate{.mean = mean_of(values), .spread = {}};
  if (values.size() < 2) return estimate;
  if (values.size() < kIntervalLeast) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    estimate.spread = Spread{.low = *least, .high = *most, .is_interval = false};
    return estimate;
  }
  double square = 0;
  for (const double value : values) square += (value - estimate.mean) * (value - estimate.mean);
  const auto n = static_cast<double>(values.size());
  const double half = t_factor(values.size()) * std::sqrt(square / (n - 1) / n);
  estimate.spread = Spread{.low = estimate.mean - half, .high = estimate.mean + half};
  return estimate;
}

std::optional<Ratio> ratio_of(const std::vector<double>& values, const std::vector<double>& to) {
  std::vector<double> logs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] > 0 && to[i] > 0) logs.push_back(std::log(values[i] / to[i]));
  }
  if (logs.empty()) return std::nullopt;
  const Estimate estimate = estimate_of(logs);
  Ratio ratio{.mean = std::exp(estimate.mean), .spread = estimate.spread};
  if (!ratio.spread) return ratio;
  ratio.spread->low = std::exp(ratio.spread->low);
  ratio.spread->high = std::exp(ratio.spread->high);
  return ratio;
}

const std::vector<Figure>& figures() {
  using sim::Scoreboard;
  static const std::vector<Figure> kFigures{
      {.name = "avg_jct_s",
       .title = "AVG JCT",
       .of = [](const Scoreboard& s) { return s.avg_jct_s; },
       .is_time = true,
       .of_completed = true},
      {.name = "p50_jct_s",
       .title = "P50",
       .of = [](const Scoreboard& s) { return s.p50_jct_s; },
       .is_time = true,
       .of_completed = true},
      {.name = "p99_jct_s",
       .title = "P99",
       .of = [](const Scoreboard& s) { return s.p99_jct_s; },
       .is_time = true,
       .of_completed = true},
      {.name = "makespan_s", .title = "SPAN", .of = [](const Scoreboard& s) { return s.makespan_s; }, .is_time = true},
      {.name = "utilization_percent",
       .title = "USE %",
       .of = [](const Scoreboard& s) { return s.utilization * 100; },
       .more_is_better = true},
      {.name = "ftf_worst",
       .title = "FTF",
       .of = [](const Scoreboard& s) { return s.ftf_worst; },
       .of_completed = true},
      {.name = "decision_us_p99", .title = "P99 us", .of = [](const Scoreboard& s) { return s.decision_us_p99; }},
  };
  return kFigures;
}

std::string average_in_words(const sim::Scoreboard& score) {
  return score.completed > 0 ? seconds_in_words(score.avg_jct_s) : "- (no job completed)";
}

std::vector<std::string> remarks_on(const Comparison& comparison, std::size_t workload) {
  std::vector<std::string> remarks;
  for (std::size_t policy = 0; policy < comparison.policies.size(); ++policy) {
    if (std::string line = completed_line(comparison, workload, policy); !line.empty()) remarks.push_back(line);
    for (std::size_t seed = 0; seed < comparison.seeds.size(); ++seed) {
      const ComparedRun& run = comparison.run(workload, policy, seed);
      for (const std::string& note : run.report.notes) {
        const std::string line = "note: " + printable(note);
        if (std::find(remarks.begin(), remarks.end(), line) == remarks.end()) remarks.push_back(line);
      }
      if (!run.complaint.empty())
        remarks.push_back("seed " + std::to_string(run.seed) + ": " + printable(run.complaint));
    }
  }
  for (std::string line : {deadlines_line(comparison, workload), bounds_line(comparison, workload)}) {
    if (!line.empty()) remarks.push_back(std::move(line));
  }
  return remarks;
}

std::string comparison_text(const Comparison& comparison, const Style& style) {
  std::string out;
  for (std::size_t workload = 0; workload < comparison.workloads.size(); ++workload) {
    out += (out.empty() ? "" : "\n") + workload_table(comparison, workload, style);
  }
  if (comparison.workloads.size() > 1) out += "\n" + overall_table(comparison, style);
  const bool spread = out.find("±") != std::string::npos;
  return out + "\n" +
         dim(wrapped("* is the best of its column; RATIO is AVG JCT over that of " +
                         printable(comparison.policies.front()) + spread_note(comparison, spread) +
                         ". AVG JCT, P50, P99: mean, median and 99th percentile of job completion times, from "
                         "submission to end. SPAN: from the first submission to the last end. USE %: of all slot "
                         "time in it, what jobs held. FTF: worst finish-time fairness, the time of a job over what it "
                         "would take alone on an equal share of the slots; above 1 is worse off. P99 us: 99th "
                         "percentile of the time that a decision takes, in microseconds.",
                     0, style),
             style) +
         "\n";
}

ordered_json comparison_json(const Comparison& comparison) {
  auto summary = ordered_json::array();
  for (std::size_t workload = 0; workload < comparison.workloads.size(); ++workload) {
    for (std::size_t policy = 0; policy < comparison.policies.size(); ++policy) {
      ordered_json row{{"workload", comparison.workloads[workload]}, {"policy", comparison.policies[policy]}};
      row["ratio"] = json_of(ratio_over_seeds(comparison, workload, policy));
      for (const Figure& figure : figures()) {
        const auto estimate = known_estimate_of(comparison, workload, policy, figure);
        row[figure.name] = estimate ? json_of(*estimate) : ordered_json(nullptr);
      }
      summary.push_back(std::move(row));
    }
  }
  auto runs = ordered_json::array();
  for (const ComparedRun& run : comparison.runs) {
    ordered_json row = sim::to_json(run.report.score);
    row["policy"] = run.policy;
    row["workload"] = run.workload;
    row["seed"] = run.seed;
    runs.push_back(std::move(row));
  }
  return {{"simulator", comparison.simulator}, {"cluster", comparison.cluster}, {"command", comparison.command},
          {"seeds", comparison.seeds},         {"summary", std::move(summary)}, {"runs", std::move(runs)}};
}

}  // namespace tidepool::ctl
