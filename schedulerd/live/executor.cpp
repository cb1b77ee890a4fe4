#include "schedulerd/live/executor.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/overloaded.hpp"

namespace tidepool::live {
namespace {

constexpr const char* kTrainer = "tidepool-trainer";

bool contains(const std::vector<WorkerId>& workers, WorkerId worker) {
  return std::find(workers.begin(), workers.end(), worker) != workers.end();
}

// The newest generation, as it was or should have been sent.
api::GenerationMessage generation_of(const core::Job& job) {
  return {.number = job.generation, .members = job.members, .after_failure = job.commit.after_failure};
}

// Collects the orders of one decision.
class Orders {
 public:
  Orders(const core::ClusterState& state, Effects& effects) : state_(state), effects_(effects) {}

  void start(const core::WorkerPlacement& placement) {
    effects_.placements.emplace_back(placement.worker, placement.node);
    const core::Worker* worker = state_.find_worker(placement.worker);
    const core::Node* node = state_.find_node(placement.node);
    if (worker == nullptr || node == nullptr) return;
    auto order = start_order(*worker, *state_.find_job(worker->job), *node);
    if (order.ok()) {
      send(placement.node, *std::move(order));
    } else {
      spdlog::error("event=start_impossible worker={} why=\"{}\"", worker->id.text(), order.error().message);
    }
  }

  void stop(WorkerId id, std::int64_t grace_ms) {
    const core::Worker* worker = state_.find_worker(id);
    if (worker == nullptr) return;
    send(worker->node, api::StopWorker{.worker = id, .grace_ms = grace_ms});
  }

  // To the members, and to those who leave with this switch.
  void announce(const core::Job& job, const api::GenerationMessage& message) {
    for (const WorkerId id : job.workers) {
      const core::Worker* worker = state_.find_worker(id);
      const bool concerned =
          contains(message.members, id) || (worker != nullptr && worker->phase == core::WorkerPhase::kLeaving);
      if (worker != nullptr && concerned) send(worker->node, api::ToWorkerOrder{.worker = id, .message = message});
    }
  }

 private:
  void send(NodeId node, api::DaemonToAgent message) {
    effects_.orders.emplace_back(NodeOrder{.node = node, .message = std::move(message)});
  }

  const core::ClusterState& state_;
  Effects& effects_;
};

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
  order.spec = *std::move(document);
  return order;
}

Effects Executor::carry_out(const core::Decision& decision, const core::ClusterState& state) {
  Effects effects;
  Orders orders(state, effects);
  const auto start_all = [&](const std::vector<core::WorkerPlacement>& newcomers) {
    for (const auto& placement : newcomers) orders.start(placement);
  };
  for (const auto& planned : decision.plan) {
    std::visit(
        Overloaded{
            [&](const core::StartIntent& intent) { start_all(intent.newcomers); },
            [&](const core::GrowIntent& intent) { start_all(intent.newcomers); },
            [&](const core::ReplaceIntent& intent) { orders.start(intent.newcomer); },
            [&](const core::ShrinkIntent& /*the leavers hear of it with the switch*/) {},
            [&](const core::SwitchIntent& intent) {
              const core::Job* job = state.find_job(intent.job);
              orders.announce(*job, {intent.number, intent.members, intent.after_failure});
            },
            [&](const core::PreemptIntent&) {},  // each stop and the end of a job are intents or facts of their own
            [&](const core::StopWorkerIntent& intent) { orders.stop(intent.worker, intent.grace.count_ms()); },
            [&](const core::EndJobIntent& intent) { addresses_.forget(intent.job); },
        },
        planned.intent);
  }
  return effects;
}

std::vector<api::DaemonToAgent> Executor::catch_up(NodeId node, const std::vector<WorkerId>& running,
                                                   const core::ClusterState& state) const {
  std::vector<api::DaemonToAgent> orders;
  for (const WorkerId id : running) {
    const core::Worker* worker = state.find_worker(id);
    if (worker == nullptr || worker->node != node) orders.emplace_back(api::StopWorker{.worker = id, .grace_ms = 0});
  }
  for (const auto& [id, worker] : state.workers) {
    if (worker.node != node) continue;
    const core::Job& job = *state.find_job(worker.job);
    const bool knows_generations =
        worker.phase == core::WorkerPhase::kMember || worker.phase == core::WorkerPhase::kLeaving;
    if (worker.phase == core::WorkerPhase::kStarting) {
      auto order = start_order(worker, job, *state.find_node(node));
      if (order.ok()) orders.emplace_back(*std::move(order));
    }
    if (knows_generations && !job.members.empty()) {
      orders.emplace_back(api::ToWorkerOrder{.worker = id, .message = generation_of(job)});
      const auto addresses = addresses_.addresses(job.id, job.generation);
      if (addresses && contains(job.members, id)) orders.emplace_back(api::ToWorkerOrder{id, *addresses});
    }
  }
  return orders;
}

void Executor::on_relink(WorkerId id, GenerationNumber generation, const core::ClusterState& state,
                         std::vector<OutboxItem>& orders) const {
  const core::Worker* worker = state.find_worker(id);
  if (worker == nullptr || worker->phase == core::WorkerPhase::kStarting) return;
  const core::Job& job = *state.find_job(worker->job);
  const bool member = contains(job.members, id);
  if (!member && worker->phase != core::WorkerPhase::kLeaving) return;
  if (job.generation > generation && !job.members.empty()) {
    orders.emplace_back(NodeOrder{worker->node, api::ToWorkerOrder{id, generation_of(job)}});
  }
  const auto addresses = addresses_.addresses(job.id, job.generation);
  if (addresses && member) orders.emplace_back(NodeOrder{worker->node, api::ToWorkerOrder{id, *addresses}});
}

void Executor::on_address(WorkerId id, const api::AddressMessage& address, const core::ClusterState& state,
                          std::vector<OutboxItem>& orders) {
  const core::Worker* worker = state.find_worker(id);
  if (worker == nullptr) return;
  const core::Job& job = *state.find_job(worker->job);
  const auto rank = static_cast<std::size_t>(address.rank);
  const bool current =
      address.generation == job.generation && address.rank >= 0 && rank < job.members.size() && job.members[rank] == id;
  if (!current) return;
  const auto outcome = addresses_.put({job.id, address.generation, address.rank, job.size(), address.blob});
  const auto complete = addresses_.addresses(job.id, job.generation);
  if (!complete) return;
  for (const WorkerId each : job.members) {
    const core::Worker* member = state.find_worker(each);
    if (member == nullptr || (outcome == AddressBook::Outcome::kUnchanged && each != id)) continue;
    orders.emplace_back(NodeOrder{member->node, api::ToWorkerOrder{each, *complete}});
  }
}

}  // namespace tidepool::live
