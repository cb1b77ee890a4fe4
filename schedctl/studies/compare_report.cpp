#include "schedctl/studies/compare_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include <nlohmann/json.hpp>

#include "schedctl/failure.hpp"
#include "webui/report_files.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kQuantiles = 200;
constexpr std::size_t kBins = 240;
constexpr std::size_t kGroupsShown = 7;  // applications with a colour of their own; the others are one

double rounded(double value) {
  return std::round(value * 1'000) / 1'000;
}

// The value that i/kQuantiles of all do not exceed, for each i: the curve of a distribution, whatever its size.
ordered_json quantiles_of(std::vector<double> values) {
  auto curve = ordered_json::array();
  if (values.empty()) return curve;
  std::sort(values.begin(), values.end());
  for (std::size_t i = 0; i <= kQuantiles; ++i) {
    const std::size_t rank = (values.size() * i + kQuantiles - 1) / kQuantiles;
    curve.push_back(rounded(values[std::max<std::size_t>(rank, 1) - 1]));
  }
  return curve;
}

// From the first submission to the last end, in seconds of a run's clock.
struct Span {
  double begin = 0;
  double end = 0;
};

// Mean number of slots held in each of kBins equal parts of the span.
class Usage {
 public:
  explicit Usage(const Span& span) : span_(span), width_(std::max(span.end - span.begin, 1.0) / kBins), bins_(kBins) {}

  void add(const sim::JobResult& row) {
    for (std::size_t i = 0; i < row.held.size(); ++i) {
      const double until = i + 1 < row.held.size() ? row.held[i + 1].at_s : row.finished_s.value_or(span_.end);
      if (row.held[i].slots > 0) add(row.held[i].at_s - span_.begin, until - span_.begin, row.held[i].slots);
    }
  }
  [[nodiscard]] ordered_json values() const {
    auto all = ordered_json::array();
    for (const double value : bins_) all.push_back(rounded(value / width_));
    return all;
  }
  [[nodiscard]] double sum() const { return std::accumulate(bins_.begin(), bins_.end(), 0.0); }

 private:
  void add(double from, double until, int slots) {
    const auto first = static_cast<std::size_t>(std::max(0.0, from) / width_);
    for (std::size_t bin = first; bin < kBins && static_cast<double>(bin) * width_ < until; ++bin) {
      const double low = std::max(from, static_cast<double>(bin) * width_);
      const double high = std::min(until, static_cast<double>(bin + 1) * width_);
      if (high > low) bins_[bin] += slots * (high - low);
    }
  }

  Span span_;
  double width_;
  std::vector<double> bins_;
};

Span span_of(const Comparison& comparison, std::size_t workload) {
  std::optional<Span> span;
  for (std::size_t policy = 0; policy < comparison.policies.size(); ++policy) {
    for (const sim::JobResult& row : comparison.run(workload, policy, 0).report.rows) {
      if (!span) span = Span{row.submitted_s, row.submitted_s};
      span->begin = std::min(span->begin, row.submitted_s);
      span->end = std::max(span->end, row.finished_s.value_or(row.submitted_s));
      if (!row.held.empty()) span->end = std::max(span->end, row.held.back().at_s);
    }
  }
  return span.value_or(Span());
}

// By application, the largest first; what is beyond kGroupsShown is one group.
ordered_json stacked(const sim::SimReport& report, const Span& span) {
  std::map<std::string, Usage> by_group;
  for (const sim::JobResult& row : report.rows) {
    by_group.try_emplace(row.application.empty() ? "jobs" : row.application, Usage(span)).first->second.add(row);
  }
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, usage] : by_group) order.emplace_back(-usage.sum(), name);
  std::sort(order.begin(), order.end());
  auto groups = ordered_json::array();
  Usage others(span);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i >= kGroupsShown && order.size() > kGroupsShown + 1) continue;
    groups.push_back({{"name", order[i].second}, {"slots", by_group.at(order[i].second).values()}});
  }
  if (order.size() <= kGroupsShown + 1) return groups;
  std::map<std::string, bool> shown;
  for (std::size_t i = 0; i < kGroupsShown; ++i) shown[order[i].second] = true;
  for (const sim::JobResult& row : report.rows) {
    if (!shown.contains(row.application.empty() ? "jobs" : row.application)) others.add(row);
  }
  groups.push_back({{"name", std::to_string(order.size() - kGroupsShown) + " others"}, {"slots", others.values()}});
  return groups;
}

