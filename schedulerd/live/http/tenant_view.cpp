#include "schedulerd/live/http/tenant_view.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/codec/reason_numbers.hpp"
#include "core/explain/suggestions.hpp"
#include "core/explain/tenant_evidence.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

constexpr std::string_view kUnnamed = "a job of another tenant";
constexpr std::string_view kPrefix = "job-";
// Fields with words of the caller's own users.
constexpr std::array<std::string_view, 6> kUsersWords = {"name", "job_name", "labels", "spec", "error", "detail"};

bool contains(const auto& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

class Unnaming {
 public:
  explicit Unnaming(const SeenBy& seen_by) : seen_by_(seen_by) {}

  void apply(json& value) const {
    if (value.is_string()) {
      value = without_ids(value.get_ref<const std::string&>());
    } else if (value.is_array()) {
      for (json& entry : value) apply(entry);
    } else if (value.is_object()) {
      apply_to_fields(value);
    }
  }

 private:
  void apply_to_fields(json& object) const {
    bool rival_is_foreign = false;
    for (auto field = object.begin(); field != object.end();) {
      if (core::job_numbers().contains(field.key()) && is_foreign_number(*field)) {
        rival_is_foreign = rival_is_foreign || field.key() == "rival";
        field = object.erase(field);
        continue;
      }
      if (!contains(kUsersWords, field.key())) apply(*field);
      ++field;
    }
    if (!rival_is_foreign) return;
    for (const std::string_view told : core::rival_numbers()) object.erase(std::string(told));
  }

  [[nodiscard]] bool is_foreign(JobId id) const { return visible_job(seen_by_, id) == nullptr; }

  [[nodiscard]] bool is_foreign_number(const json& value) const {
    if (!value.is_number()) return false;
    const double number = value.get<double>();
    return number >= 1 && is_foreign(JobId(static_cast<std::uint64_t>(std::llround(number))));
  }

  [[nodiscard]] std::string without_ids(std::string_view text) const {
    std::string out;
    while (true) {
      const std::size_t at = text.find(kPrefix);
      if (at == std::string_view::npos) return out.append(text);
      std::size_t end = at + kPrefix.size();
      while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
      const bool stands_alone = (at == 0 ? out.empty() || !is_word(out.back()) : !is_word(text[at - 1])) &&
                                (end == text.size() || !is_word(text[end]));
      const auto id = stands_alone ? JobId::parse(text.substr(at, end - at)) : std::nullopt;
      out.append(text.substr(0, at)).append(id && is_foreign(*id) ? kUnnamed : text.substr(at, end - at));
      text.remove_prefix(end);
    }
  }

  const SeenBy& seen_by_;
};

}  // namespace

std::shared_ptr<const core::Job> job_of(const Published& seen, JobId id, History& past) {
  if (const auto found = seen.state.jobs.find(id); found != seen.state.jobs.end()) return found->second;
  return seen.state.has_ended(id) ? past.ended_job(id) : nullptr;
}

std::shared_ptr<const core::Job> visible_job(const SeenBy& seen_by, JobId id) {
  auto job = job_of(seen_by.seen, id, seen_by.past);
  return job != nullptr && seen_by.caller.sees(job->spec.tenant) ? job : nullptr;
}

std::string name_of(const SeenBy& seen_by, JobId id) {
  const bool sees_all = seen_by.caller.tenant.empty();
  return sees_all || visible_job(seen_by, id) != nullptr ? id.text() : std::string(kUnnamed);
}

json without_foreign_jobs(json said, const SeenBy& seen_by) {
  if (!seen_by.caller.tenant.empty()) Unnaming(seen_by).apply(said);
  return said;
}

std::vector<std::string> advice_for(const SeenBy& seen_by, const std::vector<core::Advice>& advice) {
  constexpr std::string_view kCancel = "cancel ";
  const Caller& caller = seen_by.caller;
  std::vector<std::string> lines;
  for (const core::Advice& each : advice) {
    std::string line = each.text;
    if (each.for_admin && !caller.is_pool_admin()) line += " (an admin can)";
    const bool may_cancel =
        caller.role != Role::kViewer && each.cancels && visible_job(seen_by, each.cancels) != nullptr;
    if (each.cancels && !may_cancel) line.replace(0, kCancel.size(), "the end of ");
    lines.push_back(std::move(line));
  }
  return lines;
}

void add_keepers(const SeenBy& seen_by, const core::ClusterState& state, const core::Job& job,
                 core::Explanation& explanation) {
  if (explanation.kept_by_guarantees == 0) return;
  const Caller& caller = seen_by.caller;
  std::vector<core::Keeper> keepers =
      core::keepers_for(state, job, [&](const std::string& tenant) { return caller.sees(tenant); });
  for (std::string& line : core::keepers_evidence(keepers)) explanation.evidence.push_back(std::move(line));
  core::name_lenders(std::move(keepers), caller.role == Role::kAdmin, explanation);
}

bool may_name_jobs(std::string_view said) {
  const std::set<std::string_view>& numbers = core::job_numbers();
  const auto is_there = [&](std::string_view name) {
    return said.find("\"" + std::string(name) + "\"") != std::string_view::npos;
  };
  return said.find(kPrefix) != std::string_view::npos || std::any_of(numbers.begin(), numbers.end(), is_there);
}

}  // namespace tidepool::live::http
