// From one generation to the next: leave, build, agree on the state, go on.
#include "workers/runtime/live_session.hpp"

#include "workers/runtime/log.hpp"

namespace tidepool::runtime {

void LiveSession::enter_newest() {
  leave_generation();
  while (ending_ == Ending::kNone) {
    auto built = build_newest();
    if (built && take_part_in(*built)) return;
  }
}

// First out of the old one: a survivor that keeps its connections open would let the others wait.
void LiveSession::leave_generation() {
  if (!comm_) return;
  if (const auto rest = reports_.take(Clock::now())) report(*rest);
  if (!broken_ && !membership_.failed_since(generation_.number)) comm_->settle();
  drop_comm();
}

void LiveSession::drop_comm() {
  if (!comm_) return;
  membership_.unwatch(comm_watch_);
  if (retiring_.joinable()) retiring_.join();
  comm_->abort();
  retiring_ = std::thread([old = std::move(comm_)]() mutable { old.reset(); });
  comm_.reset();
}

// Waits for a generation above all that were tried, and for its communicator. Nothing: not built, and
// either the session has ended or the caller tries again.
std::optional<CommBuilder::Built> LiveSession::build_newest() {
  if (!membership_.wait_newer(tried_, Clock::now() + options_.patience)) {
    fail({ErrorCode::kUnavailable, "gave up after " + std::to_string(options_.patience.count() / 1'000) +
                                       " s without a new generation: is the daemon running?"});
    return std::nullopt;
  }
  const Generation newest = membership_.newest();
  if (newest.rank_of(options_.worker) < 0) {
    ending_ = Ending::kLeft;
    return std::nullopt;
  }
  if (newest.size() > kRanksMax) {
    fail(invalid_argument("a generation of " + std::to_string(newest.size()) + " workers; at most 256 work together"));
    return std::nullopt;
  }
  if (builder_.target() < newest.number) builder_.start(newest);
  builder_.wait();
  if (builder_.state() == CommBuilder::State::kReady) return builder_.take();
  log_info(builder_.failure());
  tried_ = builder_.target();
  return std::nullopt;
}

// Agrees with the other members on the state to go on from; false if one of them died meanwhile.
bool LiveSession::take_part_in(CommBuilder::Built& built) {
  tried_ = built.generation.number;
  comm_ = std::move(built.comm);
  comm_watch_ = membership_.watch(tried_, Membership::Over::kByFailure, [comm = comm_] { comm->abort(); });
  progress_.ledger = ledger_.state();
  auto outcome = hand_over(*comm_, replica_, progress_);
  if (!outcome.ok()) {
    drop_comm();
    if (outcome.error().code == ErrorCode::kInvalidArgument) {
      fail(outcome.error());
    } else {
      log_info("generation " + std::to_string(tried_) + ": " + outcome.error().message);
    }
    return false;
  }
  prepare_switch_report(built, *outcome);
  progress_ = outcome->progress;
  generation_ = built.generation;
  ledger_.adopt(progress_.ledger);
  ledger_.set_global_batch(batch_for(generation_.size()));
  broken_ = false;
  switch_agreed_ = false;
  in_flight_ = 0;
  first_commit_here_ = true;
  if (link_) link_->set_generation(generation_.number);
  reports_.restart(Clock::now());
  return true;
}

}  // namespace tidepool::runtime
