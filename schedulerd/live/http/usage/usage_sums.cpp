#include "schedulerd/live/http/usage/usage_sums.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "core/state/account.hpp"
#include "core/state/utc_time.hpp"
#include "schedulerd/live/http/numbers/job_use.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

constexpr std::string_view kLabel = "label:";
constexpr std::size_t kKeysMost = 6;
constexpr std::string_view kClass = "class";  // of what slots were held for: an overhead, or
constexpr std::string_view kUseful = "useful";
constexpr std::array kKeys = {std::string_view("tenant"),
                              std::string_view("job"),
                              std::string_view("name"),
                              std::string_view("label"),
                              std::string_view("day"),
                              std::string_view("type"),
                              kClass};

// "project=x,team=y"
std::string all_labels(const core::Job& job) {
  std::string text;
  for (const auto& [key, value] : job.spec.labels) text += (text.empty() ? "" : ",") + key + "=" + value;
  return text;
}

std::string value_of(const core::Job& job, const std::string& key, std::int64_t day) {
  if (key == "tenant") return job.spec.tenant;
  if (key == "job") return job.id.text();
  if (key == "name") return job.spec.name;
  if (key == "day") return date_text(day);
  if (key == "type") return job.measurements.slot_type;
  if (key == "label") return all_labels(job);
  if (key == kClass) return {};  // told apart where the row is made
  const auto label = job.spec.labels.find(key.substr(kLabel.size()));
  return label == job.spec.labels.end() ? std::string() : label->second;
}

json used_body(const core::Used& used) {
  return {{"slot_seconds", slot_seconds(used.slot_time)}, {"cost", to_text(used.cost)}};
}

json sum_body(std::int64_t jobs, const core::Used& used) {
  json body = used_body(used);
  body["jobs"] = jobs;
  return body;
}

json by_body(const std::vector<std::string>& keys, const std::vector<std::string>& values) {
  json by = json::object();
  for (std::size_t i = 0; i < keys.size(); ++i) by[keys[i]] = values[i];
  return by;
}

// Of those that are asked for, what slots have that no job holds, and their class.
std::vector<std::string> pool_keys(const std::vector<std::string>& keys) {
  std::vector<std::string> kept;
  for (const std::string& key : keys) {
    if (key == "day" || key == "type") kept.push_back(key);
  }
  kept.emplace_back(kClass);
  return kept;
}

Result<DayRange> window_of(const std::string& window, std::int64_t today) {
  if (window == "day") return DayRange{today, today};
  if (window == "week") return DayRange{week_of(today), week_of(today) + 6};
  if (window.empty() || window == "month") return DayRange{month_of(today), next_month_of(today) - 1};
  return invalid_argument("window is day, week or month, not \"" + window + "\"");
}

}  // namespace

Result<DayRange> read_range(const AskedRange& asked, std::int64_t today) {
  if (asked.from.empty() && asked.to.empty()) return window_of(asked.window, today);
  if (!asked.window.empty()) return invalid_argument("give window, or from and to");
  if (asked.from.empty()) return invalid_argument("to needs from, the first day");
  const auto from = parse_date(asked.from);
  if (!from.ok()) return from.error();
  if (*from > today) {
    return invalid_argument("from, the first day, is " + date_text(*from) + ", and today is " + date_text(today) +
                            " in UTC: nothing has been used on days to come; give a day up to today");
  }
  const auto to = asked.to.empty() ? Result<std::int64_t>(today) : parse_date(asked.to);
  if (!to.ok()) return to.error();
  if (*to < *from) return invalid_argument("to, the last day, is before from");
  return DayRange{*from, *to};
}