ordered_json policy_data(const Comparison& comparison, std::size_t workload, std::size_t policy, const Span& span) {
  std::vector<double> jct;
  std::vector<double> fairness;
  for (std::size_t seed = 0; seed < comparison.seeds.size(); ++seed) {
    const sim::SimReport& report = comparison.run(workload, policy, seed).report;
    for (std::size_t i = 0; i < report.rows.size(); ++i) {
      const sim::JobResult& row = report.rows[i];
      if (!row.finished_s || row.state != core::JobState::kSucceeded) continue;
      jct.push_back(*row.finished_s - row.submitted_s);
      fairness.push_back(report.fairness[i]);
    }
  }
  const sim::SimReport& first = comparison.run(workload, policy, 0).report;
  Usage all(span);
  for (const sim::JobResult& row : first.rows) all.add(row);
  return {{"policy", comparison.policies[policy]},
          {"completed", first.score.completed},
          {"jct_s", quantiles_of(std::move(jct))},
          {"fairness", quantiles_of(std::move(fairness))},
          {"slots", all.values()},
          {"groups", stacked(first, span)}};
}

// JSON inside a script element: no text in it may look like the element's end.
std::string script_safe(const std::string& json) {
  std::string safe;
  for (const char letter : json) {
    if (letter == '<') {
      safe += "\\u003c";
    } else {
      safe += letter;
    }
  }
  return safe;
}

std::string_view part_named(std::string_view path) {
  for (const auto& file : webui::report_files()) {
    if (file.path == path) return file.bytes;
  }
  return {};
}

}  // namespace

void require_report_parts() {
  if (!part_named("/report.js").empty()) return;
  fail(kExitUsage,
       "this schedctl was built without the web parts that a report needs; build it with npm at hand and "
       "-DTIDEPOOL_WEBUI=ON, or leave out --html");
}

ordered_json report_data(const Comparison& comparison) {
  ordered_json data = comparison_json(comparison);
  data["policies"] = comparison.policies;
  auto workloads = ordered_json::array();
  for (std::size_t workload = 0; workload < comparison.workloads.size(); ++workload) {
    const Span span = span_of(comparison, workload);
    auto policies = ordered_json::array();
    for (std::size_t policy = 0; policy < comparison.policies.size(); ++policy) {
      policies.push_back(policy_data(comparison, workload, policy, span));
    }
    workloads.push_back({{"name", comparison.workloads[workload]},
                         {"jobs", comparison.run(workload, 0, 0).report.score.jobs},
                         {"end_s", span.end - span.begin},
                         {"remarks", remarks_on(comparison, workload)},
                         {"policies", std::move(policies)}});
  }
  data["workloads"] = std::move(workloads);
  return data;
}

std::string comparison_html(const Comparison& comparison) {
  return report_page("Policies compared - Tidepool", report_data(comparison));
}

std::string report_page(const std::string& title, const ordered_json& data) {
  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
      "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
      "<title>" +
      title + "</title>\n<style>\n";
  html += part_named("/report.css");
  html += "</style>\n</head>\n<body>\n<div id=\"app\"></div>\n<script type=\"application/json\" id=\"data\">";
  html += script_safe(data.dump());
  html += "</script>\n<script>\n";
  html += part_named("/report.js");
  html += "</script>\n</body>\n</html>\n";
  return html;
}

}  // namespace tidepool::ctl
