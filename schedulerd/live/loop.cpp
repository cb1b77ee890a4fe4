#include "schedulerd/live/loop.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/overloaded.hpp"
#include "core/codec/reason_numbers.hpp"
#include "core/facts/job_facts.hpp"
#include "schedulerd/leader/report_facts.hpp"
#include "schedulerd/live/agents/wire_orders.hpp"
#include "schedulerd/live/service/metric.hpp"
#include "schedulerd/live/setup/secrets.hpp"

namespace tidepool::live {
namespace {

constexpr std::size_t kItemsPerTurn = 200;  // one fsync for at most so many acknowledgements
constexpr int kRoundsPerTurn = 8;
constexpr std::chrono::microseconds kIdleWait = std::chrono::seconds(1);
constexpr Duration kFreshness = Duration::seconds(1);  // of the time that readers see
constexpr std::chrono::microseconds kShortestWait = std::chrono::milliseconds(10);

}  // namespace

Loop::Loop(Recovered recovered, std::string policy, const Links& links)
    : engine_(std::move(recovered.engine)),
      policy_(std::move(policy)),
      links_(links),
      shadow_(std::move(recovered.shadow)) {
  publish(links_.clock.now());
}

Status Loop::run() {
  while (!links_.inbox.drained()) TP_TRY(turn(time_to_wait(kIdleWait)));
  TP_TRY(links_.journal.snapshot(engine_.view(), links_.clock.stored()));
  spdlog::info("event=loop_stopped journal_row={}", links_.journal.last_seq());
  return ok_status();
}

std::chrono::microseconds Loop::time_to_wait(std::chrono::microseconds patience) const {
  if (more_to_decide_ || links_.journal.has_upkeep()) return std::chrono::microseconds(0);
  auto due = engine_.next_due();
  if (awaited_) due = due ? std::min(*due, awaited_->until) : awaited_->until;
  if (!due) return patience;
  const std::chrono::microseconds until((*due - links_.clock.now()).count_us());
  return std::clamp(until, std::min(kShortestWait, patience), patience);
}

// Clients that were answered together send again within moments of one another; sharing the next commit saves them more
// than the wait costs. After a turn that answered one client alone there is no wait.
Inbox::Gathering Loop::gathering() const {
  if (answered_ < 2) return {};
  const std::chrono::microseconds commit(commit_took_.count_us());
  return {.gap = commit / 16, .most = commit / 4};
}

Status Loop::turn(std::chrono::microseconds patience) {
  auto items = links_.inbox.take(kItemsPerTurn, patience, gathering());
  Turn turn{.now = links_.clock.now(), .answers = {}, .orders = {}, .events = {}};
  for (auto& item : items) TP_TRY(take(std::move(item), turn));
  TP_TRY(give_up_late_round(turn));
  const auto due = engine_.next_due();
  if (turn.changed || more_to_decide_ || (due && *due <= turn.now)) TP_TRY(decide(turn));
  TP_TRY(commit_and_tell(turn));
  ask_policies(turn);
  return links_.journal.checkpoint_if_due();
}

Status Loop::take(InboxItem item, Turn& turn) {
  return std::visit(Overloaded{
                        [&](CommandItem& command) { return on_command(std::move(command), turn); },
                        [&](const AgentHelloItem& hello) { return on_hello(hello, turn); },
                        [&](const AgentLostItem& lost) { return on_lost(lost, turn); },
                        [&](const WorkerExitedItem& exited) { return on_exit(exited, turn); },
                        [&](const FromWorkerItem& said) { return on_worker(said, turn); },
                        [&](const WorkerStuckItem& stuck) { return on_stuck(stuck, turn); },
                        [&](const KeptJobsItem& kept) { return on_kept_jobs(kept, turn); },
                        [&](const NodeProbedItem& probed) { return on_probed(probed, turn); },
                        [&](PolicyRoundItem& round) { return on_round(std::move(round), turn); },
                        [&](const PolicyComparedItem& compared) { return on_compared(compared, turn); },
                    },
                    item);
}

Result<Loop::Refused> Loop::learn(core::Fact fact, Turn& turn) {
  const core::TimedFact timed{.at = std::max(turn.now, engine_.view().now), .fact = std::move(fact)};
  auto events = engine_.step(timed);
  if (!events.ok()) return Refused(events.error());
  TP_TRY(links_.journal.append(timed));
  TP_TRY(links_.journal.append(*events));
  turn.events.insert(turn.events.end(), events->begin(), events->end());
  turn.changed = true;
  TP_TRY(after_fact(timed.fact, turn));
  TP_TRY(let_ended_go());
  return Refused();
}

// Jobs that have left the state go on in the journal, with what made them leave.
Status Loop::let_ended_go() {
  for (const auto& job : engine_.take_ended()) {
    latest_metrics_.erase(job->id);
    TP_TRY(links_.journal.append_ended(*job));
  }
  return ok_status();
}

// What readers want beside the state: the newest measurement of each job.
Status Loop::after_fact(const core::Fact& fact, Turn& turn) {
  const auto* steps = std::get_if<core::StepsMeasured>(&fact);
  if (steps == nullptr) return ok_status();
  const core::Job* known = engine_.view().find_job(steps->job);
  if (known == nullptr) return ok_status();
  const core::Job& job = *known;
  const auto ranks = static_cast<int>(steps->compute_us.size() / static_cast<std::size_t>(steps->steps));
  const MetricPoint point = metric_of(*steps, ranks > 0 ? ranks : job.size(), turn.now);
  // A report may come after its job's end; its entry would never be removed.
  if (!core::is_final(job.state()))
    latest_metrics_[job.id] = {point.samples_per_second, point.step_ms, point.compute_ms};
  if (steps->generation == job.membership.generation && point.compute_ms.size() == job.membership.members.size()) {
    for (std::size_t rank = 0; rank < job.membership.members.size(); ++rank)
      compute_ms_[job.membership.members[rank]] = point.compute_ms[rank];
  }
  return links_.journal.append(job.id, point);
}

Status Loop::on_command(CommandItem item, Turn& turn) {
  const auto answer = [&](Result<Receipt> result) {
    turn.answers.emplace_back([done = std::move(item.done), result = std::move(result)] { done(result); });
    return ok_status();
  };
  const auto& key = item.command.idempotency;
  if (key) {
    auto before = links_.journal.receipt_for(*key);
    if (!before.ok()) return before.error();
    if (*before && (*before)->request_hash != key->request_hash) {
      return answer(conflict("the idempotency key \"" + key->key +
                             "\" was used with another request in the last 24 hours; send a new key"));
    }
    if (*before) {
      return answer(Receipt{.job = (*before)->job,
                            .token_id = (*before)->token_id,
                            .as_of_seq = engine_.view().next_event - 1,
                            .replayed = true});
    }
  }
  Status journal = ok_status();
  auto receipt = carry_out(item.command, turn, journal);
  TP_TRY(journal);
  if (!receipt.ok()) return answer(receipt.error());
  if (key) TP_TRY(links_.journal.append(*key, *receipt, unix_seconds(links_.clock.wall(), turn.now)));
  return answer(*std::move(receipt));
}

// The receipt, or why the command is refused. `journal` tells of a failed journal.
Result<Receipt> Loop::carry_out(const Command& command, Turn& turn, Status& journal) {
  Receipt receipt;
  const auto fact = [&](core::Fact what) -> Status {
    auto refused = learn(std::move(what), turn);
    if (!refused.ok()) {
      journal = refused.error();
      return journal;
    }
    return *refused ? Status(**refused) : ok_status();
  };
  const auto of_job = [&](JobId job, core::Fact what) -> Status {
    receipt.job = job;
    if (!engine_.view().has_ended(job)) return fact(std::move(what));
    const auto ended = links_.journal.ended(job);
    if (!ended.ok()) return journal = ended.error();
    if (!*ended) return not_found("there is no " + job.text() + " any more");
    return conflict(job.text() + " has already " + (*ended)->state);
  };
  const WallClock wall = links_.clock.wall();
  const Status outcome = std::visit(
      Overloaded{
          [&](const SubmitJob& body) {
            const JobId job = engine_.next_job_id();
            return of_job(job, core::JobSubmitted{job, body.spec});
          },
          [&](const SubmitJobs& body) -> Status {
            // What is refused is refused before the first is stored.
            for (const auto& spec : body.specs) TP_TRY(core::check_spec(spec));
            receipt.job = engine_.next_job_id();
            for (const auto& spec : body.specs) TP_TRY(fact(core::JobSubmitted{engine_.next_job_id(), spec}));
            return ok_status();
          },
          [&](const CancelJob& body) { return of_job(body.job, core::JobCancelRequested{body.job}); },
          [&](const ResizeJob& body) { return of_job(body.job, core::JobResizeRequested{body.job, body.size}); },
          [&](const SuspendJob& body) { return of_job(body.job, core::JobSuspendRequested{body.job}); },
          [&](const ResumeJob& body) { return of_job(body.job, core::JobResumeRequested{body.job}); },
          [&](const CheckpointJob& body) -> Status {
            TP_TRY(of_job(body.job, core::JobCheckpointRequested{body.job}));
            tell(leader::Executor::order_checkpoint(body.job, engine_.view()), turn);
            return ok_status();
          },
          [&](const ChangeJob& body) { return of_job(body.job, core::JobChanged{body.job, body.spec}); },
          [&](const CordonNode& body) { return fact(core::NodeCordonChanged{body.node, body.cordoned}); },
          [&](const CreateToken& body) -> Status {
            receipt.token_id = new_token().id;
            TokenRecord token{.id = receipt.token_id,
                              .name = body.name,
                              .role = body.role,
                              .tenant = body.tenant,
                              .secret_sha256 = body.secret_sha256,
                              .created_at = wall.text(turn.now)};
            if (body.lifetime) token.expires_unix_s = unix_seconds(wall, turn.now + *body.lifetime);
            return journal = links_.journal.append(token);
          },
          [&](const RevokeToken& body) -> Status {
            const auto known = links_.journal.token(body.token_id);
            if (!known.ok()) return journal = known.error();
            if (!*known) return not_found("there is no token " + body.token_id);
            return journal = links_.journal.revoke_token(body.token_id);
          },
          [&](const auto& /*of a policy file*/) { return carry_out_policy(command, turn, journal); },
      },
      command.body);
  if (!outcome.ok()) return outcome.error();
  receipt.as_of_seq = engine_.view().next_event - 1;
  return receipt;
}

Status Loop::on_hello(const AgentHelloItem& item, Turn& turn) {
  const NodeId node = engine_.node_id_for(item.hello.node);
  const auto refuse = [&](const std::string& why) {
    spdlog::warn("event=agent_refused node={} why=\"{}\"", item.hello.node, why);
    turn.orders.emplace_back(AgentRefusal{item.session, why});
    return ok_status();
  };
  auto fact = leader::fact_of_hello(item.hello, node);
  if (!fact.ok()) return refuse(fact.error().message);
  auto refused = learn(*std::move(fact), turn);
  if (!refused.ok()) return refused.error();
  if (*refused) return refuse((*refused)->message);
  spdlog::info("event=agent_joined node={} name={} workers={}", node.text(), item.hello.node,
               item.hello.running.size());
  Admission admission{item.session, node, {}};
  for (const leader::Order& order : executor_.catch_up(node, item.hello.running, engine_.view())) {
    if (auto message = message_of(order, engine_.view())) admission.orders.push_back(*std::move(message));
  }
  turn.orders.emplace_back(std::move(admission));
  return ok_status();
}

Status Loop::on_lost(const AgentLostItem& item, Turn& turn) {
  const NodeId node = engine_.node_id_for(item.node);
  if (engine_.view().find_node(node) == nullptr) return ok_status();
  spdlog::warn("event=node_lost node={} name={} why=\"{}\"", node.text(), item.node, item.why);
  auto refused = learn(core::NodeLost{node, item.why}, turn);
  // Their exits may never be reported; those that come back report anew.
  std::erase_if(compute_ms_, [&](const auto& entry) {
    const core::Worker* worker = engine_.view().find_worker(entry.first);
    return worker == nullptr || worker->node == node;
  });
  return refused.ok() ? ok_status() : Status(refused.error());
}

Status Loop::on_exit(const WorkerExitedItem& item, Turn& turn) {
  const core::Worker* worker = engine_.view().find_worker(item.report.worker);
  if (worker != nullptr && worker->node == item.node) {
    compute_ms_.erase(item.report.worker);
    auto refused = learn(leader::fact_of_exit(item.report), turn);
    if (!refused.ok()) return refused.error();
    if (*refused)
      spdlog::error("event=exit_refused worker={} why=\"{}\"", item.report.worker.text(), (*refused)->message);
  }
  // The exit of a worker that has left the state was learnt before; the agent may forget it too.
  turn.orders.emplace_back(NodeOrder{item.node, api::ReportAck{item.report.report}});
  return ok_status();
}

Status Loop::on_worker(const FromWorkerItem& item, Turn& turn) {
  const WorkerId id = item.report.worker;
  const core::Worker* worker = engine_.view().find_worker(id);
  if (worker == nullptr || worker->node != item.node) {
    spdlog::debug("event=report_ignored worker={} why=\"not a worker of this node\"", id.text());
    return ok_status();
  }
  if (auto fact = leader::fact_of_worker(item.report.message, *worker)) {
    auto refused = learn(*std::move(fact), turn);
    if (!refused.ok()) return refused.error();
    if (*refused) spdlog::info("event=report_refused worker={} why=\"{}\"", id.text(), (*refused)->message);
  }
  if (const auto* address = std::get_if<api::AddressMessage>(&item.report.message)) {
    tell(executor_.on_address(id, *address, engine_.view()), turn);
  } else if (const auto* ready = std::get_if<api::ReadyMessage>(&item.report.message)) {
    tell(executor_.on_relink(id, ready->generation, engine_.view()), turn);
  } else if (std::holds_alternative<api::SwitchedMessage>(item.report.message)) {
    // The worker that was to take it may be gone; the new rank 0 takes it instead.
    const JobId job = worker->job;
    if (engine_.view().find_job(job)->requests.checkpoint) {
      tell(leader::Executor::order_checkpoint(job, engine_.view()), turn);
    }
  }
  return ok_status();
}

Status Loop::on_stuck(const WorkerStuckItem& item, Turn& turn) {
  const core::Worker* worker = engine_.view().find_worker(item.report.worker);
  if (worker == nullptr || worker->node != item.node) return ok_status();
  spdlog::warn("event=worker_stuck worker={} step={} phase={} for_ms={}", item.report.worker.text(), item.report.step,
               api::to_text(item.report.phase), item.report.for_ms);
  auto refused = learn(leader::fact_of_stuck(item.report), turn);
  return refused.ok() ? ok_status() : Status(refused.error());
}

// None: the job goes on, or this daemon does not know it.
Result<std::optional<EndedNote>> Loop::ended_note(JobId id) {
  const core::Job* job = engine_.view().find_job(id);
  if (job == nullptr) return links_.journal.ended(id);
  if (!core::is_final(job->state()) || !job->phase.ended_at()) return std::optional<EndedNote>();
  return std::optional(EndedNote{core::to_text(job->state()), *job->phase.ended_at()});
}

// The states of jobs that this daemon does not know are kept: they may belong to another daemon.
Status Loop::on_kept_jobs(const KeptJobsItem& item, Turn& turn) {
  for (const JobId job : item.report.jobs) {
    const auto ended = ended_note(job);
    if (!ended.ok()) return ended.error();
    if (!*ended) continue;
    turn.orders.emplace_back(
        NodeOrder{item.node, leader::Executor::forget_order(job, (*ended)->failed(), (*ended)->at, turn.now)});
  }
  return ok_status();
}

Status Loop::on_probed(const NodeProbedItem& item, Turn& turn) {
  auto refused = learn(leader::fact_of_probe(item.report, item.node), turn);
  if (!refused.ok()) return refused.error();
  if (*refused) spdlog::info("event=probe_refused node={} why=\"{}\"", item.node.text(), (*refused)->message);
  return ok_status();
}

Status Loop::decide(Turn& turn) {
  more_to_decide_ = false;
  stages_.clear();
  for (int round = 0; round < kRoundsPerTurn; ++round) {
    const Instant now = std::max(turn.now, engine_.view().now);
    const core::Decision decision = engine_.decide(now, &stages_);
    stages_.begin(core::Stage::kValidate);
    const Status lawful = engine_.validate(decision);
    stages_.end();
    if (!lawful.ok()) {
      if (last_invalid_ != lawful.error().message) {
        spdlog::error("event=plan_dropped policy={} why=\"{}\"", decision.policy, lawful.error().message);
      }
      last_invalid_ = lawful.error().message;
      return ok_status();
    }
    if (decision.empty()) {
      engine_.accept(decision);
      return ok_status();
    }
    TP_TRY(keep(decision, turn));
  }
  more_to_decide_ = true;
  return ok_status();
}

Status Loop::keep(const core::Decision& decision, Turn& turn) {
  TP_TRY(links_.journal.append(decision));
  const auto events = engine_.accept(decision);
  TP_TRY(links_.journal.append(events));
  TP_TRY(let_ended_go());
  turn.events.insert(turn.events.end(), events.begin(), events.end());
  turn.changed = true;
  turn.planned = turn.planned || decision.replan || !decision.plan.empty();
  const leader::Effects effects = executor_.carry_out(decision, engine_.view());
  for (const WorkerId id : effects.started) TP_TRY(links_.journal.note_worker(*engine_.view().find_worker(id)));
  tell(effects.orders, turn);
  for (const auto& planned : decision.plan) {
    const JobId job = core::job_of(planned.intent);
    spdlog::info("event=intent decision={} kind={} job={} reason={}", decision.id.text(), core::name_of(planned.intent),
                 job.text(), core::name_of(planned.reason));
    if (std::holds_alternative<core::EndJobIntent>(planned.intent)) latest_metrics_.erase(job);
  }
  return ok_status();
}

void Loop::tell(const std::vector<leader::NodeOrder>& orders, Turn& turn) const {
  append_messages(orders, engine_.view(), turn.orders);
}

Status Loop::commit_and_tell(Turn& turn) {
  const Instant decided_at = links_.clock.now();
  const bool writes = links_.journal.in_batch();
  TP_TRY(links_.journal.add_upkeep(engine_.view(), links_.clock.stored()));
  TP_TRY(links_.journal.commit(links_.clock.stored()));
  if (writes) {
    commit_took_ = links_.clock.now() - decided_at;
    answered_ = turn.answers.size();
    on_turn_({.round = decided_at - turn.now, .commit = commit_took_, .stages = stages_});
  }
  if (turn.changed || turn.now - published_at_ >= kFreshness) publish(turn.now);
  for (const auto& answer : turn.answers) answer();
  if (!turn.orders.empty()) links_.outbox.post(std::move(turn.orders));
  links_.publisher.announce(turn.events);
  return ok_status();
}

void Loop::publish(Instant now) {
  published_at_ = now;
  auto picture = std::make_shared<Published>();
  picture->state = engine_.view();
  picture->as_of_seq = picture->state.next_event - 1;
  picture->latest_metrics = latest_metrics_;
  picture->compute_ms = compute_ms_;
  picture->clock = links_.clock.wall();
  picture->now = now;
  picture->active_policy = policy_;
  picture->shadow = shadow_;
  links_.publisher.publish(std::move(picture));
}

}  // namespace tidepool::live
