// What the daemon has sent about this worker's end, and what the program has answered. The link's thread and the
// training thread write it. A notice of a newer decision replaces the previous one.
#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "api/worker_protocol.hpp"

namespace tidepool::runtime {

inline constexpr std::int64_t kNeedsMostMs = 86'400'000;

using WallTime = std::chrono::system_clock::time_point;

struct LeaveNotice {
  DecisionId decision;
  std::string reason;  // a code for programs
  std::string sentence;
  WallTime by;             // then the process is killed
  std::int64_t said = 0;   // answers of this program so far
  std::int64_t heard = 0;  // number of these answers that the daemon has decided on
  bool granted = false;    // the newest answer that the daemon decided on was granted
};

class NoticeBoard {
 public:
  void tell(const api::NoticeMessage& news, WallTime now) {
    const std::lock_guard lock(mutex_);
    const bool same = notice_ && notice_->decision == news.decision;
    if (notice_ && !same && news.decision < notice_->decision) return;
    notice_ = {.decision = news.decision,
               .reason = news.reason,
               .sentence = news.sentence,
               .by = now + std::chrono::milliseconds(news.in_ms),
               .said = std::max(same ? notice_->said : 0, news.answers),
               .heard = news.answers,
               .granted = news.granted};
    if (!same) answer_.reset();
  }

  [[nodiscard]] std::optional<LeaveNotice> read() const {
    const std::lock_guard lock(mutex_);
    return notice_;
  }

  // The message to send; none: there is no notice.
  [[nodiscard]] std::optional<api::AnswerMessage> answer(api::NoticeAnswer answer, WallTime until, WallTime now) {
    const std::lock_guard lock(mutex_);
    if (!notice_) return std::nullopt;
    ++notice_->said;
    answer_ = {answer, until};
    return message(now);
  }

  // The newest answer, which may have been lost on its way; none: the daemon has received all answers.
  [[nodiscard]] std::optional<api::AnswerMessage> unheard(WallTime now) const {
    const std::lock_guard lock(mutex_);
    const bool lost = notice_ && answer_ && notice_->heard < notice_->said;
    return lost ? std::optional(message(now)) : std::nullopt;
  }

 private:
  struct Answer {
    api::NoticeAnswer answer = api::NoticeAnswer::kSaving;
    WallTime until;
  };
  [[nodiscard]] api::AnswerMessage message(WallTime now) const {
    const auto needs = std::chrono::ceil<std::chrono::milliseconds>(answer_->until - now).count();
    const bool asks = answer_->answer == api::NoticeAnswer::kUntil;
    return {.decision = notice_->decision,
            .number = notice_->said,
            .answer = answer_->answer,
            .needs_ms = asks ? std::clamp<std::int64_t>(needs, 0, kNeedsMostMs) : 0};
  }

  mutable std::mutex mutex_;
  std::optional<LeaveNotice> notice_;
  std::optional<Answer> answer_;  // the newest answer to notice_
};

}  // namespace tidepool::runtime
