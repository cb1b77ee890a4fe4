#include "schedulerd/leader/start_order.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/overloaded.hpp"
#include "core/state/state_move.hpp"
#include "schedulerd/leader/job_change.hpp"

namespace tidepool::leader {
namespace {

constexpr const char* kTrainer = "tidepool-trainer";

// What the job file says of checkpoints, in the words of the worker's environment (api/worker_protocol.md).
std::map<std::string, std::string> checkpoint_environment(const core::CheckpointSpec& told,
                                                          const std::string& workdir) {
  std::map<std::string, std::string> env;
  if (!told.dir.empty()) {
    const bool alone = workdir.empty() || told.dir.starts_with('/');
    env["TIDEPOOL_CHECKPOINT_DIR"] = alone ? told.dir : workdir + (workdir.ends_with('/') ? "" : "/") + told.dir;
  }
  env["TIDEPOOL_CHECKPOINT_EVERY_S"] = std::to_string(told.every.value_or(Duration()).count_ms() / 1000);
  env["TIDEPOOL_CHECKPOINT_KEEP"] = std::to_string(told.keep);
  return env;
}

using Message = Result<std::optional<api::DaemonToAgent>>;

constexpr std::size_t kOrderBytes = 256;  // of an order's line without its blobs
constexpr std::size_t kQuotes = 3;
constexpr std::size_t kEscaped = 6;      // bytes of a line for a byte of text, at most
constexpr std::size_t kValueBytes = 32;  // of a number, or in addition to a text

// An agent would close its link at such a line, and get it again on the next one.
Error too_long(WorkerId worker, const std::string& what) {
  return invalid_argument(worker.text() + ": " + what + " is longer than the " + std::to_string(api::kLineBytesMax) +
                          " bytes of a line of the worker protocol");
}

std::size_t bytes_most(std::string_view text) {
  return text.size() * kEscaped + kValueBytes;
}

// Nearly all orders are far shorter than a line may be, so few need to be written out only to be measured.
std::size_t bytes_most(const api::StartWorker& order) {
  std::size_t bytes = 4 * kOrderBytes + order.slots.size() * kValueBytes + order.spec.size() +
                      bytes_most(std::string_view(order.program)) + bytes_most(std::string_view(order.workdir));
  for (const std::string& argument : order.argv) bytes += bytes_most(std::string_view(argument));
  for (const auto& [name, value] : order.env) {
    bytes += bytes_most(std::string_view(name)) + bytes_most(std::string_view(value));
  }
  return bytes;
}

Message start_message(WorkerId id, const core::ClusterState& state) {
  const core::Worker* worker = state.find_worker(id);
  const core::Node* node = worker == nullptr ? nullptr : state.find_node(worker->node);
  if (node == nullptr) return std::optional<api::DaemonToAgent>();
  auto order = start_order(*worker, *state.find_job(worker->job), *node);
  if (!order.ok()) return order.error();
  const bool is_short = bytes_most(*order) <= api::kLineBytesMax;
  api::DaemonToAgent message = *std::move(order);
  if (!is_short && api::encode(message).size() > api::kLineBytesMax) return too_long(id, "the order that starts it");
  return std::optional(std::move(message));
}

// Other messages to workers are short.
Message worker_message(const api::ToWorkerOrder& order) {
  const auto* addresses = std::get_if<api::AddressesMessage>(&order.message);
  if (addresses != nullptr) {
    std::size_t bytes = kOrderBytes;
    for (const std::string& blob : addresses->blobs) bytes += (blob.size() + 2) / 3 * 4 + kQuotes;  // as base64
    if (bytes > api::kLineBytesMax) return too_long(order.worker, "where its peers listen, as they tell it,");
  }
  return std::optional<api::DaemonToAgent>(order);
}

}  // namespace

Result<api::StartWorker> start_order(const core::Worker& worker, const core::Job& job, const core::Node& node) {
  const core::RunSpec& run = *job.spec.run;
  api::StartWorker order{.worker = worker.id, .job = job.id, .slots = worker.slots, .gpus = node.slot_type != "cpu"};
  if (!run.trainer.empty()) {
    order.program = kTrainer;
    order.argv = {run.trainer};
  } else if (!run.command.empty()) {
    order.program = run.command.front();
    order.argv.assign(run.command.begin() + 1, run.command.end());
  } else {
    return invalid_argument(job.id.text() + " says neither run.trainer nor run.command");
  }
  order.env = run.env;
  order.workdir = run.workdir;
  order.env.merge(checkpoint_environment(job.spec.checkpoint, run.workdir));
  order.cpus = job.spec.cpus;
  if (node.memory_per_slot) order.memory = job.spec.memory;  // an agent that tells none knows no such field
  if (job.spec.resize == core::ResizeMode::kRestart) {
    order.restart_grace_ms = std::min(job.spec.elastic.grace, api::kGraceMax).count_ms();
    order.env["TORCHELASTIC_RUN_ID"] = job.id.text();
    order.env["TORCHELASTIC_MAX_RESTARTS"] = std::to_string(job.spec.max_restarts);
  }
  const auto& moving = job.recovery.moving;
  if (moving && core::awaits(*moving, worker)) order.state_step = moving->step;
  order.spec = file_text(job);
  // A worker that waits for a state is started again when the state has arrived, so its first start names nothing.
  if (!order.state_step) order.started_at = worker.started_at.count_us();
  order.submitted_at = job.submitted_at.count_us();
  return order;
}

Message write_message(const Order& order, const core::ClusterState& state) {
  return std::visit(Overloaded{
                        [&](const StartOrder& start) { return start_message(start.worker, state); },
                        [](const api::ToWorkerOrder& message) { return worker_message(message); },
                        [](const auto& message) { return Message(std::optional<api::DaemonToAgent>(message)); },
                    },
                    order);
}

}  // namespace tidepool::leader
