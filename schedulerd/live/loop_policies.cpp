// The loop and policy files. It asks after a commit, goes on with whatever comes in, and learns the answer as a fact;
// whether that still counts is decided by the engine (core/facts/policy_facts.hpp).
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/json.hpp"
#include "schedulerd/live/loop.hpp"
#include "schedulerd/live/policies/policy_evaluator.hpp"

namespace tidepool::live {
namespace {

constexpr Duration kShadowEvery = Duration::seconds(30);
constexpr const char* kDeadline = "policy.deadline";

core::PolicyRound failure(std::int64_t number, Instant at, const std::string& code, const std::string& message) {
  core::PolicyRound round{.number = number, .asked_at = at};
  round.fault = code;
  round.message = message;
  return round;
}

}  // namespace

// The version if it is stored and its parameters suit it.
Result<core::PolicyFileRef> Loop::stored(const core::PolicyFileRef& ref) {
  auto version = links_.journal.policy_version(ref.name, ref.version);
  if (!version.ok()) return version.error();
  if (!*version) {
    return not_found("there is no version " + ref.version + " of " + ref.name + "; upload it first");
  }
  const auto params = parse_json(ref.params);
  if (!params) return params.error();
  auto made = make_runnable(**version, *params);
  if (!made) return made.error();
  return made->ref;
}

std::shared_ptr<const RunnablePolicy> Loop::runnable(const core::PolicyFileRef& ref,
                                                     std::shared_ptr<const RunnablePolicy>& kept) {
  if (kept && kept->ref == ref) return kept;
  kept = nullptr;
  const auto version = links_.journal.policy_version(ref.name, ref.version);
  if (!version.ok() || !*version) return nullptr;
  const auto params = parse_json(ref.params);
  if (!params) return nullptr;
  auto made = make_runnable(**version, *params);
  if (!made.ok()) {
    spdlog::error("event=policy_unreadable policy={} why=\"{}\"", core::short_name(ref), made.error().message);
    return nullptr;
  }
  return kept = std::make_shared<const RunnablePolicy>(*std::move(made));
}

void Loop::ask_policies(const Turn& turn) {
  if (links_.asker == nullptr) return;
  ask_shadow(turn);
  const core::PolicyDeployment& deployment = engine_.view().deployment;
  if (awaited_ && (!deployment.active || awaited_->number != deployment.next_round)) awaited_.reset();
  const Instant now = std::max(turn.now, engine_.view().now);
  const auto number = awaited_ ? std::nullopt : engine_.question(now);
  if (!number) return;
  const auto policy = runnable(*deployment.active, active_file_);
  policies::host::RoundAsked asked{.state = engine_.view(), .now = now, .file = *deployment.active, .number = *number};
  const bool is_asked = policy && links_.asker->ask(policy, std::move(asked));
  // A round that could not be asked is given up in the next turn.
  awaited_ = {*number, is_asked ? now + links_.asker->patience_with(*policy) : now};
}

// Beside the active policy: asked about the state that a decision has led to, and again when a job has come to rest,
// because none is resized while it changes its size, and after a while, because time alone frees others. A shadow that
// was at its deadline rests for that while: else its process takes a core from the active one at every decision.
void Loop::ask_shadow(const Turn& turn) {
  const core::PolicyDeployment& deployment = engine_.view().deployment;
  if (!deployment.shadow) return;
  const Instant now = std::max(turn.now, engine_.view().now);
  const auto rests = [](const core::Event& event) { return event.type == "generation.switched"; };
  shadow_due_ = shadow_due_ || turn.planned || now - shadow_asked_at_ >= kShadowEvery ||
                std::any_of(turn.events.begin(), turn.events.end(), rests);
  // One that is still busy with the round before is asked when that is done: its answer begins a turn.
  if (!shadow_due_ || shadow_busy_ || now < shadow_rests_until_) return;
  const auto policy = runnable(*deployment.shadow, shadow_file_);
  if (!policy) return;
  shadow_busy_ =
      links_.asker->compare(policy, {.state = engine_.view(), .now = now, .file = *deployment.shadow, .number = 1});
  shadow_due_ = false;
  shadow_asked_at_ = now;
}

Status Loop::give_up_late_round(Turn& turn) {
  const Instant now = std::max(turn.now, engine_.view().now);
  if (!awaited_ || now < awaited_->until) return ok_status();
  const Awaited late = *awaited_;
  awaited_.reset();
  const bool readable = active_file_ != nullptr;
  auto refused = learn(
      core::PolicyAnswered{failure(late.number, now, readable ? kDeadline : "policy.not_started",
                                   readable ? "no answer has come in time from the policy host"
                                            : "the stored version cannot be read; upload it again and activate it")},
      turn);
  return refused.ok() ? ok_status() : Status(refused.error());
}

Status Loop::on_round(PolicyRoundItem item, Turn& turn) {
  const core::PolicyDeployment& deployment = engine_.view().deployment;
  if (!deployment.active || item.round.number != deployment.next_round) {
    spdlog::info("event=policy_answer_late round={} awaited={}", item.round.number, deployment.next_round);
    return ok_status();
  }
  if (!item.round.fault.empty()) {
    spdlog::warn("event=policy_failed policy={} code={} why=\"{}\"", core::short_name(*deployment.active),
                 item.round.fault, item.round.message);
  }
  awaited_.reset();
  auto refused = learn(core::PolicyAnswered{std::move(item.round)}, turn);
  return refused.ok() ? ok_status() : Status(refused.error());
}

Status Loop::on_compared(const PolicyComparedItem& item, Turn& turn) {
  shadow_busy_ = false;
  if (item.comparison.fault == kDeadline) shadow_rests_until_ = turn.now + kShadowEvery;
  if (engine_.view().deployment.shadow != item.file) return ok_status();
  auto report = shadow_ ? std::make_shared<ShadowReport>(*shadow_) : std::make_shared<ShadowReport>();
  report->file = item.file;
  report->add(item.comparison);
  TP_TRY(links_.journal.set_shadow_report(report.get()));
  shadow_ = std::move(report);
  turn.changed = true;
  return ok_status();
}

// The commands about policy files; `journal` tells of a failed journal.
Status Loop::carry_out_policy(const Command& command, Turn& turn, Status& journal) {
  const auto fact = [&](core::Fact what) -> Status {
    auto refused = learn(std::move(what), turn);
    if (!refused.ok()) return journal = refused.error();
    return *refused ? Status(**refused) : ok_status();
  };
  const std::string now = links_.clock.wall().text(turn.now);
  if (const auto* store = std::get_if<StorePolicyVersion>(&command.body)) {
    PolicyVersion version = store->version;
    version.created_at = now;
    version.created_by = command.actor;
    return journal = links_.journal.append(version);
  }
  if (const auto* note = std::get_if<NotePolicyChecks>(&command.body)) {
    PolicyChecks checks = note->checks;
    checks.at = now;
    return journal = links_.journal.note_checks(note->name, note->version, checks);
  }
  if (const auto* activate = std::get_if<ActivatePolicy>(&command.body)) {
    if (activate->file) TP_TRY(stored(*activate->file));
    return fact(core::PolicyActivated{activate->file});
  }
  if (const auto* back = std::get_if<RollBackPolicy>(&command.body)) {
    const auto& active = engine_.view().deployment.active;
    if (active && active->name != back->name) {
      return conflict(back->name + " is not active; " + active->name + " is: roll that back");
    }
    return fact(core::PolicyRolledBack{back->why});
  }
  return change_shadow(std::get<ShadowPolicy>(command.body).file, turn, journal);
}

// `journal` tells of a failed journal.
Status Loop::change_shadow(const std::optional<core::PolicyFileRef>& file, Turn& turn, Status& journal) {
  if (file) TP_TRY(stored(*file));
  auto refused = learn(core::PolicyShadowed{file}, turn);
  if (!refused.ok()) return journal = refused.error();
  if (*refused) return **refused;
  auto report = file ? std::make_shared<ShadowReport>() : nullptr;
  if (report) {
    report->file = *file;
    report->since = turn.now;
  }
  shadow_ = report;
  shadow_rests_until_ = Instant();
  turn.planned = true;
  return journal = links_.journal.set_shadow_report(report.get());
}

}  // namespace tidepool::live
