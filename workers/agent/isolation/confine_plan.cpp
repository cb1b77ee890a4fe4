#include "workers/agent/isolation/confine_plan.hpp"

#include <cstring>

#include "base/json.hpp"

namespace tidepool::agent {
namespace {

using nlohmann::json;

json bound(const std::optional<std::int64_t>& value) {
  return value ? json(*value) : json(nullptr);
}

std::optional<std::int64_t> bound_of(const json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<std::int64_t>());
}

// Programs, paths and environment are bytes, which need not be valid JSON text.
json bytes(const std::string& text) {
  return json::binary({text.begin(), text.end()});
}

json all_bytes(const std::vector<std::string>& texts) {
  json list = json::array();
  for (const auto& text : texts) list.push_back(bytes(text));
  return list;
}

std::string text_of_bytes(const json& value) {
  const auto& raw = value.get_binary();
  return {raw.begin(), raw.end()};
}

json filter_bytes(const SyscallFilter& filter) {
  const auto* raw = reinterpret_cast<const char*>(filter.data());
  return bytes(std::string(raw, filter.size() * sizeof filter[0]));
}

SyscallFilter filter_of_bytes(const json& value) {
  const std::string raw = text_of_bytes(value);
  SyscallFilter filter(raw.size() / sizeof filter[0]);
  if (!filter.empty()) std::memcpy(filter.data(), raw.data(), filter.size() * sizeof filter[0]);
  return filter;
}

// An agent of an earlier version, which keeps running while the programs next to it are rebuilt, sends none.
SyscallFilter filter_in(const json& document) {
  const auto found = document.find("syscall_filter");
  return found == document.end() ? SyscallFilter() : filter_of_bytes(*found);
}

std::vector<std::string> texts_of_bytes(const json& list) {
  std::vector<std::string> texts;
  for (const json& value : list) texts.push_back(text_of_bytes(value));
  return texts;
}

// As filter_in().
std::vector<std::string> places_in(const json& document) {
  const auto found = document.find("places");
  return found == document.end() ? std::vector<std::string>() : texts_of_bytes(*found);
}

}  // namespace

std::string to_text(const ConfinePlan& plan) {
  const json document = {{"program", bytes(plan.program)},
                         {"places", all_bytes(plan.places)},
                         {"argv", all_bytes(plan.argv)},
                         {"environment", all_bytes(plan.environment)},
                         {"workdir", bytes(plan.workdir)},
                         {"make_folder", bytes(plan.make_folder)},
                         {"uid", plan.uid},
                         {"syscall_filter", filter_bytes(plan.syscall_filter)},
                         {"socket_folder", bytes(plan.socket_folder)},
                         {"job_file", bytes(plan.job_file)},
                         {"states", bytes(plan.states)},
                         {"tmp", bytes(plan.tmp)},
                         {"shared_memory", bytes(plan.shared_memory)},
                         {"hidden", all_bytes(plan.hidden)},
                         {"devices", all_bytes(plan.devices)},
                         {"groups", all_bytes(plan.groups)},
                         {"processes_max", bound(plan.processes_max)},
                         {"data_max", bound(plan.data_max)}};
  const auto packed = json::to_cbor(document);
  return {packed.begin(), packed.end()};
}

Result<ConfinePlan> plan_from_text(const std::string& text) {
  try {
    const json document = json::from_cbor(text);
    return ConfinePlan{.program = text_of_bytes(document.at("program")),
                       .places = places_in(document),
                       .argv = texts_of_bytes(document.at("argv")),
                       .environment = texts_of_bytes(document.at("environment")),
                       .workdir = text_of_bytes(document.at("workdir")),
                       .make_folder = text_of_bytes(document.at("make_folder")),
                       .uid = document.at("uid").get<uid_t>(),
                       .syscall_filter = filter_in(document),
                       .socket_folder = text_of_bytes(document.at("socket_folder")),
                       .job_file = text_of_bytes(document.at("job_file")),
                       .states = text_of_bytes(document.at("states")),
                       .tmp = text_of_bytes(document.at("tmp")),
                       .shared_memory = text_of_bytes(document.at("shared_memory")),
                       .hidden = texts_of_bytes(document.at("hidden")),
                       .devices = texts_of_bytes(document.at("devices")),
                       .groups = texts_of_bytes(document.at("groups")),
                       .processes_max = bound_of(document.at("processes_max")),
                       .data_max = bound_of(document.at("data_max"))};
  } catch (const json::exception& error) {
    return invalid_argument(std::string("the plan is damaged: ") + error.what());
  }
}

}  // namespace tidepool::agent
