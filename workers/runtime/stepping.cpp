// The loop of steps: which samples, the sum over the workers, the commit, the end.
#include "workers/runtime/live_session.hpp"

#include "workers/runtime/log.hpp"

namespace tidepool::runtime {

Status LiveSession::join() {
  TP_CHECK(generation_.number == 0, "a session joins once");
  if (options_.agent_socket.empty()) {
    membership_.announce({.number = 1, .members = {options_.worker}}, false);
  } else {
    link_ = std::make_unique<AgentLink>(
        AgentLinkOptions{.socket_path = options_.agent_socket, .worker = options_.worker}, membership_);
  }
  enter_newest();
  if (ending_ == Ending::kFailed) return failure_;
  return ok_status();
}

std::optional<Step> LiveSession::next_step() {
  while (ending_ == Ending::kNone) {
    if (must_enter()) {
      enter_newest();
    } else if (at_end()) {
      finish();
    } else {
      return begin_step();
    }
  }
  return std::nullopt;
}

Step LiveSession::begin_step() {
  static_cast<void>(advance_build());
  const Lease lease = ledger_.lease();
  step_begin_ = Clock::now();
  in_flight_ = lease.end - lease.begin;
  reducer_.begin_step(comm_);
  Step step{.number = progress_.steps,
            .epoch = lease.epoch,
            .samples = ledger_.share(lease, rank(), size()),
            .global_batch = ledger_.global_batch()};
  fed_ = {};
  for (const std::uint64_t sample : step.samples) fed_.add(sample);
  return step;
}

// The numerics' rules say how the batch follows the size; a constant batch does not.
std::uint64_t LiveSession::batch_for(int) const {
  return options_.global_batch;
}

// Starts building for a newer generation, and says which one this rank is ready to enter.
GenerationNumber LiveSession::advance_build() {
  const Generation newest = membership_.newest();
  if (newest.number <= generation_.number) return 0;
  const bool leaves = newest.rank_of(options_.worker) < 0;
  if (leaves || options_.build == BuildMode::kWindow) return newest.number;
  if (builder_.target() < newest.number) builder_.start(newest);
  return builder_.state() == CommBuilder::State::kReady ? newest.number : 0;
}

Status LiveSession::bucket_ready(std::size_t first, std::size_t count) {
  TP_CHECK(comm_ != nullptr && in_flight_ > 0, "bucket_ready() comes between next_step() and reduce()");
  return reducer_.add(first, count);
}

Reduced LiveSession::reduce(double loss_sum) {
  TP_CHECK(comm_ != nullptr && in_flight_ > 0, "reduce() follows next_step()");
  if (const Status status = sum_over_ranks(loss_sum); !status.ok()) {
    log_info("generation " + std::to_string(generation_.number) + " ends: " + status.error().message);
    broken_ = true;
    return Reduced::kRetry;
  }
  sums_ = read_control_word(reducer_.word(comm_->size()), place());
  totals_.samples = sums_.fed.count;
  totals_.mean_loss = sums_.loss_sum / static_cast<double>(sums_.fed.count);
  return Reduced::kCommit;
}

Status LiveSession::sum_over_ranks(double loss_sum) {
  const std::int64_t compute_us = micros_between(step_begin_, Clock::now());
  TP_TRY(reducer_.drain());
  const ControlReport mine{.ready_for = advance_build(), .fed = fed_, .loss_sum = loss_sum, .compute_us = compute_us};
  write_control_word(mine, place(), reducer_.word(comm_->size()));
  return reducer_.finish();
}

void LiveSession::commit() {
  TP_CHECK(in_flight_ > 0, "commit() follows a reduce() that said so");
  in_flight_ = 0;
  ++progress_.steps;
  progress_.last_loss = totals_.mean_loss;
  const TimePoint now = Clock::now();
  report_switch(now);  // before the steps, which would tell of a generation that nobody has switched to
  report_step(now);
  if (const auto audit = ledger_.commit(sums_.fed)) {
    report_audit(*audit);
  }
  switch_agreed_ = sums_.agreed_next().has_value();
  if (last_commit_ && !first_commit_here_) {
    const double step_ms = millis_between(*last_commit_, now);
    normal_step_ms_ = normal_step_ms_ == 0 ? step_ms : 0.8 * normal_step_ms_ + 0.2 * step_ms;
  }
  last_commit_ = now;
  first_commit_here_ = false;
}

// The end that all workers reach together. If one died just now, the survivors first become a
// generation again, and next_step() comes back here.
void LiveSession::finish() {
  progress_.finishing = true;
  if (ending_ != Ending::kNone || must_enter()) return;
  const std::int64_t steps = progress_.steps;
  if (!comm_->allgather({&steps, 1}).ok()) {
    broken_ = true;
    return;
  }
  report_switch(Clock::now());
  if (const auto rest = reports_.take(Clock::now())) report(*rest);
  if (const EpochAudit audit = ledger_.audit_so_far(); audit.expected > 0) {
    report_audit(audit);
  }
  report(api::FinishedMessage{.last_step = progress_.steps, .loss = progress_.last_loss});
  comm_->settle();
  ending_ = Ending::kFinished;
}

void LiveSession::fail(Error error) {
  log_warning(error.message);
  failure_ = std::move(error);
  ending_ = Ending::kFailed;
}

}  // namespace tidepool::runtime
