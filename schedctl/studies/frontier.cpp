#include "schedctl/studies/frontier.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <tuple>

#include <nlohmann/json.hpp>

#include "schedctl/studies/compare_report.hpp"
#include "schedctl/text_table.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::ordered_json;

constexpr std::array kRules{kFixedRule, kThresholdRule, kBuiltInRule};

std::string with_digits(double value, int digits) {
  std::array<char, 40> buffer{};
  const int length = std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
  return {buffer.data(), static_cast<std::size_t>(std::max(0, length))};
}

bool is_best(const std::vector<FrontierPoint>& best, const FrontierPoint& point) {
  return std::ranges::any_of(best, [&](const FrontierPoint& any) { return any.setting == point.setting; });
}

ordered_json json_of(const FrontierPoint& point, bool best) {
  return {{"rule", point.rule},
          {"setting", point.setting},
          {"avg_jct_s", point.avg_jct_s},
          {"p99_jct_s", point.p99_jct_s},
          {"avg_queue_s", point.avg_queue_s},
          {"node_hours", point.node_hours},
          {"cost", point.cost},
          {"best", best}};
}

std::string savings_text(const Frontier& frontier) {
  const std::vector<Saving> savings = savings_of(frontier);
  if (savings.empty()) return "";
  double sum = 0;
  double least = std::numeric_limits<double>::max();
  for (const Saving& saving : savings) {
    sum += saving.share();
    least = std::min(least, saving.share());
  }
  return "At the mean completion times of the threshold rule's best points the built-in rule needs " +
         with_digits(100 * sum / static_cast<double>(savings.size()), 1) + " % fewer node hours on average, " +
         with_digits(100 * least, 1) + " % at the least.";
}

}  // namespace

std::vector<FrontierPoint> best_points(const Frontier& frontier, const std::string& rule) {
  std::vector<FrontierPoint> all;
  for (const FrontierPoint& point : frontier.points) {
    if (point.rule == rule && point.complaint.empty()) all.push_back(point);
  }
  std::ranges::sort(all, {},
                    [](const FrontierPoint& any) { return std::tuple(any.avg_jct_s, any.node_hours, any.setting); });
  std::vector<FrontierPoint> best;
  for (const FrontierPoint& point : all) {
    if (best.empty() || point.node_hours < best.back().node_hours) best.push_back(point);
  }
  return best;
}

std::optional<double> node_hours_at(const std::vector<FrontierPoint>& best, double avg_jct_s) {
  if (best.empty() || avg_jct_s < best.front().avg_jct_s) return std::nullopt;
  for (std::size_t i = 1; i < best.size(); ++i) {
    if (avg_jct_s >= best[i].avg_jct_s) continue;
    const double part = (avg_jct_s - best[i - 1].avg_jct_s) / (best[i].avg_jct_s - best[i - 1].avg_jct_s);
    return best[i - 1].node_hours + part * (best[i].node_hours - best[i - 1].node_hours);
  }
  return best.back().node_hours;
}

std::vector<Saving> savings_of(const Frontier& frontier) {
  const std::vector<FrontierPoint> built_in = best_points(frontier, kBuiltInRule);
  std::vector<Saving> savings;
  for (const FrontierPoint& point : best_points(frontier, kThresholdRule)) {
    const auto hours = node_hours_at(built_in, point.avg_jct_s);
    if (hours) savings.push_back({point.avg_jct_s, point.node_hours, *hours});
  }
  return savings;
}

std::string frontier_text(const Frontier& frontier, const Style& style) {
  TextTable table({{.title = "RULE"},
                   {.title = "SETTING", .flexible = true},
                   {.title = "AVG JCT s", .right = true},
                   {.title = "P99 s", .right = true},
                   {.title = "WAIT s", .right = true},
                   {.title = "NODE h", .right = true},
                   {.title = "COST", .right = true}});
  for (const char* rule : kRules) {
    const std::vector<FrontierPoint> best = best_points(frontier, rule);
    for (const FrontierPoint& point : frontier.points) {
      if (point.rule != rule) continue;
      table.add({rule, point.setting, whole(point.avg_jct_s), whole(point.p99_jct_s), whole(point.avg_queue_s),
                 whole(point.node_hours) + (is_best(best, point) ? "*" : " "), whole(point.cost)});
    }
  }
  std::string out = bold(printable(frontier.workload), style) + "  " + whole(static_cast<double>(frontier.jobs)) +
                    " jobs, " + printable(frontier.cluster) + ", policy " + printable(frontier.policy) + ", " +
                    count_of(static_cast<double>(frontier.seeds.size()), "seed") + "\n" + table.text(style);
  for (const FrontierPoint& point : frontier.points) {
    if (!point.complaint.empty()) out += wrapped(point.setting + ": " + printable(point.complaint), 2, style) + "\n";
  }
  if (const std::string savings = savings_text(frontier); !savings.empty()) out += wrapped(savings, 0, style) + "\n";
  return out +
         dim(wrapped("* no other setting of the rule is at least as good in both AVG JCT and NODE h. Nodes are "
                     "billed from being asked for until they are gone.",
                     0, style),
             style) +
         "\n";
}

ordered_json frontier_json(const Frontier& frontier) {
  auto points = ordered_json::array();
  for (const char* rule : kRules) {
    const std::vector<FrontierPoint> best = best_points(frontier, rule);
    for (const FrontierPoint& point : frontier.points) {
      if (point.rule == rule) points.push_back(json_of(point, is_best(best, point)));
    }
  }
  auto savings = ordered_json::array();
  for (const Saving& saving : savings_of(frontier)) {
    savings.push_back({{"avg_jct_s", saving.avg_jct_s},
                       {"threshold_hours", saving.threshold_hours},
                       {"built_in_hours", saving.built_in_hours},
                       {"share", saving.share()}});
  }
  return {{"workload", frontier.workload}, {"jobs", frontier.jobs},        {"policy", frontier.policy},
          {"cluster", frontier.cluster},   {"command", frontier.command},  {"seeds", frontier.seeds},
          {"points", std::move(points)},   {"savings", std::move(savings)}};
}

std::string frontier_csv(const Frontier& frontier) {
  std::string csv = "rule,setting,avg_jct_s,p99_jct_s,avg_queue_s,node_hours,cost,best\n";
  const ordered_json all = frontier_json(frontier);
  for (const auto& point : all.at("points")) {
    std::string line;
    for (const auto& [name, value] : point.items()) {
      line += (line.empty() ? "" : ",") + (name == "rule" ? value.get<std::string>() : value.dump());
    }
    csv += line + "\n";
  }
  return csv;
}

std::string frontier_html(const Frontier& frontier) {
  return report_page("Rules for nodes compared - Tidepool", {{"frontier", frontier_json(frontier)}});
}

}  // namespace tidepool::ctl
