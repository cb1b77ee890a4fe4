#include "core/explain/notice_evidence.hpp"

#include <algorithm>

#include "core/words/notice_words.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {
namespace {

constexpr std::size_t kAnswersTold = 4;

// Its job continues: its program refused, or was asked and is no longer needed.
bool is_over(const ClusterState& state, const Job& job, const Worker& worker) {
  const LeaveNotice& notice = *worker.notice;
  const auto& asked = job.preemption.asked;
  if (asked && asked->decision == notice.decision) return state.now >= asked->answer_by;
  const bool has_said_nothing = notice.answer == NoticeAnswer::kNone;
  return notice.refused && (has_said_nothing || state.now >= job.preemption.refused_until.value_or(state.now));
}

}  // namespace

std::vector<std::string> notice_evidence(const ClusterState& state, const Job& job) {
  std::vector<std::string> lines;
  int silent = 0;
  Instant first;
  for (const WorkerId id : job.membership.workers) {
    const Worker& worker = *state.find_worker(id);
    if (!worker.notice || worker.is_gone() || is_over(state, job, worker)) continue;
    if (worker.notice->answer == NoticeAnswer::kNone) {
      first = silent == 0 ? worker.notice->by : std::min(first, worker.notice->by);
      ++silent;
    } else if (lines.size() < kAnswersTold) {
      lines.push_back(answer_text(state, worker));
    }
  }
  if (silent > 0) {
    lines.push_back(counted(silent, "worker") + (silent == 1 ? " has" : " have") + " until " +
                    clock_text(state, first) + (job.preemption.asked ? " to answer" : " to leave"));
  }
  return lines;
}

}  // namespace tidepool::core
