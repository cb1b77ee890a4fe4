#include "schedulerd/live/http/numbers/job_waits.hpp"

#include <utility>
#include <variant>

#include "core/codec/codec.hpp"
#include "core/state/job_state.hpp"
#include "core/state/reason_read.hpp"

namespace tidepool::live::http {
namespace {

// The job holds nothing, and this is why. A policy file's own word, its answer that is awaited, and a size of 0 without
// a word are of other categories, because they are said of jobs that run, too.
bool is_wait(const core::Reason& reason) {
  namespace why = core::reason;
  if (const auto* word = core::reason_as<why::PolicyWord>(reason)) return word->from == 0 && word->to == 0;
  if (const auto* awaits = core::reason_as<why::AwaitsPolicy>(reason)) return awaits->size == 0;
  if (const auto* given = core::reason_as<why::FixedSize>(reason)) return given->size == 0;
  return core::traits_of(reason).category == core::ReasonCategory::kWaiting;
}

class Waits {
 public:
  explicit Waits(const core::Job& job) : job_(job) {}

  void see(const core::Decision& decision) {
    for (const core::Verdict& verdict : decision.verdicts) {
      if (verdict.job == job_.id) say(decision.at, verdict.reason);
    }
    for (const core::PlannedIntent& planned : decision.plan) {
      const bool starts = std::holds_alternative<core::StartIntent>(planned.intent);
      if (starts && core::job_of(planned.intent) == job_.id) close(decision.at);
    }
  }

  std::vector<JobWait> take() && {
    if (const auto ended = job_.phase.ended_at()) close(*ended);
    const bool waits = job_.state() == core::JobState::kPending || job_.state() == core::JobState::kSuspended;
    if (!waits) close(newest_);
    if (waits_.size() > kWaitsMost) waits_.erase(waits_.begin(), waits_.end() - kWaitsMost);
    return std::move(waits_);
  }

 private:
  [[nodiscard]] bool is_open() const { return !waits_.empty() && !waits_.back().until; }

  void say(Instant at, const core::Reason& reason) {
    newest_ = at;
    const bool waits = is_wait(reason);
    if (waits && is_open() && core::says_the_same(waits_.back().reason, reason)) {
      waits_.back().reason = reason;
      return;
    }
    close(at);
    if (waits) waits_.push_back({.from = at, .until = std::nullopt, .reason = reason});
  }

  // One that took no time was none.
  void close(Instant at) {
    if (!is_open()) return;
    waits_.back().until = at;
    if (at <= waits_.back().from) waits_.pop_back();
  }

  const core::Job& job_;
  std::vector<JobWait> waits_;
  Instant newest_;
};

}  // namespace

std::vector<JobWait> waits_of(const core::Job& job, const std::vector<StoredDecision>& newest_first) {
  Waits waits(job);
  for (auto stored = newest_first.rbegin(); stored != newest_first.rend(); ++stored) {
    const auto decision = core::decision_from_json(stored->body);
    if (decision.ok()) waits.see(*decision);
  }
  return std::move(waits).take();
}

}  // namespace tidepool::live::http
