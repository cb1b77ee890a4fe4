#include "tests/support/loop_world.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

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
  live::Command command{.body = leader::SubmitJob{elastic_job(name)}, .actor = "t"};
  if (!key.empty()) command.idempotency = {.key = key, .token_id = "t", .request_hash = name};
  return {std::move(command), std::move(done)};
}

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
      live::Loop::Links{*journal_, *reads_, *daemon_clock_, *inbox_, node, publisher, asker_.get()});
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
  node.disconnect();
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
  node.deliver();
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
