// From one generation to the next: leave, build, agree on the state, continue.
#include "workers/runtime/live_session.hpp"

#include "api/v1/elastic_fields.hpp"
#include "workers/runtime/log.hpp"

namespace tidepool::runtime {

static_assert(kRanksMax == api::v1::kLiveWorkersMax, "a job file asks for no more workers than can work together");

void LiveSession::enter_newest() {
  leave_generation();
  pulse(api::PulsePhase::kWaiting);
  while (ending_ == Ending::kNone) {
    auto built = build_newest();
    if (built && take_part_in(*built)) return;
  }
}

// Leave the old generation first: a survivor that keeps its connections open would make the others wait.
void LiveSession::leave_generation() {
  if (!comm_) return;
  if (const auto rest = reports_.take(Clock::now())) report(*rest);
  const bool works = !broken_ && !membership_.failed_since(generation_.number);
  const Generation newest = membership_.newest();
  if (works && newest.rank_of(options_.worker) < 0) return;  // the communicator is needed once more
  if (!works) return drop_comm();
  membership_.unwatch(comm_watch_);
  retired_.settle_and_close(std::move(comm_));
}

void LiveSession::drop_comm() {
  if (!comm_) return;
  membership_.unwatch(comm_watch_);
  retired_.close_at_once(std::move(comm_));
}

// This worker is not a member of `newest`: the state is kept if all leave.
void LiveSession::leave_for_good(const Generation& newest) {
  pulse(api::PulsePhase::kSwitching);
  if (newest.park && progress_.has_state) {
    park();
  } else if (comm_) {
    comm_->settle();
  }
  drop_comm();
  if (ending_ == Ending::kNone) ending_ = Ending::kLeft;
}

// Rank 0 writes the state for all; the others leave once it is written. If a member died, every survivor writes its own
// state.
void LiveSession::park() {
  progress_.ledger = ledger_.state();
  const bool together = comm_ != nullptr;
  std::optional<Result<SavedState>> kept;
  if (!together || rank() == 0) kept = kept_.park(progress_);
  if (together && rank() != 0 && rank_zero_has_parked(false)) return;
  if (!kept) kept = kept_.park(progress_);
  if (together && rank() == 0) static_cast<void>(rank_zero_has_parked(kept->ok()));
  if (!kept->ok()) return fail(kept->error());
  log_info("saved the state of step " + std::to_string((*kept)->step) + " in " + (*kept)->path.string());
  if (!link_) return;
  link_->send(api::ParkedMessage{
      .generation = generation_.number, .step = (*kept)->step, .bytes = (*kept)->bytes, .write_ms = (*kept)->write_ms});
}

bool LiveSession::rank_zero_has_parked(bool kept) {
  const std::int64_t mine = kept ? 1 : 0;
  const auto all = comm_->allgather({&mine, 1});
  return all.ok() && all->front() == 1;
}

// Waits for a generation newer than all that were tried, and for its communicator. Nothing: it was not built, and
// either the session has ended or the caller tries again.
std::optional<CommBuilder::Built> LiveSession::build_newest() {
  if (own_fault_ && !end_is_shared() && !membership_.wait_newer(tried_, Clock::now() + options_.fault_grace)) {
    fail(*own_fault_);
    return std::nullopt;
  }
  if (!membership_.wait_newer(tried_, Clock::now() + (end_is_shared() ? options_.end_grace : options_.patience))) {
    if (end_is_shared()) {
      finish_alone();
      return std::nullopt;
    }
    fail({ErrorCode::kUnavailable, "gave up after " + std::to_string(options_.patience.count() / 1'000) +
                                       " s without a new generation: is the daemon running?"});
    return std::nullopt;
  }
  const Generation newest = membership_.newest();
  if (newest.rank_of(options_.worker) < 0) {
    leave_for_good(newest);
    return std::nullopt;
  }
  if (comm_) drop_comm();  // it was kept for leaving, but a newer generation contains this worker again
  if (newest.size() > kRanksMax) {
    fail(invalid_argument("a generation of " + std::to_string(newest.size()) + " workers; at most " +
                          std::to_string(kRanksMax) + " work together: lower elastic.max"));
    return std::nullopt;
  }
  if (builder_.target() < newest.number) start_build(newest, false);
  pulse(api::PulsePhase::kSwitching);
  gate_.interrupt();  // no member trains now, so sending ahead need not be throttled
  if (end_is_shared() && !builder_.wait_until(Clock::now() + options_.end_grace)) {
    finish_alone();
    return std::nullopt;
  }
  builder_.wait();
  if (builder_.state() == CommBuilder::State::kReady) return builder_.take();
  const Error failure = builder_.failure();
  log_info(failure.message);
  own_fault_.reset();  // a failure in an older generation does not apply to this one
  if (failure.code == ErrorCode::kIo) own_fault_ = failure;
  tried_ = builder_.target();
  return std::nullopt;
}

// The roles are fixed here, because the building thread must not read what this thread changes.
void LiveSession::start_build(const Generation& newest, bool trains) {
  builder_.abandon();
  gate_.resume();
  role_ = {.has_state = progress_.has_state, .trains = trains && !newest.after_failure};
  builder_.start(newest);
}

void LiveSession::restored() {
  const SavedState& kept = kept_.restored();
  if (!link_) return;
  link_->send(api::RestoredMessage{
      .generation = generation_.number, .step = kept.step, .bytes = kept.bytes, .path = kept.path.string()});
}

// A member died, and a newer generation will come; or a retry would not help.
void LiveSession::give_up(const Error& error) {
  drop_comm();
  if (error.code == ErrorCode::kInvalidArgument) {
    fail(error);
  } else {
    log_info("generation " + std::to_string(tried_) + ": " + error.message);
    if (error.code == ErrorCode::kIo) own_fault_ = error;
  }
}

// Agrees with the other members on the state to continue from; false if one of them died meanwhile.
bool LiveSession::take_part_in(CommBuilder::Built& built) {
  tried_ = built.generation.number;
  comm_ = std::move(built.comm);
  comm_watch_ = membership_.watch(tried_, Membership::Over::kByFailure, [comm = comm_] { comm->abort(); });
  progress_.ledger = ledger_.state();
  auto outcome = hand_over(*comm_, replica_, progress_, {.transfer = transfer_, .kept = &kept_});
  if (!outcome.ok()) {
    give_up(outcome.error());
    return false;
  }
  prepare_switch_report(built, *outcome);
  progress_ = outcome->progress;
  joined_here_ = outcome->received && progress_.steps > 0;
  ends_asked_ = false;
  end_agreed_ = false;
  ledger_.adopt(progress_.ledger);
  if (const Status planned = plan_batch(built.generation.size()); !planned.ok()) {
    give_up(planned.error());
    return false;
  }
  begin_generation(built.generation);
  if (outcome->restored) {
    unreported_audits_.clear();  // their epochs may be repeated
    restored();
  }
  report_unreported_audits(generation_.after_failure && outcome->bytes_moved > 0 && !outcome->received);
  reports_.restart(Clock::now());
  return true;
}

// Resets what is agreed on, counted and assigned within a generation.
void LiveSession::begin_generation(const Generation& built) {
  generation_ = built;
  // The worker that took the last checkpoint is dead, perhaps while writing it: take it again.
  if (generation_.after_failure && checkpoint_by_ && generation_.rank_of(checkpoint_by_) < 0) {
    checkpoint_wanted_ = true;
    checkpoint_by_ = WorkerId();
  }
  shares_ = SampleWeights(generation_.size());
  rebalance_.reset();
  broken_ = false;
  own_fault_.reset();
  switch_agreed_ = false;
  in_flight_ = 0;
  first_commit_here_ = true;
  if (link_) link_->set_generation(generation_.number);
}

}  // namespace tidepool::runtime
