// Rank 0's reports to the daemon about steps, switches and audits.
#include "workers/runtime/live_session.hpp"

#include <algorithm>
#include <utility>

namespace tidepool::runtime {
namespace {

constexpr std::ptrdiff_t kAuditsAtEnd = 8;  // more than rank 0's reports to the daemon can be delayed by

}  // namespace

// Called before the ledger's commit, so that the epoch is the step's: the ledger does not count its samples yet.
void LiveSession::report_step(TimePoint now) {
  const auto due = reports_.add({.generation = generation_.number,
                                 .steps_committed = progress_.steps,
                                 .epoch = ledger_.state().epoch,
                                 .samples = sums_.fed.count,
                                 .loss_sum = totals_.mean_loss * static_cast<double>(sums_.fed.count),
                                 .compute_us = sums_.compute_us,
                                 .global_batch = ledger_.global_batch(),
                                 .noise_scale = schedule_.noise_scale(),
                                 .samples_total = ledger_.samples_committed() + sums_.fed.count,
                                 .shares = shares_.number()},
                                now);
  if (due) report(*due);
}

void LiveSession::report_switch(TimePoint now) {
  if (!switch_) return;
  if (switch_->last_commit_before) {
    const double gap_ms = millis_between(*switch_->last_commit_before, now);
    switch_->message.stall_ms = std::max(0.0, gap_ms - switch_->normal_step_ms);
  }
  report(switch_->message);
  switch_.reset();
}

// The first step with new shares uses data that was not read ahead; the second is like all later ones.
void LiveSession::report_shares(double step_ms) {
  if (!rebalance_) return;
  if (!rebalance_->first_ms) {
    rebalance_->first_ms = step_ms;
    return;
  }
  rebalance_->message.stall_ms = std::max(0.0, *rebalance_->first_ms - step_ms);
  report(rebalance_->message);
  rebalance_.reset();
}

namespace {

api::EpochAuditedMessage message_of(const EpochAudit& audit) {
  return {.epoch = audit.epoch,
          .expected = static_cast<std::int64_t>(audit.expected),
          .used = static_cast<std::int64_t>(audit.used),
          .checksum_ok = audit.checksum_ok};
}

}  // namespace

void LiveSession::report_audit(const EpochAudit& audit) {
  if (rank() == 0) return report(message_of(audit));
  unreported_audits_.push_back(message_of(audit));
  if (unreported_audits_.size() > kAuditsRepeated) unreported_audits_.pop_front();
}

// The previous rank 0 may have been disconnected from the daemon: the daemon takes the first report of each audit.
// `ahead`: this rank has committed a step that another rank, perhaps rank 0, had not; rank 0 then misses the end of an
// epoch.
void LiveSession::report_unreported_audits(bool ahead) {
  if (rank() != 0 && !ahead) return;
  for (const auto& audit : std::exchange(unreported_audits_, {})) report(audit);
}

// Every rank sends it, because rank 0 may die before its report is sent: the daemon takes the first of several.
void LiveSession::report_end() {
  if (!link_) return;
  // Audits that rank 0 has reported may still be in transit, and the daemon ignores them after a later one.
  const auto newest = unreported_audits_.end() - std::min<std::ptrdiff_t>(std::ssize(unreported_audits_), kAuditsAtEnd);
  for (auto audit = newest; audit != unreported_audits_.end(); ++audit) link_->send(*audit);
  if (const EpochAudit audit = ledger_.audit_so_far(); audit.expected > 0) link_->send(message_of(audit));
  link_->send(api::FinishedMessage{.last_step = progress_.steps,
                                   .loss = progress_.last_loss,
                                   .samples_total = static_cast<std::int64_t>(ledger_.samples_committed())});
}

void LiveSession::prepare_switch_report(const CommBuilder::Built& built, const HandoverOutcome& outcome) {
  // The step in progress is repeated unless a survivor had committed it.
  const bool repeats = in_flight_ > 0 && outcome.progress.steps == progress_.steps;
  SwitchInProgress next;
  next.message.generation = built.generation.number;
  next.message.switch_step = outcome.progress.steps;
  next.message.build_ms = built.build_ms;
  next.message.steps_redone = repeats ? 1 : 0;
  next.message.samples_repeated = repeats ? static_cast<std::int64_t>(in_flight_) : 0;
  next.message.bytes_moved = outcome.bytes_moved;
  next.message.unused = outcome.unused;
  next.last_commit_before = last_commit_;
  next.normal_step_ms = normal_step_ms_;
  switch_ = next;
}

Status LiveSession::answer(api::NoticeAnswer answer, WallTime until) {
  const WallTime now = std::chrono::system_clock::now();
  if (answer == api::NoticeAnswer::kUntil && until <= now) {
    return invalid_argument("the time until which the worker needs to stay has passed; name one that is to come");
  }
  const auto message = link_ ? notices_.answer(answer, until, now) : std::nullopt;
  if (!message) return invalid_argument("there is no notice to answer: this worker has not been told to leave");
  link_->send(*message);
  return ok_status();
}

}  // namespace tidepool::runtime
