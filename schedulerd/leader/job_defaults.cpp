#include "schedulerd/leader/job_defaults.hpp"

#include <array>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/v1/job_defaults.hpp"
#include "base/written.hpp"

namespace tidepool::leader {
namespace {

using api::v1::JobSpecV1;
using core::JobDefaults;
using nlohmann::json;

// A field that can have a default: taken from a job file that states it, and written into one. Null = none.
struct Field {
  void (*take)(const JobSpecV1& from, JobDefaults& to);
  json (*write)(const JobDefaults& from);
};

template <auto kMember>
json write(const JobDefaults& from) {
  return written(from.*kMember);
}

// In the order of api::v1::kFieldsWithDefaults.
using Spec = const JobSpecV1&;
constexpr std::array<Field, api::v1::kFieldsWithDefaults.size()> kFields = {{
    {[](Spec from, JobDefaults& to) { to.priority = from.priority; }, write<&JobDefaults::priority>},
    {[](Spec from, JobDefaults& to) { to.preemptible = from.preemptible; }, write<&JobDefaults::preemptible>},
    {[](Spec from, JobDefaults& to) { to.slot_types = from.resources.gpu_types; }, write<&JobDefaults::slot_types>},
    {[](Spec from, JobDefaults& to) { to.selector = from.placement.selector; }, write<&JobDefaults::selector>},
    {[](Spec from, JobDefaults& to) { to.min_runtime = from.elastic.min_runtime; }, write<&JobDefaults::min_runtime>},
    {[](Spec from, JobDefaults& to) { to.cooldown = from.elastic.cooldown; }, write<&JobDefaults::cooldown>},
    {[](Spec from, JobDefaults& to) { to.grace = from.elastic.grace; }, write<&JobDefaults::grace>},
    {[](Spec from, JobDefaults& to) { to.efficiency_threshold = from.scaling.efficiency_threshold; },
     write<&JobDefaults::efficiency_threshold>},
    {[](Spec from, JobDefaults& to) { to.price_cap = from.scaling.price_cap; }, write<&JobDefaults::price_cap>},
    {[](Spec from, JobDefaults& to) { to.checkpoint_every = from.checkpoint_every; },
     write<&JobDefaults::checkpoint_every>},
    {[](Spec from, JobDefaults& to) { to.checkpoint_dir = from.checkpoint_dir; }, write<&JobDefaults::checkpoint_dir>},
    {[](Spec from, JobDefaults& to) { to.checkpoint_keep = from.checkpoint_keep; },
     write<&JobDefaults::checkpoint_keep>},
    {[](Spec from, JobDefaults& to) { to.max_duration = from.max_duration; }, write<&JobDefaults::max_duration>},
    {[](Spec from, JobDefaults& to) { to.max_restarts = from.max_restarts; }, write<&JobDefaults::max_restarts>},
}};

// False: the file names it, or has something else where it belongs, of which its reader complains.
bool is_silent(const json& file, std::string_view field) {
  const json* at = &file;
  while (true) {
    const auto dot = field.find('.');
    const auto found = at->find(std::string(field.substr(0, dot)));
    if (found == at->end()) return true;
    if (dot == std::string_view::npos) return false;
    if (found->is_null()) return true;
    if (!found->is_object()) return false;
    at = &*found;
    field.remove_prefix(dot + 1);
  }
}

}  // namespace

JobDefaults to_core_defaults(const json& defaults) {
  JobDefaults to;
  const JobSpecV1 from = api::v1::job_with_defaults(defaults);
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    if (!is_silent(defaults, api::v1::kFieldsWithDefaults[i])) kFields[i].take(from, to);
  }
  return to;
}

json defaults_document(const JobDefaults& defaults) {
  json document = json::object();
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    json value = kFields[i].write(defaults);
    if (!value.is_null()) document[api::v1::pointer_of_field(api::v1::kFieldsWithDefaults[i])] = std::move(value);
  }
  return document;
}

std::map<std::string, std::string> fill_defaults(json& file, const core::TenantsByName& tree,
                                                 const std::string& tenant) {
  std::map<std::string, std::string> filled;
  if (!file.is_object()) return filled;
  const auto path = tree.path_to(tenant);
  for (auto nearest = path.rbegin(); nearest != path.rend(); ++nearest) {
    for (std::size_t i = 0; i < kFields.size(); ++i) {
      const std::string field(api::v1::kFieldsWithDefaults[i]);
      if (!is_silent(file, field)) continue;
      json value = kFields[i].write(*(*nearest)->defaults);
      if (value.is_null()) continue;
      file[api::v1::pointer_of_field(field)] = std::move(value);
      filled.emplace(field, (*nearest)->name);
    }
  }
  return filled;
}

}  // namespace tidepool::leader
