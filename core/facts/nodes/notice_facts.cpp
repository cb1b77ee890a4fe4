#include "core/facts/nodes/notice_facts.hpp"

#include <algorithm>
#include <limits>

#include "core/facts/event_data.hpp"
#include "core/facts/nodes/node_facts.hpp"

namespace tidepool::core {
namespace {

// Maximum number of answers of one program to one notice; further answers are ignored.
constexpr std::int64_t kAnswersMost = 1'000;

Instant within_drain(const ClusterState& state, const Worker& worker, Instant by) {
  const auto& drain = state.find_node(worker.node)->drain;
  return drain ? std::min(by, drain->deadline) : by;
}

// The latest end that can be granted to the workers of one notice.
Instant latest_end(const ClusterState& state, const Job& job, const std::vector<WorkerId>& workers) {
  const Duration extension = state.tenants->notice_extension_of(job.spec.tenant);
  Instant latest = Instant::from_micros(std::numeric_limits<std::int64_t>::max());
  for (const WorkerId id : workers) {
    const Worker& worker = *state.find_worker(id);
    latest = std::min(latest, within_drain(state, worker, worker.notice->due + extension));
  }
  return latest;
}

void put_off(Worker& worker, Instant by) {
  if (by <= worker.notice->by) return;
  worker.notice->by = by;
  if (worker.stop_due) worker.stop_due = std::max(*worker.stop_due, by);
  if (worker.kill_at) worker.kill_at = std::max(*worker.kill_at, by);
}

// The answer settles the question to its job. Returns whether it is a refusal.
bool refuses(StateChange& change, Job& job, const NoticeAnswered& fact) {
  auto& asked = job.preemption.asked;
  if (!asked || asked->decision != fact.decision || change.at() >= asked->answer_by) return false;
  const Duration holds = change.state().tenants->notice_refusal_of(job.spec.tenant);
  if (fact.answer != NoticeAnswer::kRefuse || holds == Duration()) {
    asked->yields = true;
    return false;
  }
  asked.reset();
  job.preemption.refused_until = change.at() + holds;
  return true;
}

// The job stays, whatever its programs have answered since.
bool is_refused(const ClusterState& state, const std::vector<WorkerId>& together) {
  return std::any_of(together.begin(), together.end(),
                     [&](WorkerId id) { return state.find_worker(id)->notice->refused; });
}

}  // namespace

const LeaveNotice& give_notice(StateChange& change, WorkerId id, const Reason& reason, Duration within) {
  Worker& worker = change.worker(id);
  LeaveNotice notice{.decision = change.decision(), .reason = reason};
  notice.due = within_drain(change.state(), worker, change.at() + within);
  // Earlier promises to it remain valid.
  if (worker.notice) notice.due = std::max(notice.due, worker.notice->due);
  notice.by = worker.notice ? std::max(notice.due, worker.notice->by) : notice.due;
  worker.notice = std::move(notice);
  return *worker.notice;
}

std::vector<WorkerId> noticed_by(const ClusterState& state, const Job& job, DecisionId decision) {
  std::vector<WorkerId> found;
  for (const WorkerId id : job.membership.workers) {
    const auto& notice = state.find_worker(id)->notice;
    if (notice && notice->decision == decision) found.push_back(id);
  }
  return found;
}

Status apply(StateChange& change, const NoticeAnswered& fact) {
  TP_TRY(check_worker(change.state(), fact.worker));
  if (fact.needs < Duration() || fact.number < 1 || fact.answer == NoticeAnswer::kNone) {
    return invalid_argument("an answer of " + fact.worker.text() + " to its notice needs a number and a time of >= 0");
  }
  const Worker* speaker = change.state().find_worker(fact.worker);
  const bool heard = speaker != nullptr && speaker->notice && speaker->notice->decision == fact.decision &&
                     speaker->notice->answers < fact.number && speaker->notice->answers < kAnswersMost;
  if (!heard || change.at() >= speaker->notice->by) return ok_status();
  Job& job = change.job(speaker->job);
  const Instant before = speaker->notice->by;
  const Instant asked = change.at() + std::min(fact.needs, kNoticeExtensionMost * 2);
  const auto together = noticed_by(change.state(), job, fact.decision);
  const Instant granted = std::min(asked, latest_end(change.state(), job, together));
  if (fact.answer == NoticeAnswer::kUntil) {
    for (const WorkerId id : together) put_off(change.worker(id), granted);
  }
  const bool stays = is_refused(change.state(), together);
  LeaveNotice& notice = *change.worker(fact.worker).notice;
  notice.answer = fact.answer;
  notice.answers = fact.number;
  notice.granted =
      fact.answer == NoticeAnswer::kUntil ? notice.by >= asked : stays || fact.answer != NoticeAnswer::kRefuse;
  if (refuses(change, job, fact)) {
    for (const WorkerId id : together) {
      LeaveNotice& each = *change.worker(id).notice;
      each.granted = true;
      each.refused = true;
    }
  }
  change.emit("job.notice_answered", job, answered_data(change.state(), fact, before));
  return ok_status();
}

}  // namespace tidepool::core
