#include "tests/support/loop_world.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/overloaded.hpp"
#include "core/codec/codec.hpp"
#include "core/facts/detector_of.hpp"
#include "policies/host/file_policy.hpp"
#include "policies/registry.hpp"
#include "straggler/change_point_detector.hpp"
#include "straggler/registry.hpp"

namespace tidepool::test {

// It sizes one job at a time, and tries sizes by itself.
constexpr const char* kPolicy = "autoscaling_engine";

core::Engine::Parts engine_parts() {
  auto policies = policies::make_policies(kPolicy);
  TP_CHECK(policies.ok(), "the built-in policies are there");
  return {.policies = *std::move(policies),
          .stragglers = {std::make_shared<core::DetectorOf<straggler::ChangePointDetector>>()},
          .config = {},
          .file_policy = std::make_shared<const policies::host::FilePolicy>(policies::host::built_in_fallback())};
}

core::JobSpec elastic_job(const std::string& name) {
  core::JobSpec spec;
  spec.name = name;
  spec.elastic = {.min = 1,
                  .max = 4,
                  .preferred = 2,
                  .sizes = {1, 2, 4},
                  .cooldown = Duration::seconds(1),
                  .grace = Duration::seconds(2)};
  spec.batch = {.global = 64, .per_worker_max = 64};
  spec.scaling.every_steps = 4;
  spec.run = core::RunSpec{.trainer = "charlm"};
  return spec;
}

live::CommandItem submit(const std::string& name, const std::string& key,
                         std::function<void(Result<live::Receipt>)> done) {
  live::Command command{.body = live::SubmitJob{elastic_job(name)}, .actor = "t"};
  if (!key.empty()) command.idempotency = {.key = key, .token_id = "t", .request_hash = name};
  return {std::move(command), std::move(done)};
}

// --- the agent ----------------------------------------------------------------------------------

void FakeAgent::post(std::vector<live::OutboxItem> items) {
  for (const auto& item : items) {
    std::visit(Overloaded{
                   [&](const live::Admission& admission) {
                     node_ = admission.node;
                     for (const auto& order : admission.orders) handle(order);
                   },
                   [&](const live::AgentRefusal&) { node_.reset(); },
                   [&](const live::NodeOrder& order) {
                     if (node_) handle(order.message);
                   },
                   [](const live::CertificateGrant&) {},  // it comes with the shared token
                   [](const live::NodeExpulsion&) {},
               },
               item);
  }
}

void FakeAgent::handle(const api::DaemonToAgent& order) {
  if (const auto* start = std::get_if<api::StartWorker>(&order)) {
    if (!ever_.insert(start->worker).second) return;
    running_.insert(start->worker);
    started_.push_back(start->worker);
    told_[start->worker].job = start->job;
  } else if (const auto* stop = std::get_if<api::StopWorker>(&order)) {
    if (running_.contains(stop->worker) || ever_.insert(stop->worker).second) end(stop->worker, 0);
  } else if (const auto* ack = std::get_if<api::ReportAck>(&order)) {
    std::erase_if(unacknowledged_, [&](const auto& report) { return report.report == ack->report; });
  } else if (const auto* to_worker = std::get_if<api::ToWorkerOrder>(&order)) {
    const auto* news = std::get_if<api::GenerationMessage>(&to_worker->message);
    Told& told = told_[to_worker->worker];
    if (news == nullptr || news->number <= told.generation) return;
    told.generation = news->number;
    told.members = news->members;
    told.said_switched = false;
    const bool leaves = std::find(news->members.begin(), news->members.end(), to_worker->worker) == news->members.end();
    if (leaves && running_.contains(to_worker->worker)) end(to_worker->worker, 0);
  }
}

void FakeAgent::end(WorkerId worker, int exit_code) {
  running_.erase(worker);
  unacknowledged_.push_back({.report = next_report_++, .worker = worker, .exit_code = exit_code, .detail = "ended"});
}

live::AgentHelloItem FakeAgent::hello() const {
  return {.session = 1,
          .hello = {.node = "local",
                    .slots = slots_,
                    .slot_type = "cpu",
                    .price_per_slot_hour = "1.00",
                    .running = {running_.begin(), running_.end()}}};
}

live::FromWorkerItem FakeAgent::say(WorkerId worker, api::FromWorker message) const {
  return {*node_, {.worker = worker, .message = std::move(message)}};
}

std::optional<live::InboxItem> FakeAgent::next_report(Rng& rng) {
  if (!node_) return std::nullopt;
  if (!unacknowledged_.empty() && rng.chance(0.5)) {
    return live::WorkerExitedItem{*node_, unacknowledged_[rng.below(unacknowledged_.size())]};
  }
  if (running_.empty()) return std::nullopt;
  const auto worker = *std::next(running_.begin(), static_cast<std::ptrdiff_t>(rng.below(running_.size())));
  if (rng.chance(0.02)) {
    end(worker, 1);
    return std::nullopt;
  }
  return next_of(worker, rng);
}

std::optional<live::InboxItem> FakeAgent::next_of(WorkerId worker, Rng& rng) {
  Told& told = told_[worker];
  if (told.generation == 0) return say(worker, api::ReadyMessage{});
  if (told.members.front() != worker) return std::nullopt;
  if (!std::exchange(told.said_switched, true)) {
    return say(worker, api::SwitchedMessage{.generation = told.generation, .switch_step = last_step_[told.job]});
  }
  std::int64_t& step = last_step_[told.job];
  if (step > 200) return say(worker, api::FinishedMessage{.last_step = step, .loss = 1, .samples_total = step * 64});
  const std::int64_t count = rng.between(1, 8);
  step += count;
  api::StepsMessage steps{.generation = told.generation,
                          .last_step = step,
                          .steps = count,
                          .elapsed_us = count * 100'000 / static_cast<std::int64_t>(told.members.size()),
                          .samples = count * 64,
                          .loss = 4.0 / static_cast<double>(step),
                          .epoch = 1,
                          .compute_us = {},
                          .samples_total = step * 64};
  for (std::size_t i = 0; i < told.members.size() * static_cast<std::size_t>(count); ++i) {
    steps.compute_us.push_back(rng.between(20'000, 25'000));
  }
  return say(worker, std::move(steps));
}

// --- the world ----------------------------------------------------------------------------------

bool LoopWorld::boot(const std::string& folder) {
  spdlog::set_level(spdlog::level::off);
  folder_ = folder;
  std::filesystem::create_directories(folder);
  const auto fail = [&](const Error& error) {
    failure = error.message;
    return false;
  };
  auto journal = live::Journal::open(folder + "/journal.db", options_);
  if (!journal.ok()) return fail(journal.error());
  core::Engine::Parts parts = engine_parts();
  if (!detector.empty()) {
    parts.stragglers.named = core::detectors_of(straggler::kDetectors);
    parts.stragglers.usual = parts.stragglers.named.at(detector);
  }
  auto recovered = live::recover(*journal, parts);
  if (!recovered.ok()) return fail(recovered.error());
  auto reads = live::JournalReads::open(folder + "/journal.db", options_.vfs);
  if (!reads.ok()) return fail(reads.error());
  loop_.reset();
  reads_ = *std::move(reads);
  journal_ = std::make_unique<live::Journal>(*std::move(journal));
  daemon_clock_ = std::make_unique<live::DaemonClock>(clock, recovered->clock);
  inbox_ = std::make_unique<live::Inbox>(10'000);
  if (policy_files) asker_ = std::make_unique<live::PolicyAsker>(*policy_files, *inbox_);
  loop_ = std::make_unique<live::Loop>(
      *std::move(recovered), kPolicy,
      live::Loop::Links{*journal_, *reads_, *daemon_clock_, *inbox_, agent, publisher, asker_.get()});
  if (on_turn) loop_->observe(on_turn);
  if (!detector.empty()) loop_->set_detector(detector);
  return true;
}

std::string LoopWorld::copy_files(const std::string& name) const {
  const std::string copy = dir / name;
  std::filesystem::create_directories(copy);
  for (const char* file : {"journal.db", "journal.db-wal", "journal.db.mark"}) {
    const std::string from = folder_ + "/" + file;
    if (std::filesystem::exists(from)) std::filesystem::copy_file(from, copy + "/" + file);
  }
  return copy;
}

void LoopWorld::kill() {
  const std::string copy = copy_files("life-" + std::to_string(++kills_));
  loop_.reset();
  asker_.reset();
  reads_.reset();
  journal_.reset();
  agent.disconnect();
  folder_ = copy;
}

void LoopWorld::stop() {
  loop_.reset();
  reads_.reset();
  journal_.reset();
  kill();
}

bool LoopWorld::turn(std::vector<live::InboxItem> items, std::chrono::microseconds patience) {
  return turn_ahead(std::move(items), patience) && settle();
}

bool LoopWorld::settle() {
  const Status outcome = loop_->settle();
  if (!outcome.ok()) failure = outcome.error().message;
  return outcome.ok();
}

bool LoopWorld::turn_ahead(std::vector<live::InboxItem> items, std::chrono::microseconds patience) {
  for (auto& item : items) {
    if (inbox_->try_push(std::move(item)).ok()) continue;
    TP_CHECK(!settle(), "an inbox is closed only when the journal has failed");
    return false;
  }
  const Status outcome = loop_->turn(patience);
  if (!outcome.ok()) failure = outcome.error().message;
  return outcome.ok();
}

std::uint64_t LoopWorld::digest() const {
  return core::digest_of(loop_->state());
}

}  // namespace tidepool::test
