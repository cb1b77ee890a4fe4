// The loop's dealings with policy files. It asks after a turn and goes on with whatever comes in; the answer is an
// item of a later turn, and decides nothing before that. The comparison with a shadow is the shell's alone.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/json.hpp"
#include "schedulerd/live/loop.hpp"
#include "schedulerd/live/policies/policy_evaluator.hpp"

namespace tidepool::live {
namespace {

constexpr Duration kShadowEvery = Duration::seconds(30);
constexpr const char* kDeadline = "policy.deadline";  // as a round that failed names it

}  // namespace

std::shared_ptr<const RunnablePolicy> Loop::runnable(const core::PolicyFileRef& ref,
                                                     std::shared_ptr<const RunnablePolicy>& kept) {
  if (kept && kept->ref == ref) return kept;
  kept = nullptr;
  const auto version = reads_.policy_version(ref.name, ref.version);
  if (!version.ok() || !*version) return nullptr;
  const auto params = parse_json(ref.params);
  if (!params) return nullptr;
  auto made = make_runnable(**version, *params);
  if (!made.ok()) {
    spdlog::error("event=policy_unreadable policy={} why={:?}", core::short_name(ref), made.error().message);
    return nullptr;
  }
  return kept = std::make_shared<const RunnablePolicy>(*std::move(made));
}

Loop::DueRounds Loop::rounds_due_after(const leader::TurnResult& result, Instant now) {
  const auto rests = [](const core::Event& event) { return event.type == "generation.switched"; };
  const auto brings_rest = [&](const leader::TurnRow& row) {
    const auto* learnt = std::get_if<leader::FactRow>(&row);
    return learnt != nullptr && std::any_of(learnt->events.begin(), learnt->events.end(), rests);
  };
  return {.now = now,
          .round = result.policy_request,
          .shadow_due = result.planned || std::any_of(result.rows.begin(), result.rows.end(), brings_rest)};
}

void Loop::ask_policies(const DueRounds& due) {
  if (links_.asker == nullptr) return;
  ask_shadow(due);
  if (!due.round) return;
  const core::PolicyFileRef& active = *state().deployment.active;
  const std::int64_t number = *due.round;
  const Instant now = std::max(due.now, state().now);
  const auto policy = runnable(active, active_file_);
  policies::host::RoundRequest round{.state = state(), .now = now, .file = active, .number = number};
  const bool is_asked = policy && links_.asker->ask(policy, std::move(round));
  // What could not be asked is given up in the next turn.
  const Instant until = is_asked ? now + links_.asker->patience_with(*policy) : now;
  turn_.await({.number = number, .until = until, .is_readable = policy != nullptr});
}

// Beside the policy that decides: asked about the state that a decision has led to, and again when a job has come to
// rest, because no policy resizes one that is changing its size, and after a while, because time alone frees others.
// One that was at its deadline rests for that while: its process would take a core from the one that decides, at every
// decision.
void Loop::ask_shadow(const DueRounds& due) {
  const core::PolicyDeployment& deployment = state().deployment;
  if (!deployment.shadow) return;
  const Instant now = std::max(due.now, state().now);
  shadow_due_ = shadow_due_ || due.shadow_due || now - shadow_asked_at_ >= kShadowEvery;
  // One that is still busy with the round before is asked when that is done: its answer begins a turn.
  if (!shadow_due_ || shadow_busy_ || now < shadow_rests_until_) return;
  const auto policy = runnable(*deployment.shadow, shadow_file_);
  if (!policy) return;
  shadow_busy_ = links_.asker->compare(policy, {.state = state(), .now = now, .file = *deployment.shadow, .number = 1});
  shadow_due_ = false;
  shadow_asked_at_ = now;
}

std::optional<Loop::Report> Loop::add_comparisons(const std::vector<PolicyComparedItem>& items, Instant now) {
  std::optional<Report> kept;
  for (const PolicyComparedItem& item : items) {
    shadow_busy_ = false;
    if (item.comparison.fault == kDeadline) shadow_rests_until_ = now + kShadowEvery;
    if (state().deployment.shadow != item.file) continue;
    auto report = shadow_ ? std::make_shared<ShadowReport>(*shadow_) : std::make_shared<ShadowReport>();
    report->file = item.file;
    report->add(item.comparison);
    kept = shadow_ = std::move(report);
  }
  return kept;
}

// The comparison with a shadow begins anew, or ends.
std::optional<Loop::Report> Loop::begin_shadow(const std::vector<leader::TurnRow>& rows, Instant now) {
  std::optional<Report> kept;
  for (const leader::TurnRow& row : rows) {
    const auto* begun = std::get_if<leader::ShadowRow>(&row);
    if (begun == nullptr) continue;
    auto report = begun->file ? std::make_shared<ShadowReport>() : nullptr;
    if (report) {
      report->file = *begun->file;
      report->since = now;
    }
    kept = shadow_ = report;
    shadow_rests_until_ = Instant();
  }
  return kept;
}

}  // namespace tidepool::live
