#include "schedulerd/leader/daemon_turn.hpp"

#include <algorithm>
#include <utility>

#include "base/first_after.hpp"
#include "base/overloaded.hpp"
#include "core/facts/nodes/node_removal.hpp"
#include "schedulerd/leader/agent_reports.hpp"
#include "schedulerd/leader/node_trust.hpp"
#include "schedulerd/leader/turn_batch.hpp"
#include "schedulerd/leader/user_commands.hpp"

namespace tidepool::leader {
namespace {

constexpr int kRoundsPerTurn = 8;

core::PolicyRound missed_round(const DaemonTurn::AwaitedRound& awaited, Instant now) {
  core::PolicyRound round{.number = awaited.number, .asked_at = now};
  round.fault = awaited.is_readable ? "policy.deadline" : "policy.not_started";
  round.message = awaited.is_readable ? "no answer has come in time from the policy host"
                                      : "the stored version cannot be read; upload it again and activate it";
  return round;
}

std::vector<JobId> started_by(const core::Plan& plan) {
  std::vector<JobId> jobs;
  for (const auto& planned : plan) {
    if (const auto* start = std::get_if<core::StartIntent>(&planned.intent)) jobs.push_back(start->job);
  }
  return jobs;
}

void carry_on(StateMoves::Outcome outcome, TurnBatch& batch) {
  if (outcome.fact) (void)batch.learn(*std::move(outcome.fact));
  batch.order(outcome.orders);
}

}  // namespace

Result<TurnResult> DaemonTurn::run(std::vector<TurnItem> items, Instant now, TurnReads& reads,
                                   core::StageTimes* times) {
  TurnBatch batch({engine_, executor_, newest_}, reads, now);
  learn_utc(batch);
  learn_settings(batch);
  for (std::size_t place = 0; place < items.size() && !batch.failure(); ++place) take(place, items[place], batch);
  if (batch.failure()) return *batch.failure();
  give_up_late_round(batch);
  give_up_late_moves(batch);
  learn_clock(batch);
  remove_given_back(batch);
  const auto due = engine_.next_due();
  if (batch.changed() || more_to_decide_ || (due && *due <= now)) decide(batch, times);
  newest_.forget_lost(state());
  TurnResult result = batch.take();
  result.policy_request = open_policy_request(std::max(now, state().now));
  return result;
}

std::optional<Instant> DaemonTurn::next_due() const {
  FirstAfter first;
  first.consider(engine_.next_due());
  first.consider(moves_.next_due());
  if (awaited_) first.consider(awaited_->until);
  return first.found();
}

void DaemonTurn::take(std::size_t place, TurnItem& item, TurnBatch& batch) {
  std::visit(Overloaded{
                 [&](const Command& command) { take_command(place, command, batch); },
                 [&](const AgentHelloItem& hello) { take_hello(hello, batch); },
                 [&](const AgentLostItem& lost) { take_loss(lost, batch); },
                 [&](const WorkerExitedItem& exited) { take_exit(exited, batch); },
                 [&](const FromWorkerItem& said) { take_message(said, batch); },
                 [&](const WorkerStuckItem& stuck) { take_stuck(stuck, batch); },
                 [&](const SlotsHeldItem& held) { take_held(held, batch); },
                 [&](const NodeProbedItem& probed) { take_probe(probed, batch); },
                 [&](const KeptJobsItem& kept) { take_kept_jobs(kept, batch); },
                 [&](const NodeReclaimItem& reclaim) { take_reclaim(reclaim, batch); },
                 [&](PolicyRoundItem& round) { take_round(round, batch); },
                 [&](const NodeJoinItem& join) { take_join(join, batch); },
                 [&](const NodeRenewalItem& renewal) { take_renewal(renewal, batch); },
                 [&](PoolReportItem& pool) { take_pool_report(pool, batch); },
                 [&](const StateReportItem& said) { carry_on(moves_.on(said, state()), batch); },
             },
             item);
}

void DaemonTurn::take_pool_report(PoolReportItem& pool, TurnBatch& batch) {
  const Status learnt =
      std::visit([&](auto& report) { return batch.learn(core::Fact(std::move(report))); }, pool.report);
  if (!learnt.ok()) batch.note(PoolReportRefusedNote{learnt.error().message});
}

// Whether an answer still counts is the engine's to say (core/facts/policy_facts.hpp); here only its number is held
// against the one that is awaited.
void DaemonTurn::take_round(PolicyRoundItem& item, TurnBatch& batch) {
  const core::PolicyDeployment& deployment = state().deployment;
  if (!deployment.active || item.round.number != deployment.next_round) {
    return batch.note(PolicyAnswerLateNote{item.round.number, deployment.next_round});
  }
  if (!item.round.fault.empty()) {
    batch.note(PolicyFailedNote{*deployment.active, item.round.fault, item.round.message});
  }
  awaited_.reset();
  (void)batch.learn(core::PolicyAnswered{std::move(item.round)});
}

void DaemonTurn::give_up_late_round(TurnBatch& batch) {
  const Instant now = batch.engine_now();
  if (!awaited_ || now < awaited_->until) return;
  const AwaitedRound late = *std::exchange(awaited_, std::nullopt);
  (void)batch.learn(core::PolicyAnswered{missed_round(late, now)});
}

void DaemonTurn::give_up_late_moves(TurnBatch& batch) {
  for (StateMoves::Outcome& outcome : moves_.overdue(batch.engine_now(), state())) carry_on(std::move(outcome), batch);
}

void DaemonTurn::learn_utc(TurnBatch& batch) {
  if (!utc_us_at_zero_ || *utc_us_at_zero_ == state().utc_us_at_zero) return;
  (void)batch.learn(core::UtcSet{*utc_us_at_zero_});
}

void DaemonTurn::learn_settings(TurnBatch& batch) {
  if (damping_ && *damping_ != state().damping) (void)batch.learn(core::NodeDampingConfigured{*damping_});
  damping_.reset();
  if (detector_ && *detector_ != state().straggler_detector) (void)batch.learn(core::DetectorConfigured{*detector_});
  detector_.reset();
}

// What time alone has brought about is a fact like any other, so that a decision follows from facts.
void DaemonTurn::learn_clock(TurnBatch& batch) {
  const auto due = engine_.clock_due();
  if (due && *due <= batch.engine_now()) (void)batch.learn(core::ClockAdvanced{});
}

// No command asks for it.
void DaemonTurn::remove_given_back(TurnBatch& batch) {
  if (!batch.changed()) return;
  for (const NodeId node : core::removable_of_pools(state())) (void)batch.learn(core::NodeRemoved{node});
}

// A question that is asked no more, because another file is active or none, is awaited no more.
std::optional<std::int64_t> DaemonTurn::open_policy_request(Instant now) {
  const core::PolicyDeployment& deployment = state().deployment;
  if (awaited_ && (!deployment.active || awaited_->number != deployment.next_round)) awaited_.reset();
  return awaited_ ? std::nullopt : engine_.pending_policy_request(now);
}

void DaemonTurn::decide(TurnBatch& batch, core::StageTimes* times) {
  more_to_decide_ = false;
  for (int round = 0; round < kRoundsPerTurn; ++round) {
    core::Decision decision = engine_.decide(batch.engine_now(), times);
    if (!is_lawful(decision, batch, times)) return;
    if (decision.empty()) {
      engine_.accept(decision);
      return;
    }
    const std::vector<JobId> starting = started_by(decision.plan);
    batch.accept(std::move(decision));
    moves_.follow(starting, state());
  }
  more_to_decide_ = true;
}

bool DaemonTurn::is_lawful(const core::Decision& decision, TurnBatch& batch, core::StageTimes* times) {
  if (times != nullptr) times->begin(core::Stage::kValidate);
  const Status lawful = engine_.validate(decision);
  if (times != nullptr) times->end();
  if (lawful.ok()) return true;
  if (last_invalid_ != lawful.error().message) batch.note(PlanDroppedNote{decision.policy, lawful.error().message});
  last_invalid_ = lawful.error().message;
  return false;
}

}  // namespace tidepool::leader
