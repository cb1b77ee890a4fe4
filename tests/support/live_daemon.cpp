#include "tests/support/live_daemon.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "base/check.hpp"
#include "base/json.hpp"
#include "base/overloaded.hpp"
#include "core/codec/codec.hpp"
#include "sim/node_orders.hpp"

namespace tidepool::test {
namespace {

constexpr std::size_t kRefusedKept = 100;
constexpr int kDecisionsPerTurn = 64;

template <class Message>
Message over_the_wire(const Message& message);

template <>
api::AgentToDaemon over_the_wire(const api::AgentToDaemon& message) {
  auto arrived = api::decode_agent_to_daemon(api::encode(message));
  TP_CHECK(arrived.ok(), "what an agent says can be read");
  return *std::move(arrived);
}

template <>
api::DaemonToAgent over_the_wire(const api::DaemonToAgent& message) {
  auto arrived = api::decode_daemon_to_agent(api::encode(message));
  TP_CHECK(arrived.ok(), "what the daemon says can be read");
  return *std::move(arrived);
}

template <class Report>
Report sent(Report report) {
  return std::get<Report>(over_the_wire(api::AgentToDaemon(std::move(report))));
}

api::PulsePhase phase_of(const std::string& text) {
  using Phase = api::PulsePhase;
  for (const Phase phase : {Phase::kWaiting, Phase::kComputing, Phase::kReducing, Phase::kSwitching}) {
    if (api::to_text(phase) == text) return phase;
  }
  TP_CHECK(false, "a stuck worker's phase has a name");
  return Phase::kWaiting;
}

api::StepsMessage message_of(const core::StepsMeasured& fact) {
  TP_CHECK(fact.samples_total.has_value(), "workers tell the samples of all their steps");
  return {.generation = fact.generation,
          .last_step = fact.last_step,
          .steps = fact.steps,
          .elapsed_us = fact.elapsed.count_us(),
          .samples = fact.samples,
          .loss = fact.loss,
          .epoch = fact.epoch,
          .compute_us = fact.compute_us,
          .global_batch = fact.global_batch,
          .noise_scale = fact.noise_scale,
          .samples_total = *fact.samples_total,
          .shares = fact.shares};
}

api::SwitchedMessage message_of(const core::GenerationSwitched& fact) {
  return {.generation = fact.generation,
          .switch_step = fact.switch_step - 1,  // told: the committed ones
          .stall_ms = fact.stall_ms,
          .build_ms = fact.build_ms,
          .steps_redone = fact.steps_redone,
          .samples_repeated = fact.samples_repeated,
          .bytes_moved = fact.bytes_moved};
}

// What a worker says, and which worker if the fact names one.
struct Said {
  api::FromWorker message;
  WorkerId by;
  JobId of;
};

Said said(const core::Fact& fact, const core::ClusterState& state) {
  const auto rank = [&](WorkerId id) {
    const core::Worker* worker = state.find_worker(id);
    if (worker == nullptr) return 0;
    const auto& members = state.find_job(worker->job)->membership.members;
    return static_cast<int>(std::find(members.begin(), members.end(), id) - members.begin());
  };
  return std::visit(
      Overloaded{
          [](const core::WorkerReady& f) {
            return Said{api::ReadyMessage{.work_steps = f.work_steps, .work_samples = f.work_samples}, f.worker, {}};
          },
          [&](const core::WorkerJoining& f) {
            return Said{api::AddressMessage{f.generation, rank(f.worker), f.worker.text()}, f.worker, {}};
          },
          [](const core::ProgramStarted& f) { return Said{api::StartedMessage{f.generation}, f.worker, {}}; },
          [](const core::ProgramEnded& f) {
            return Said{api::EndedMessage{f.generation, f.exit_code, f.signal, f.detail}, f.worker, {}};
          },
          [](const core::GenerationSwitched& f) { return Said{message_of(f), {}, f.job}; },
          [](const core::StepsMeasured& f) { return Said{message_of(f), {}, f.job}; },
          [](const core::SharesChanged& f) {
            return Said{api::RebalancedMessage{f.generation, f.number, f.step - 1, f.stall_ms}, {}, f.job};
          },
          [](const core::TrainingFinished& f) {
            return Said{api::FinishedMessage{f.last_step, f.loss, f.samples_total.value()}, {}, f.job};
          },
          [](const core::StateParked& f) {
            return Said{api::ParkedMessage{f.generation, f.step, f.bytes, f.write_ms}, f.worker, f.job};
          },
          [](const core::StateRestored& f) {
            return Said{api::RestoredMessage{f.generation, f.step, f.bytes, f.path}, {}, f.job};
          },
          [](const auto&) {
            TP_CHECK(false, "the simulated world says only what workers say");
            return Said{};
          },
      },
      fact);
}

}  // namespace

void LiveDaemon::Post::post(std::vector<live::OutboxItem> more) {
  std::move(more.begin(), more.end(), std::back_inserter(items));
}

LiveDaemon::LiveDaemon(sim::DaemonParts ground, Options options)
    : ground_(std::move(ground)), options_(options), inbox_(std::make_unique<live::Inbox>(10'000)) {
  spdlog::set_level(spdlog::level::off);
  std::filesystem::create_directories(folder_ / "life-0");
  TP_CHECK(recover().ok(), "a new journal opens");
}

LiveDaemon::~LiveDaemon() = default;

// As after kill -9: only the files count, and what the dead daemon had open sees none of what follows.
Status LiveDaemon::recover() {
  const std::filesystem::path before = folder_ / ("life-" + std::to_string(lives_));
  const std::filesystem::path now = folder_ / ("life-" + std::to_string(lives_ + 1));
  std::filesystem::copy(before, now);
  ++lives_;
  loop_.reset();
  history_.reset();
  journal_.reset();
  auto journal = live::Journal::open(now / "journal.db", {.vfs = "", .snapshot_every = 100});
  if (!journal.ok()) return journal.error();
  auto recovered = live::recover(*journal, ground_.parts());
  if (!recovered.ok()) return recovered.error();
  journal_ = std::make_unique<live::Journal>(*std::move(journal));
  daemon_clock_ = std::make_unique<live::DaemonClock>(clock_, recovered->clock);
  auto history = live::SqliteHistory::open(now / "journal.db");
  if (!history.ok()) return history.error();
  history_ = *std::move(history);
  const std::string policy(ground_.parts().policies.at("default")->name());
  loop_ = std::make_unique<live::Loop>(*std::move(recovered), policy,
                                       live::Loop::Links{*journal_, *daemon_clock_, *inbox_, post_, publisher_});
  return ok_status();
}

std::vector<sim::Outgoing> LiveDaemon::receive(const std::vector<sim::Incoming>& batch, Instant now) {
  clock_.pass(now - clock_at_);
  clock_at_ = now;
  ++turns_;
  if (options_.recover_every > 0 && turns_ % options_.recover_every == 0) {
    TP_CHECK(recover().ok(), "the journal leads back to the state");
  }
  std::vector<live::InboxItem> items;
  for (const sim::Incoming& incoming : batch) {
    if (auto item = item_of(incoming)) items.push_back(*std::move(item));
  }
  if (options_.turns_batches_round) std::reverse(items.begin(), items.end());
  for (auto& item : items) TP_CHECK(inbox_->try_push(std::move(item)).ok(), "the inbox has room");
  TP_CHECK(loop_->turn(std::chrono::microseconds(0)).ok(), "the disk holds");
  tell_decisions();
  std::vector<sim::Outgoing> out = std::exchange(answers_, {});
  for (const auto& item : std::exchange(post_.items, {})) translate(item, out);
  return out;
}

// --- what comes in ------------------------------------------------------------------------------

NodeId LiveDaemon::node_id(int node) const {
  for (const auto& [id, known] : loop_->state().nodes) {
    if (known.name == sim::node_name(node)) return id;
  }
  return {};
}

int LiveDaemon::node_of(NodeId node) const {
  return sim::node_of_name(loop_->state().find_node(node)->name);
}

live::InboxItem LiveDaemon::command(live::CommandBody body, std::string key) {
  live::Command command{.body = std::move(body), .actor = "t", .idempotency = {}};
  if (!key.empty()) command.idempotency = {.key = key, .token_id = "t", .request_hash = key};
  return live::CommandItem{std::move(command), [this, key](const Result<live::Receipt>& receipt) {
                             if (!receipt.ok()) {
                               refused_.push_back(receipt.error().message);
                             } else if (!key.empty()) {
                               answers_.emplace_back(sim::Submitted{key, *receipt->job});
                             }
                           }};
}

std::optional<live::InboxItem> LiveDaemon::item_of(const sim::Incoming& incoming) {
  using Item = std::optional<live::InboxItem>;
  return std::visit(
      Overloaded{
          [&](const sim::Submit& submit) -> Item { return command(live::SubmitJob{submit.spec}, submit.key); },
          [&](const sim::Hello& hello) -> Item { return hello_of(hello); },
          [&](const sim::AgentReport& report) -> Item { return report_of(report); },
          [&](const sim::AgentSilent& silent) -> Item {
            return live::AgentLostItem{sim::node_name(silent.node), "no sign of life"};
          },
          [&](const sim::CordonNode& cordon) -> Item {
            return command(live::CordonNode{node_id(cordon.node), cordon.cordoned}, "");
          },
          [&](const sim::UserWish& wish) -> Item {
            return std::visit(
                Overloaded{
                    [&](const core::JobResizeRequested& f) { return command(live::ResizeJob{f.job, f.size}, ""); },
                    [&](const core::JobSuspendRequested& f) { return command(live::SuspendJob{f.job}, ""); },
                    [&](const core::JobResumeRequested& f) { return command(live::ResumeJob{f.job}, ""); },
                    [&](const core::JobCancelRequested& f) { return command(live::CancelJob{f.job}, ""); },
                },
                wish);
          },
      },
      incoming);
}

live::InboxItem LiveDaemon::hello_of(const sim::Hello& hello) const {
  const sim::NodeKind kind = ground_.kind_of(hello.node);
  api::AgentHello message{.token = "t",
                          .node = sim::node_name(hello.node),
                          .slots = kind.slots,
                          .slot_type = kind.slot_type,
                          .price_per_slot_hour = to_text(ground_.price_per_slot_hour),
                          .running = hello.running};
  return live::AgentHelloItem{.session = static_cast<live::SessionNumber>(hello.node) + 1,
                              .hello = sent(std::move(message))};
}

std::optional<live::InboxItem> LiveDaemon::report_of(const sim::AgentReport& report) {
  const NodeId node = node_id(report.node);
  if (const auto* exited = std::get_if<core::WorkerExited>(&report.fact)) {
    return live::WorkerExitedItem{node, sent(api::WorkerExitedReport{.report = report.report,
                                                                     .worker = exited->worker,
                                                                     .exit_code = exited->exit_code,
                                                                     .signal = exited->signal,
                                                                     .detail = exited->detail})};
  }
  if (const auto* stuck = std::get_if<core::WorkerStuck>(&report.fact)) {
    return live::WorkerStuckItem{node, sent(api::WorkerStuckReport{.worker = stuck->worker,
                                                                   .step = stuck->step,
                                                                   .phase = phase_of(stuck->phase),
                                                                   .for_ms = stuck->lasted.count_ms()})};
  }
  // The end of the training is repeated by its agent until the exit is heard; here the simulator wants a word.
  if (report.report != 0) answers_.emplace_back(sim::AckReport{report.node, report.report});
  Said what = said(report.fact, loop_->state());
  for (const auto& [id, worker] : loop_->state().workers) {
    if (!what.by && worker.job == what.of && worker.node == node) what.by = id;
  }
  if (!what.by) {
    refused_.push_back(std::string(core::name_of(report.fact)) + ": nobody of " + what.of.text() +
                       " is there to say it");
    return std::nullopt;
  }
  return live::FromWorkerItem{node, sent(api::FromWorkerReport{what.by, std::move(what.message)})};
}

// --- what goes out ------------------------------------------------------------------------------

void LiveDaemon::translate(const live::OutboxItem& item, std::vector<sim::Outgoing>& out) {
  std::visit(Overloaded{
                 [&](const live::Admission& admission) {
                   for (const auto& order : admission.orders) translate(admission.node, order, out);
                 },
                 [&](const live::AgentRefusal& refusal) { refused_.push_back(refusal.why); },
                 [&](const live::NodeOrder& order) { translate(order.node, order.message, out); },
             },
             item);
}

void LiveDaemon::translate(NodeId node, const api::DaemonToAgent& order, std::vector<sim::Outgoing>& out) {
  const int index = node_of(node);
  std::visit(Overloaded{
                 [&](const api::StartWorker& start) {
                   const std::string& name = loop_->state().find_job(start.job)->spec.name;
                   job_of_[start.worker] = start.job;
                   out.emplace_back(sim::StartWorker{index, start.worker, start.job, start.slots, name});
                 },
                 [&](const api::StopWorker& stop) {
                   out.emplace_back(sim::StopWorker{index, stop.worker, Duration::millis(stop.grace_ms)});
                 },
                 [&](const api::ReportAck& ack) { out.emplace_back(sim::AckReport{index, ack.report}); },
                 // The state may know the worker no more: it may have been told something and have gone in one turn.
                 [&](const api::ToWorkerOrder& told) {
                   sim::tell_job(*loop_->state().find_job(job_of_.at(told.worker)), told.message, out);
                 },
                 // Of no consequence in the simulated world.
                 [](const api::ProbeNode&) {},
                 [](const api::ForgetJob&) {},
                 [](const auto&) { TP_CHECK(false, "the loop gives only orders to nodes"); },
             },
             over_the_wire(order));
}

void LiveDaemon::tell_decisions() {
  std::vector<live::StoredDecision> news = history_->decisions(std::nullopt, std::nullopt, kDecisionsPerTurn);
  std::erase_if(news, [&](const auto& stored) { return stored.id <= told_; });
  std::reverse(news.begin(), news.end());
  for (const live::StoredDecision& stored : news) {
    const auto decision = core::decision_from_json(stored.body);
    TP_CHECK(decision.ok() && stored.id.number() == told_.number() + 1, "the decision log has no gap");
    told_ = stored.id;
    ground_.on_decision(*decision);
  }
}

sim::Daemon::Books LiveDaemon::books() const {
  Books books;
  books.refused.assign(refused_.end() - static_cast<std::ptrdiff_t>(std::min(refused_.size(), kRefusedKept)),
                       refused_.end());
  return books;
}

}  // namespace tidepool::test
