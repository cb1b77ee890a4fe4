#include "schedulerd/leader/executor.hpp"

#include <algorithm>
#include <set>

#include "base/id_set.hpp"
#include "base/overloaded.hpp"
#include "core/facts/drain_facts.hpp"
#include "core/facts/event_data.hpp"
#include "core/facts/nodes/notice_facts.hpp"
#include "core/state/membership.hpp"

namespace tidepool::leader {
namespace {

// The newest generation, as it was or should have been sent.
api::GenerationMessage generation_of(const core::Job& job) {
  return {.number = job.membership.generation,
          .members = job.membership.members,
          .after_failure = job.membership.commit.after_failure,
          .park = job.membership.parking};
}

// Programs, and readers of their logs, may only see jobs of their own tenant.
std::string sentence_for(const core::ClusterState& state, const core::Worker& worker, const nlohmann::json& told) {
  std::string sentence = told.at("text").get<std::string>();
  const auto rival = told.at("numbers").find("for_job");
  if (rival == told.at("numbers").end()) return sentence;
  const JobId id(rival->get<std::uint64_t>());
  const core::Job* job = state.find_job(id);
  if (job != nullptr && job->spec.tenant == state.find_job(worker.job)->spec.tenant) return sentence;
  const std::size_t at = sentence.find(id.text());
  if (at != std::string::npos) sentence.replace(at, id.text().size(), "a job of another tenant");
  return sentence;
}

// None: it has no notice, or its agent is of a version that gives none.
std::optional<api::NoticeMessage> notice_of(const core::ClusterState& state, const core::Worker& worker, Instant now) {
  if (!worker.notice || !state.find_node(worker.node)->gives_notice) return std::nullopt;
  const core::LeaveNotice& notice = *worker.notice;
  const auto told = core::reason_data(notice.reason);
  return api::NoticeMessage{.decision = notice.decision,
                            .reason = told.at("code").get<std::string>(),
                            .sentence = sentence_for(state, worker, told),
                            .in_ms = std::max(Duration(), notice.by - now).count_ms(),
                            .extended_ms = (notice.by - notice.due).count_ms(),
                            .answers = notice.answers,
                            .granted = notice.granted};
}

// The newest shares, if they are not even ones.
std::optional<api::SharesMessage> shares_of(const core::Job& job) {
  if (job.shares.ordered.number == 0 || job.membership.members.empty()) return std::nullopt;
  return api::SharesMessage{.generation = job.membership.generation,
                            .number = job.shares.ordered.number,
                            .weights = job.shares.ordered.weights};
}

// The job has a generation to announce to its workers: the one they are in, or the one that parks it.
bool has_generation(const core::Job& job) {
  return !job.membership.members.empty() || job.membership.parking;
}

// Collects the orders of one decision.
class Orders {
 public:
  Orders(const core::ClusterState& state, Effects& effects) : state_(state), effects_(effects) {}

  void start(const core::WorkerPlacement& placement) {
    const core::Worker* worker = state_.find_worker(placement.worker);
    if (worker == nullptr) return;
    effects_.started.push_back(worker->id);
    send(placement.node, StartOrder{worker->id});
  }

  void stop(WorkerId id, Duration grace) {
    const core::Worker* worker = state_.find_worker(id);
    if (worker == nullptr) return;
    const Duration lawful = std::clamp(grace, Duration(), api::kGraceMax);
    send(worker->node, api::StopWorker{.worker = id, .grace_ms = lawful.count_ms()});
  }

  // To every node: any may hold a state of an earlier start.
  void forget(const api::ForgetJob& order) {
    for (const auto& [id, node] : state_.nodes) {
      if (node.state == core::NodeState::kUp) send(id, order);
    }
  }

  void probe(NodeId node) { send(node, api::ProbeNode{}); }

  // To the members, and to the workers that leave with this switch.
  void announce(const core::Job& job, const api::GenerationMessage& message) {
    const IdSet<WorkerId> members(message.members.begin(), message.members.end());
    for (const WorkerId id : job.membership.workers) {
      const core::Worker* worker = state_.find_worker(id);
      const bool concerned =
          members.contains(id) || (worker != nullptr && worker->phase == core::WorkerPhase::kLeaving);
      if (worker != nullptr && concerned) send(worker->node, api::ToWorkerOrder{.worker = id, .message = message});
    }
  }

  // After the generation that the shares are of.
  void tell_shares(const core::Job& job) {
    const auto shares = shares_of(job);
    if (!shares) return;
    for (const WorkerId id : job.membership.members) {
      const core::Worker* worker = state_.find_worker(id);
      if (worker != nullptr) send(worker->node, api::ToWorkerOrder{.worker = id, .message = *shares});
    }
  }

