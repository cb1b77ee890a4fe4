#include "schedulerd/leader/job_change.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "api/v1/job_defaults.hpp"
#include "api/v1/job_spec.hpp"
#include "base/digest.hpp"
#include "schedulerd/leader/job_file.hpp"

namespace tidepool::leader {
namespace {

using nlohmann::json;

// The parts that no worker has been started with.
constexpr std::array<std::string_view, 10> kChangeable = {"elastic", "scaling",  "work",      "priority", "preemptible",
                                                          "budget",  "topology", "placement", "limits",   "labels"};

// None: the job file has such a part.
std::optional<FieldError> unknown_part(const std::string& part, const json& value) {
  auto errors = api::v1::read_job_spec({{part, value}}).errors;
  const auto found = std::find_if(errors.begin(), errors.end(), [&](const FieldError& error) {
    return error.code == "UnknownField" && error.pointer == "/" + part;
  });
  return found == errors.end() ? std::nullopt : std::optional(std::move(*found));
}

std::vector<FieldError> check_parts(const json& patch) {
  std::vector<FieldError> errors;
  for (const auto& [name, value] : patch.items()) {
    const std::string& part = name;
    if (std::find(kChangeable.begin(), kChangeable.end(), part) != kChangeable.end()) continue;
    if (auto unknown = unknown_part(part, value)) {
      errors.push_back(*std::move(unknown));
      continue;
    }
    errors.push_back({"/" + part, "Unchangeable",
                      "cannot change while the job lives: its workers were started with it; submit a new job"});
  }
  return errors;
}

// Its workers were started in groups of one size. Else a new one would be refused for sizes that were not changed.
std::optional<FieldError> change_of_group(const json& stored, const json& patch) {
  const json::json_pointer group("/elastic/group");
  if (!patch.contains(group)) return std::nullopt;
  const json one = 1;
  const json& asked = patch.at(group).is_null() ? one : patch.at(group);
  if (!asked.is_number() || asked == (stored.contains(group) ? stored.at(group) : one)) return std::nullopt;
  return FieldError{"/elastic/group", "Unchangeable",
                    "cannot change while the job lives: its workers run in such groups; submit a new job"};
}

// A list of sizes that only follows from the bounds is left to follow from the new ones.
void loosen_sizes(json& document, const json& patch) {
  const bool moves_bounds = patch.contains("elastic") && patch["elastic"].is_object() &&
                            !patch["elastic"].contains("sizes") && !patch["elastic"].empty();
  if (!moves_bounds) return;
  json loose = document;
  loose["elastic"].erase("sizes");
  const auto derived = api::v1::read_job_spec(loose);
  // Also where the stored job would be refused now: the bounds may be what is mended.
  if (json(derived.spec.elastic.sizes) == document["elastic"]["sizes"]) document = std::move(loose);
}

// A preferred size that is the smallest one stays that where the smallest grows: it is left to follow.
void loosen_preferred(json& document, const json& patch) {
  const json::json_pointer smallest("/elastic/min");
  if (!patch.contains(smallest) || patch.at("elastic").contains("preferred")) return;
  json& elastic = document["elastic"];
  const json& asked = patch.at(smallest);
  const bool grows = asked.is_number_integer() && asked > elastic["min"];
  if (grows && elastic["preferred"] == elastic["min"]) elastic.erase("preferred");
}

// Without what the job has already been stored with: its file was read by the rules of an earlier version.
void forgive_stored(const json& stored, std::vector<FieldError>& errors) {
  if (errors.empty()) return;
  const auto before = api::v1::read_job_spec(stored).errors;
  std::erase_if(errors, [&](const FieldError& error) {
    return std::any_of(before.begin(), before.end(), [&](const FieldError& old) {
      return old.pointer == error.pointer && old.code == error.code && old.message == error.message;
    });
  });
}

// Whose defaults the fields still have: those that the change left as they were.
std::map<std::string, std::string> unchanged_defaults(const core::JobSpec& before, const core::JobSpec& after) {
  const json was = job_document(before);
  const json is = job_document(after);
  auto from = before.defaults_from;
  std::erase_if(from, [&](const auto& entry) {
    const auto at = api::v1::pointer_of_field(entry.first);
    return !was.contains(at) || !is.contains(at) || was.at(at) != is.at(at);
  });
  return from;
}

}  // namespace

ChangedSpec changed_spec(const core::JobSpec& before, const json& patch) {
  ChangedSpec changed{.spec = {}, .errors = check_parts(patch)};
  if (!changed.errors.empty()) return changed;
  const json stored = job_document(before);
  if (auto group = change_of_group(stored, patch)) {
    changed.errors.push_back(*std::move(group));
    return changed;
  }
  json document = stored;
  loosen_sizes(document, patch);
  loosen_preferred(document, patch);
  document.merge_patch(patch);
  auto findings = api::v1::read_job_spec(document);
  forgive_stored(stored, findings.errors);
  changed.errors = std::move(findings.errors);
  if (!changed.errors.empty()) return changed;
  changed.spec = to_core(findings.spec);
  changed.spec.defaults_from = unchanged_defaults(before, changed.spec);
  return changed;
}

std::string file_text(const core::Job& job) {
  return canonical_json(job_document(job.spec));
}

std::string job_etag(const core::Job& job, const std::string& file) {
  Digest digest;
  digest.mix(job.id.number()).mix(static_cast<std::uint64_t>(job.state())).mix(job.membership.generation);
  digest.mix(static_cast<std::uint64_t>(job.requests.pinned_size)).mix(job.membership.workers.size());
  digest.mix(std::uint64_t{job.requests.cancel} * 2 + std::uint64_t{job.requests.suspend});
  digest.mix(file);
  return "\"" + digest.text() + "\"";
}

}  // namespace tidepool::leader
