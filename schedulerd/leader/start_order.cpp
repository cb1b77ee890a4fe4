#include "schedulerd/leader/start_order.hpp"

#include <map>
#include <string>
#include <utility>

#include "base/json.hpp"

namespace tidepool::leader {
namespace {

constexpr const char* kTrainer = "tidepool-trainer";

// What the job file says of checkpoints, in the words of the worker's environment (api/worker_protocol.md).
std::map<std::string, std::string> checkpoint_environment(const nlohmann::json& document, const std::string& workdir) {
  const auto& told = document.contains("checkpoint") ? document["checkpoint"] : nlohmann::json::object();
  const auto text = [&](const char* name) {
    return told.contains(name) && told[name].is_string() ? told[name].get<std::string>() : std::string();
  };
  std::map<std::string, std::string> env;
  if (const std::string dir = text("dir"); !dir.empty()) {
    const bool alone = workdir.empty() || dir.starts_with('/');
    env["TIDEPOOL_CHECKPOINT_DIR"] = alone ? dir : workdir + (workdir.ends_with('/') ? "" : "/") + dir;
  }
  const auto every = parse_duration(text("every"));
  env["TIDEPOOL_CHECKPOINT_EVERY_S"] = std::to_string(every.ok() ? every->count_ms() / 1000 : 0);
  if (told.contains("keep") && told["keep"].is_number_integer()) {
    env["TIDEPOOL_CHECKPOINT_KEEP"] = std::to_string(told["keep"].get<int>());
  }
  return env;
}

}  // namespace

Result<api::StartWorker> start_order(const core::Worker& worker, const core::Job& job, const core::Node& node) {
  auto document = parse_json(job.spec.document);
  if (!document.ok()) return document.error();
  const auto& run = document->contains("run") ? (*document)["run"] : nlohmann::json::object();
  api::StartWorker order{.worker = worker.id, .job = job.id, .slots = worker.slots, .gpus = node.slot_type != "cpu"};
  if (const auto trainer = run.value("trainer", std::string()); !trainer.empty()) {
    order.program = kTrainer;
    order.argv = {trainer};
  } else if (const auto command = run.value("command", std::vector<std::string>()); !command.empty()) {
    order.program = command.front();
    order.argv.assign(command.begin() + 1, command.end());
  } else {
    return invalid_argument(job.id.text() + " says neither run.trainer nor run.command");
  }
  order.env = run.value("env", std::map<std::string, std::string>());
  // The echoed document says null where no folder was given.
  if (run.contains("workdir") && run["workdir"].is_string()) order.workdir = run["workdir"].get<std::string>();
  order.env.merge(checkpoint_environment(*document, order.workdir));
  const nlohmann::json::json_pointer cpus("/resources/cpus");
  if (document->contains(cpus) && (*document)[cpus].is_number_integer()) order.cpus = (*document)[cpus].get<int>();
  if (job.spec.resize == core::ResizeMode::kRestart) {
    order.restart_grace_ms = job.spec.elastic.grace.count_ms();
    order.env["TORCHELASTIC_RUN_ID"] = job.id.text();
    order.env["TORCHELASTIC_MAX_RESTARTS"] = std::to_string(job.spec.max_restarts);
  }
  order.spec = *std::move(document);
  return order;
}

}  // namespace tidepool::leader