  // Those of the decision, before the orders by which the workers end.
  void tell_notices(const core::Decision& decision) {
    std::set<JobId> jobs;
    for (const auto& planned : decision.plan) jobs.insert(core::job_of(planned.intent));
    for (const JobId id : jobs) {
      const core::Job* job = state_.find_job(id);
      if (job == nullptr) continue;
      for (const WorkerId each : core::noticed_by(state_, *job, decision.id)) {
        const core::Worker& worker = *state_.find_worker(each);
        const auto notice = notice_of(state_, worker, decision.at);
        if (notice) send(worker.node, api::ToWorkerOrder{.worker = each, .message = *notice});
      }
    }
  }

  // Where rank 0 listens; the agents start the programs when they get it (ResizeMode::kRestart).
  void launch(const core::Job& job, const api::AddressesMessage& addresses) {
    for (const WorkerId id : job.membership.members) {
      const core::Worker* worker = state_.find_worker(id);
      if (worker != nullptr) send(worker->node, api::ToWorkerOrder{.worker = id, .message = addresses});
    }
  }

 private:
  void send(NodeId node, Order order) { effects_.orders.push_back({.node = node, .order = std::move(order)}); }

  const core::ClusterState& state_;
  Effects& effects_;
};

}  // namespace

std::optional<api::AddressesMessage> Executor::addresses_for_rank(const core::Job& job, int rank) const {
  const bool held = job.spec.resize == core::ResizeMode::kRestart &&
                    job.membership.restart_state.launched < job.membership.generation;
  return held ? std::nullopt : addresses_.told_to(rank, job.id, job.membership.generation);
}

std::optional<api::ToWorkerOrder> Executor::addresses_for(WorkerId member, const core::Job& job) const {
  const auto& members = job.membership.members;
  const auto at = std::find(members.begin(), members.end(), member);
  if (at == members.end()) return std::nullopt;
  auto told = addresses_for_rank(job, static_cast<int>(at - members.begin()));
  if (!told) return std::nullopt;
  return api::ToWorkerOrder{member, *std::move(told)};
}

Effects Executor::carry_out(const core::Decision& decision, const core::ClusterState& state) {
  Effects effects;
  Orders orders(state, effects);
  const auto start_all = [&](const std::vector<core::WorkerPlacement>& joining_workers) {
    for (const auto& placement : joining_workers) orders.start(placement);
  };
  orders.tell_notices(decision);
  for (const auto& planned : decision.plan) {
    std::visit(Overloaded{
                   [&](const core::StartIntent& intent) { start_all(intent.joining_workers); },
                   [&](const core::GrowIntent& intent) { start_all(intent.joining_workers); },
                   [&](const core::ReplaceIntent& intent) { orders.start(intent.joining_worker); },
                   [&](const core::MoveIntent& intent) { start_all(intent.joining_workers); },
                   [&](const core::ShrinkIntent& /*the leaving workers are told with the switch*/) {},
                   [&](const core::SwitchIntent& intent) {
                     const core::Job* job = state.find_job(intent.job);
                     orders.announce(*job, {intent.number, intent.members, intent.after_failure});
                     orders.tell_shares(*job);
                   },
                   [&](const core::RebalanceIntent& intent) { orders.tell_shares(*state.find_job(intent.job)); },
                   [&](const core::LaunchIntent& intent) {
                     const core::Job* job = state.find_job(intent.job);
                     // Blobs of agents have no parts, so each rank gets the same.
                     if (const auto all = addresses_for_rank(*job, 0)) orders.launch(*job, *all);
                   },
                   [&](const core::PreemptIntent& intent) {
                     const core::Job* job = state.find_job(intent.job);
                     if (intent.number > 0) orders.announce(*job, generation_of(*job));
                   },
                   [&](const core::AskIntent& /*its workers have their notices*/) {},
                   [&](const core::StopWorkerIntent& intent) { orders.stop(intent.worker, intent.grace); },
                   [&](const core::ProbeIntent& intent) { orders.probe(intent.node); },
                   [&](const core::EndJobIntent& intent) {
                     addresses_.forget(intent.job);
                     const bool failed = intent.end == core::JobEnd::kFailed;
                     orders.forget(forget_order(intent.job, failed, decision.at, decision.at));
                   },
               },
               planned.intent);
  }
  return effects;
}

std::vector<Order> Executor::catch_up(NodeId node, const std::vector<WorkerId>& running,
                                      const core::ClusterState& state) const {
  std::vector<Order> orders;
  for (const WorkerId id : core::unknown_workers(state, node, running)) {
    orders.emplace_back(api::StopWorker{.worker = id, .grace_ms = 0});
  }
  const core::Node* known = state.find_node(node);
  if (known == nullptr) return orders;
  for (const WorkerId id : core::workers_on(*known)) {
    const core::Worker& worker = *state.find_worker(id);
    const core::Job& job = *state.find_job(worker.job);
    const bool knows_generations =
        worker.phase == core::WorkerPhase::kMember || worker.phase == core::WorkerPhase::kLeaving;
    // A worker that will be stopped is not started first: the stop ends its id permanently.
    if (worker.phase == core::WorkerPhase::kStarting && !worker.kill_at) {
      orders.emplace_back(StartOrder{id});
    }
    if (const auto notice = notice_of(state, worker, state.now)) orders.emplace_back(api::ToWorkerOrder{id, *notice});
    if (knows_generations && has_generation(job)) {
      orders.emplace_back(api::ToWorkerOrder{.worker = id, .message = generation_of(job)});
      if (job.requests.checkpoint) orders.emplace_back(api::ToWorkerOrder{id, api::CheckpointOrder{}});
      if (auto addresses = addresses_for(id, job)) orders.emplace_back(*std::move(addresses));
      const auto shares = shares_of(job);
      if (shares && core::contains(job.membership.members, id)) orders.emplace_back(api::ToWorkerOrder{id, *shares});
    }
  }
  return orders;
}

std::vector<NodeOrder> Executor::on_relink(WorkerId id, GenerationNumber generation,
                                           const core::ClusterState& state) const {
  std::vector<NodeOrder> orders;
  const core::Worker* worker = state.find_worker(id);
  if (worker == nullptr || worker->phase == core::WorkerPhase::kStarting) return orders;
  const core::Job& job = *state.find_job(worker->job);
  const bool member = core::contains(job.membership.members, id);
  if (!member && worker->phase != core::WorkerPhase::kLeaving) return orders;
  if (const auto notice = notice_of(state, *worker, state.now)) {
    orders.emplace_back(NodeOrder{worker->node, api::ToWorkerOrder{id, *notice}});
  }
  if (job.membership.generation > generation && has_generation(job)) {
    orders.emplace_back(NodeOrder{worker->node, api::ToWorkerOrder{id, generation_of(job)}});
  }
  if (auto addresses = addresses_for(id, job)) orders.emplace_back(NodeOrder{worker->node, *std::move(addresses)});
  if (job.requests.checkpoint && member) {
    orders.emplace_back(NodeOrder{worker->node, api::ToWorkerOrder{id, api::CheckpointOrder{}}});
  }
  const auto shares = shares_of(job);
  if (shares && member) orders.emplace_back(NodeOrder{worker->node, api::ToWorkerOrder{id, *shares}});
  return orders;
}

std::vector<NodeOrder> Executor::on_answer(WorkerId id, const core::ClusterState& state) {
  std::vector<NodeOrder> orders;
  const core::Worker* speaker = state.find_worker(id);
  if (speaker == nullptr || !speaker->notice) return orders;
  const core::Job& job = *state.find_job(speaker->job);
  for (const WorkerId each : core::noticed_by(state, job, speaker->notice->decision)) {
    const core::Worker& worker = *state.find_worker(each);
    const auto notice = notice_of(state, worker, state.now);
    if (notice) orders.emplace_back(NodeOrder{worker.node, api::ToWorkerOrder{each, *notice}});
  }
  return orders;
}

api::ForgetJob Executor::forget_order(JobId job, bool failed, Instant ended, Instant now) {
  Duration left;
  if (failed) left = std::max(Duration(), ended + kFailedStatesStay - now);
  return {.job = job, .after_s = left.count_ms() / 1'000};
}

std::vector<NodeOrder> Executor::order_checkpoint(JobId id, const core::ClusterState& state) {
  std::vector<NodeOrder> orders;
  for (const WorkerId member : state.find_job(id)->membership.members) {
    const core::Worker* worker = state.find_worker(member);
    if (worker == nullptr) continue;
    orders.emplace_back(NodeOrder{worker->node, api::ToWorkerOrder{member, api::CheckpointOrder{}}});
  }
  return orders;
}

std::vector<NodeOrder> Executor::on_address(WorkerId id, const api::AddressMessage& address,
                                            const core::ClusterState& state) {
  std::vector<NodeOrder> orders;
  const core::Worker* worker = state.find_worker(id);
  if (worker == nullptr) return orders;
  const core::Job& job = *state.find_job(worker->job);
  const auto rank = static_cast<std::size_t>(address.rank);
  const bool current = address.generation == job.membership.generation && address.rank >= 0 &&
                       rank < job.membership.members.size() && job.membership.members[rank] == id;
  if (!current) return orders;
  const auto outcome = addresses_.put({job.id, address.generation, address.rank, job.size(), address.blob});
  for (int receiver = 0; receiver < job.size(); ++receiver) {
    const WorkerId each = job.membership.members[static_cast<std::size_t>(receiver)];
    const core::Worker* member = state.find_worker(each);
    if (member == nullptr || (outcome == AddressBook::Outcome::kUnchanged && each != id)) continue;
    auto told = addresses_for_rank(job, receiver);
    if (!told) return orders;
    orders.emplace_back(NodeOrder{member->node, api::ToWorkerOrder{each, *std::move(told)}});
  }
  return orders;
}

}  // namespace tidepool::leader
