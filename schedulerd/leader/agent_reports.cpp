#include "schedulerd/leader/agent_reports.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/facts/drain_facts.hpp"
#include "core/state/membership.hpp"
#include "schedulerd/leader/node_trust.hpp"
#include "schedulerd/leader/report_facts.hpp"

namespace tidepool::leader {
namespace {

constexpr std::size_t kKeptJobsMost = 10'000;  // each is a look into the journal's tables

using Of = ReportRefusedNote::Of;

// `note` says whose report it is; it is logged with the engine's message if that is a refusal.
void learn_or_note(core::Fact fact, ReportRefusedNote note, TurnBatch& batch) {
  const Status learnt = batch.learn(std::move(fact));
  if (learnt.ok()) return;
  note.why = learnt.error().message;
  batch.note(std::move(note));
}

// None: it is no worker of this node.
const core::Worker* worker_of(NodeId node, WorkerId id, const TurnBatch& batch) {
  const core::Worker* worker = batch.state().find_worker(id);
  return worker != nullptr && worker->node == node ? worker : nullptr;
}

// Workers that this journal has never started: their ids were given to others since, or will be.
std::vector<WorkerId> lost_workers(const api::AgentHello& hello, const core::ClusterState& state) {
  std::vector<WorkerId> lost;
  if (!hello.starts) return lost;
  for (std::size_t i = 0; i < hello.running.size() && i < hello.starts->size(); ++i) {
    const WorkerId id = hello.running[i];
    const std::int64_t start = hello.starts->at(i);
    const core::Worker* known = state.find_worker(id);
    const bool differs = known != nullptr && start != 0 && known->started_at.count_us() != start;
    if (differs || id.number() >= state.next_worker) lost.push_back(id);
  }
  return lost;
}

// A program of the user's own, of a live job that has never stepped, that has ended well without a word.
bool never_joined(const core::ClusterState& state, const core::Worker& worker, const core::WorkerExited& fact) {
  const core::Job& job = *state.find_job(worker.job);
  const bool ended_well = fact.exit_code == 0 && fact.signal == 0 && !worker.stopped_for;
  const bool is_silent = worker.phase == core::WorkerPhase::kStarting && !job.progress.reported_at;
  return ended_well && is_silent && job.spec.resize == core::ResizeMode::kLive && !job.spec.run->command.empty();
}

bool never_stepped(const core::ClusterState& state, const core::Worker& worker) {
  return worker.phase == core::WorkerPhase::kMember && !core::has_stepped(*state.find_job(worker.job));
}

}  // namespace

void take_hello(const AgentHelloItem& item, TurnBatch& batch) {
  const auto& [engine, executor, newest] = batch.leader();
  const NodeId node = engine.node_id_for(item.hello.node);
  const auto refuse = [&](const std::string& why) {
    batch.note(AgentRefusedNote{item.hello.node, why});
    batch.order(AgentRefusal{item.session, why});
  };
  const std::vector<WorkerId> lost = lost_workers(item.hello, batch.state());
  const auto known = may_come_in(item, batch);
  if (!known.ok()) return refuse(known.error().message);
  api::AgentHello hello = item.hello;
  const std::set<WorkerId> gone(lost.begin(), lost.end());
  std::erase_if(hello.running, [&](WorkerId id) { return gone.contains(id); });
  auto fact = fact_of_hello(on_terms(hello, *known), node, *known ? (*known)->terms.labels : core::Labels());
  if (!fact.ok()) return refuse(fact.error().message);
  const Status learnt = batch.learn(*std::move(fact));
  if (!learnt.ok()) return refuse(learnt.error().message);
  batch.note(AgentJoinedNote{node, item.hello.node, item.hello.running.size()});
  if (!lost.empty()) batch.note(JournalWentBackNote{item.hello.node, lost});
  Admission admission{item.session, node, {}, lost};
  for (const Order& order : executor.catch_up(node, hello.running, batch.state())) {
    if (auto message = batch.message_of(order)) admission.orders.push_back(*std::move(message));
  }
  batch.order(std::move(admission));
}

void take_loss(const AgentLostItem& item, TurnBatch& batch) {
  const auto& [engine, executor, newest] = batch.leader();
  const NodeId node = engine.node_id_for(item.node);
  const core::Node* known = batch.state().find_node(node);
  if (known == nullptr || known->state == core::NodeState::kLost) return;
  const bool is_given_back = batch.state().pools.gives_back(node);
  if (!is_given_back) batch.note(NodeLostNote{node, item.node, item.why});
  (void)batch.learn(core::NodeLost{node, item.why, is_given_back, item.stopped});
  newest.forget_workers_of(node);
}

void take_exit(const WorkerExitedItem& item, TurnBatch& batch) {
  if (const core::Worker* worker = worker_of(item.node, item.report.worker, batch)) {
    batch.leader().newest.forget(item.report.worker);
    core::WorkerExited fact = fact_of_exit(item.report);
    fact.never_joined = never_joined(batch.state(), *worker, fact);
    fact.never_stepped = never_stepped(batch.state(), *worker);
    learn_or_note(std::move(fact), {Of::kExit, item.report.worker, item.node, {}}, batch);
  }
  batch.order(NodeMessage{item.node, api::ReportAck{item.report.report}});
}

void take_message(const FromWorkerItem& item, TurnBatch& batch) {
  const WorkerId id = item.report.worker;
  const core::Worker* worker = worker_of(item.node, id, batch);
  if (worker == nullptr || worker->node_lost) return batch.note(ReportIgnoredNote{id});
  const JobId job = worker->job;
  if (auto fact = fact_of_worker(item.report.message, *worker)) {
    learn_or_note(*std::move(fact), {Of::kMessage, id, item.node, {}}, batch);
  }
  Executor& executor = batch.leader().executor;
  if (const auto* address = std::get_if<api::AddressMessage>(&item.report.message)) {
    batch.order(executor.on_address(id, *address, batch.state()));
  } else if (std::holds_alternative<api::AnswerMessage>(item.report.message)) {
    batch.order(Executor::on_answer(id, batch.state()));
  } else if (const auto* ready = std::get_if<api::ReadyMessage>(&item.report.message)) {
    batch.order(executor.on_relink(id, ready->generation, batch.state()));
  } else if (std::holds_alternative<api::SwitchedMessage>(item.report.message)) {
    // The member that was to take a checkpoint may be gone; the new rank 0 takes it instead.
    if (batch.state().find_job(job)->requests.checkpoint) {
      batch.order(Executor::order_checkpoint(job, batch.state()));
    }
  }
}

void take_stuck(const WorkerStuckItem& item, TurnBatch& batch) {
  if (worker_of(item.node, item.report.worker, batch) == nullptr) return;
  batch.note(WorkerStuckNote{item.report});
  learn_or_note(fact_of_stuck(item.report), {Of::kStuck, item.report.worker, item.node, {}}, batch);
}

// Repeated after each welcome, of which only the first is news.
void take_held(const SlotsHeldItem& item, TurnBatch& batch) {
  const core::Worker* worker = worker_of(item.node, item.report.worker, batch);
  if (worker == nullptr || worker->held) return;
  batch.leader().newest.forget(item.report.worker);
  batch.note(SlotsHeldNote{item.report});
  learn_or_note(fact_of_held(item.report), {Of::kHeld, item.report.worker, item.node, {}}, batch);
}

void take_probe(const NodeProbedItem& item, TurnBatch& batch) {
  learn_or_note(fact_of_probe(item.report, item.node), {Of::kProbe, {}, item.node, {}}, batch);
}

void take_reclaim(const NodeReclaimItem& item, TurnBatch& batch) {
  const core::Node* node = batch.state().find_node(item.node);
  const core::NodeReclaimNoticed fact = fact_of_reclaim(item.report, item.node);
  if (node != nullptr && !core::is_news(*node, fact, batch.engine_now())) return;
  learn_or_note(fact, {Of::kReclaim, {}, item.node, {}}, batch);
}

// Each once, and a limited number of one report: the rest is reported after the next welcome.
void take_kept_jobs(const KeptJobsItem& item, TurnBatch& batch) {
  std::set<JobId> seen;
  for (const JobId job : item.report.jobs) {
    if (seen.size() == kKeptJobsMost) return;
    if (!seen.insert(job).second) continue;
    const auto ended = batch.ended(job);
    if (!ended.ok()) return;
    if (*ended) {
      batch.order(NodeMessage{item.node, Executor::forget_order(job, (*ended)->failed(), (*ended)->at, batch.now())});
    } else if (batch.state().has_ended(job)) {
      batch.order(NodeMessage{item.node, api::ForgetJob{.job = job}});  // so long ago that nothing is kept of it
    }
  }
}

}  // namespace tidepool::leader
