#include "schedulerd/live/providers/slurm_provider.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/json.hpp"
#include "schedulerd/live/providers/child_run.hpp"

namespace tidepool::live {
namespace {

using core::ProviderFault;
using nlohmann::json;
using List = std::vector<ProvidedNode>;

const std::string kPilotPrefix = "tidepool-";
constexpr JsonLimits kQueueLimits{.bytes_max = 1U << 20U, .depth_max = 16, .values_max = 1U << 20U};

// 1795382977, or {"set": true, "infinite": false, "number": 1795382977}; 0 = none.
std::int64_t time_in(const json& job, const char* name) {
  const auto found = job.find(name);
  if (found == job.end()) return 0;
  if (found->is_number_integer()) return found->get<std::int64_t>();
  const bool is_set = found->is_object() && found->value("set", false) && !found->value("infinite", false);
  return is_set ? found->value("number", std::int64_t{0}) : 0;
}

// "RUNNING", or ["RUNNING", ...].
std::string state_of(const json& job) {
  const auto found = job.find("job_state");
  if (found == job.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  return found->is_array() && !found->empty() && found->front().is_string() ? found->front().get<std::string>() : "";
}

bool has_ended(const std::string& state) {
  for (const char* ended : {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL",
                            "DEADLINE", "OUT_OF_MEMORY", "REVOKED"}) {
    if (state == ended) return true;
  }
  return false;
}

// A limit of the account, and not of the moment.
bool is_quota(const std::string& text) {
  for (const char* word : {"QOS", "Assoc", "limit", "policy"}) {
    if (text.find(word) != std::string::npos) return true;
  }
  return false;
}

// In single quotes, as sh reads it.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

class SlurmProvider final : public NodeProvider {
 public:
  explicit SlurmProvider(ProviderSetup setup) : setup_(std::move(setup)) {}

  Provided<ProvidedNode> create(const NodeToCreate& node) override {
    using Answer = Provided<ProvidedNode>;
    const auto known = list();
    if (!known.value) return Answer::failed(known.fault, known.detail);
    for (const ProvidedNode& each : *known.value) {
      if (each.request == node.request) return {.value = each};
    }
    std::vector<std::string> command = {"sbatch",       "--parsable", "--job-name=" + kPilotPrefix + node.request,
                                        "--no-requeue", "--nodes=1",  "--time=" + text("walltime")};
    for (const json& option : setup_.settings.value("options", json::array())) {
      if (option.is_string()) command.push_back(option.get<std::string>());
    }
    const ChildEnd end = run(std::move(command), pilot_script(text("start"), node));
    if (end.how == ChildEnd::How::kTimeout) return Answer::failed(ProviderFault::kTimeout, "sbatch does not answer");
    if (end.how != ChildEnd::How::kExited || end.exit_code != 0) {
      return Answer::failed(is_quota(end.last_error) ? ProviderFault::kQuota : ProviderFault::kRefused,
                            "sbatch: " + end.last_error);
    }
    const std::string id = end.output.substr(0, end.output.find_first_of(";\n"));
    if (id.empty()) return Answer::failed(ProviderFault::kGarbage, "sbatch has told no job id");
    return {.value = ProvidedNode{.request = node.request, .id = id, .lifetime = {}}};
  }

  Provided<Ended> end(const NodeToEnd& node) override {
    const ChildEnd end = run({"scancel", "--name=" + kPilotPrefix + node.request}, "");
    if (end.how == ChildEnd::How::kTimeout) {
      return Provided<Ended>::failed(ProviderFault::kTimeout, "scancel does not answer");
    }
    const bool done = end.how == ChildEnd::How::kExited && end.exit_code == 0;
    return done ? Provided<Ended>{.value = Ended{}}
                : Provided<Ended>::failed(ProviderFault::kRefused, "scancel: " + end.last_error);
  }

  Provided<List> list() override {
    const ChildEnd end = run({"squeue", "--me", "--json"}, "");
    if (end.how == ChildEnd::How::kTimeout) {
      return Provided<List>::failed(ProviderFault::kTimeout, "squeue does not answer");
    }
    if (end.how != ChildEnd::How::kExited || end.exit_code != 0) {
      return Provided<List>::failed(ProviderFault::kRefused, "squeue: " + end.last_error);
    }
    const auto queue = parse_json(end.output, kQueueLimits);
    if (!queue.ok()) {
      return Provided<List>::failed(ProviderFault::kGarbage,
                                    "squeue: " + queue.error().message + "; " + shown_output(end));
    }
    return pilots_in(*queue, std::time(nullptr));
  }

 private:
  [[nodiscard]] std::string text(const char* name) const { return setup_.settings.value(name, std::string()); }
  [[nodiscard]] ChildEnd run(std::vector<std::string> command, std::string input) const {
    return run_child({.command = std::move(command), .input = std::move(input), .limit = setup_.limit});
  }

  ProviderSetup setup_;
};

}  // namespace

Provided<List> pilots_in(const json& queue, std::int64_t now) {
  const auto jobs = queue.is_object() ? queue.find("jobs") : queue.end();
  if (!queue.is_object() || jobs == queue.end() || !jobs->is_array()) {
    return Provided<List>::failed(ProviderFault::kGarbage, "squeue has told no list of jobs");
  }
  List pilots;
  for (const json& job : *jobs) {
    const std::string name = job.is_object() && job.contains("name") && job["name"].is_string()
                                 ? job["name"].get<std::string>()
                                 : std::string();
    if (!name.starts_with(kPilotPrefix) || has_ended(state_of(job))) continue;
    ProvidedNode node{.request = name.substr(kPilotPrefix.size()), .id = {}, .lifetime = {}};
    node.id = std::to_string(time_in(job, "job_id"));
    const std::int64_t ends = state_of(job) == "RUNNING" ? time_in(job, "end_time") : 0;
    if (ends > 0) node.lifetime = Duration::seconds(std::max<std::int64_t>(0, ends - now));
    pilots.push_back(std::move(node));
  }
  return {.value = std::move(pilots)};
}

std::string pilot_script(const std::string& start, const NodeToCreate& node) {
  std::string line = start;
  replace_all(line, "{name}", quoted(node.name));
  replace_all(line, "{slots}", std::to_string(node.slots));
  replace_all(line, "{slot_type}", quoted(node.slot_type));
  return "#!/bin/sh\nexec " + line + "\n";
}

std::unique_ptr<NodeProvider> make_slurm_provider(ProviderSetup setup) {
  return std::make_unique<SlurmProvider>(std::move(setup));
}

}  // namespace tidepool::live