Result<std::vector<std::string>> read_keys(std::string_view text) {
  std::vector<std::string> keys;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    std::string key(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool is_label = key.starts_with(kLabel) && key.size() > kLabel.size();
    if (!is_label && std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
      return invalid_argument("by \"" + key +
                              "\" is not known; it is of tenant, job, name, label, label:KEY, day, type, class");
    }
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) return invalid_argument("by has " + key + " twice");
    keys.push_back(std::move(key));
  }
  if (keys.size() > kKeysMost) return invalid_argument("by has at most 6 keys");
  if (keys.empty()) keys.emplace_back("tenant");
  return keys;
}

void UsageSums::add(const core::ClusterState& state, const core::Job& job, const core::Account& account) {
  const auto until = [&](std::int64_t day) {
    return Slice{core::used_until(state, account, day), core::overheads_until(state, account, day)};
  };
  const bool by_day = std::find(keys_.begin(), keys_.end(), "day") != keys_.end();
  const Slice first = until(range_.from - 1);
  Slice before = first;
  const auto count = [&](std::int64_t day, const Slice& now) {
    const Slice slice{now.used - before.used, now.overheads - before.overheads};
    if (slice != Slice()) add_slice(job, day, slice);
    before = now;
  };
  for (const core::DayMark& mark : account.days) {
    if (by_day && mark.day >= range_.from && mark.day < range_.to) count(mark.day, until(mark.day));
  }
  const Slice last = until(range_.to);
  count(std::min(range_.to, core::day_in_utc(state, account.charged_until)), last);
  if (last.used.slot_time == first.used.slot_time) return;
  ++total_.jobs;
  total_.used = total_.used + (last.used - first.used);
}

void UsageSums::add_slice(const core::Job& job, std::int64_t day, const Slice& slice) {
  std::vector<std::string> values;
  values.reserve(keys_.size());
  for (const std::string& key : keys_) values.push_back(value_of(job, key, day));
  const auto class_at = std::find(keys_.begin(), keys_.end(), kClass);
  if (class_at == keys_.end()) return add_row(values, slice.used);
  std::string& name = values[static_cast<std::size_t>(class_at - keys_.begin())];
  for (const core::Overhead overhead : core::kOverheads) {
    name = core::to_text(overhead);
    if (slice.overheads[overhead] != core::Used()) add_row(values, slice.overheads[overhead]);
  }
  name = kUseful;
  add_row(values, slice.used - slice.overheads.total());
}

void UsageSums::add_row(const std::vector<std::string>& values, core::Used used) {
  Sum& row = rows_[values];
  ++row.jobs;
  row.used = row.used + used;
}

void UsageSums::add_pool(const core::PoolLedger& ledger) {
  pool_.emplace();
  const std::vector<std::string> keys = pool_keys(keys_);
  core::for_each_use(ledger, range_.from, range_.to,
                     [&](std::int64_t day, const std::string& type, core::PoolClass of, const core::Used& used) {
                       std::vector<std::string> values;
                       for (const std::string& key : keys) {
                         values.push_back(key == "day" ? date_text(day) : key == "type" ? type : core::to_text(of));
                       }
                       core::Used& row = (*pool_)[values];
                       row = row + used;
                     });
}

json UsageSums::pool_body() const {
  if (!pool_) return nullptr;
  const std::vector<std::string> keys = pool_keys(keys_);
  json rows = json::array();
  core::Used total;
  for (const auto& [values, used] : *pool_) {
    json row = used_body(used);
    row["by"] = by_body(keys, values);
    rows.push_back(std::move(row));
    total = total + used;
  }
  return {{"by", keys}, {"rows", std::move(rows)}, {"total", used_body(total)}};
}

json UsageSums::body() const {
  json rows = json::array();
  for (const auto& [values, sum] : rows_) {
    json row = sum_body(sum.jobs, sum.used);
    row["by"] = by_body(keys_, values);
    rows.push_back(std::move(row));
  }
  return {{"from", date_text(range_.from)},
          {"to", date_text(range_.to)},
          {"by", keys_},
          {"rows", std::move(rows)},
          {"total", sum_body(total_.jobs, total_.used)},
          {"pool", pool_body()}};
}

}  // namespace tidepool::live::http
