#include "schedulerd/live/http/numbers/job_waits.hpp"

#include <utility>
#include <variant>

#include "core/codec/codec.hpp"
#include "core/state/job_state.hpp"
#include "core/state/reason_read.hpp"

namespace tidepool::live::http {
namespace {

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
    const bool is_wait = core::traits_of(reason).category == core::ReasonCategory::kWaiting;
    if (is_wait && is_open() && core::says_the_same(waits_.back().reason, reason)) {
      waits_.back().reason = reason;
      return;
    }
    close(at);
    if (is_wait) waits_.push_back({.from = at, .until = std::nullopt, .reason = reason});
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
