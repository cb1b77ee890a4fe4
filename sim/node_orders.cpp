#include "sim/node_orders.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/overloaded.hpp"
#include "sim/daemon.hpp"

namespace tidepool::sim {
namespace {

void tell_once(Outgoing message, std::vector<Outgoing>& out) {
  if (std::find(out.begin(), out.end(), message) == out.end()) out.push_back(std::move(message));
}

}  // namespace

void tell_job(const core::Job& job, const api::ToWorker& message, std::vector<Outgoing>& out) {
  std::visit(
      Overloaded{
          [&](const api::GenerationMessage& g) {
            tell_once(CommitGeneration{job.id, g.number, g.members, g.after_failure, g.park}, out);
          },
          [&](const api::SharesMessage& s) { tell_once(ChangeShares{job.id, s.generation, s.number, s.weights}, out); },
          // To a program that is restarted this is the word to start; modelled workers find each other.
          [&](const api::AddressesMessage& a) {
            if (job.spec.resize == core::ResizeMode::kRestart) {
              tell_once(LaunchPrograms{job.id, a.generation}, out);
            }
          },
          [](const api::CheckpointOrder&) {},
      },
      message);
}

void tell_nodes(const leader::NodeOrder& order, const core::ClusterState& state, std::vector<Outgoing>& out) {
  const core::Node* known = state.find_node(order.node);
  TP_CHECK(known != nullptr, "orders go to nodes that have joined");
  const int node = node_of_name(known->name);
  std::visit(Overloaded{
                 [&](const leader::StartOrder& start) {
                   const core::Worker& worker = *state.find_worker(start.worker);
                   const std::string& name = state.find_job(worker.job)->spec.name;
                   out.emplace_back(StartWorker{node, worker.id, worker.job, worker.slots, name});
                 },
                 [&](const api::StopWorker& stop) {
                   out.emplace_back(StopWorker{node, stop.worker, Duration::millis(stop.grace_ms)});
                 },
                 [&](const api::ToWorkerOrder& told) {
                   tell_job(*state.find_job(state.find_worker(told.worker)->job), told.message, out);
                 },
                 [](const api::ProbeNode&) {},  // no devices to measure
                 [](const api::ForgetJob&) {},  // no states on disk
             },
             order.what);
}

}  // namespace tidepool::sim
