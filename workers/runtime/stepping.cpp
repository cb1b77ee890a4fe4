// The loop of steps: which samples, the sum over the workers, the commit, the end.
#include <algorithm>
#include <cmath>
#include <utility>

#include "workers/runtime/live_session.hpp"
#include "workers/runtime/log.hpp"

namespace tidepool::runtime {
namespace {

constexpr Millis kFirstStep{600'000};     // of a process, which loads libraries and fills caches
constexpr Millis kBetweenSteps{600'000};  // the program may evaluate or save there

// A length that the protocol cannot represent is not reported.
template <class Count>
std::optional<std::int64_t> told_length(Count length) {
  const bool fits = length > 0 && length <= static_cast<Count>(api::kWorkMax);
  return fits ? std::optional(static_cast<std::int64_t>(length)) : std::nullopt;
}

AgentLinkOptions link_options(const SessionOptions& options) {
  AgentLinkOptions link{.socket_path = options.agent_socket, .worker = options.worker};
  link.work_steps = told_length(options.steps);
  if (options.steps == 0) link.work_samples = told_length(options.work_samples);
  link.hears_notices = options.hears_notices;
  return link;
}

}  // namespace

Status LiveSession::use_stream(void* stream) {
  TP_TRY(open_gpu());
  gpu_->use_stream(stream);
  return ok_status();
}

Status LiveSession::open_gpu() {
  if (gpu_) return ok_status();
  auto gpu = Gpu::open();
  if (!gpu.ok()) return gpu.error();
  gpu_ = *std::move(gpu);
  replica_.use(gpu_);
  return ok_status();
}

Status LiveSession::register_on_device(std::string name, std::span<std::byte> memory) {
  TP_CHECK(ending_ == Ending::kNone && generation_.number == 0, "state is registered before join()");
  TP_TRY(open_gpu());
  TP_TRY(gpu_->check_place(memory, name));
  replica_.add(std::move(name), memory, Memory::kDevice);
  return ok_status();
}

Status LiveSession::lend_gradients(std::span<float> values) {
  TP_CHECK(generation_.number == 0, "gradients are lent before join()");
  TP_TRY(open_gpu());
  TP_TRY(gpu_->check_place(std::as_bytes(values), "gradients"));
  reducer_.lend(gpu_, values);
  return ok_status();
}

Status LiveSession::join() {
  TP_CHECK(generation_.number == 0, "a session joins once");
  TP_TRY(replica_.settle());
  if (options_.agent_socket.empty()) {
    membership_.announce({.number = 1, .members = {options_.worker}});
  } else {
    link_ = std::make_unique<AgentLink>(link_options(options_), AgentLink::Boards{membership_, pulse_, notices_});
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
  // The building thread may still be sending unchanged blocks to a joining worker; the program frees its state next.
  gate_.close();
  gate_.interrupt();
  return std::nullopt;
}

Step LiveSession::begin_step() {
  static_cast<void>(advance_build());
  const Lease lease = ledger_.lease();
  step_begin_ = Clock::now();
  in_flight_ = lease.end - lease.begin;
  reducer_.begin_step(comm_);
  reducer_.measure_squares(noise_due(progress_.steps));
  const StepFactors factors = schedule_.factors(progress_.steps);
  pulse(api::PulsePhase::kComputing);
  Step step{.number = progress_.steps,
            .epoch = lease.epoch,
            .samples = ledger_.share(lease, rank(), shares_),
            .global_batch = ledger_.global_batch(),
            .lr_factor = factors.lr_factor,
            .momentum_factor = factors.momentum_factor,
            .noise_scale = schedule_.noise_scale()};
  step.part = part_of_share(step.samples.size(), options_.per_worker_max);
  fed_ = {};
  for (const std::uint64_t sample : step.samples) fed_.add(sample);
  return step;
}

std::vector<std::uint64_t> LiveSession::expected_samples() const {
  TP_CHECK(in_flight_ > 0, "expected_samples() follows next_step()");
  return ledger_.share(ledger_.lease_after(ledger_.lease()), rank(), shares_);
}

// Starts building for a newer generation, and returns which one this rank is ready to enter.
GenerationNumber LiveSession::advance_build() {
  const Generation newest = membership_.newest();
  if (newest.number <= generation_.number) return 0;
  const bool leaves = newest.rank_of(options_.worker) < 0;
  if (leaves || options_.build == BuildMode::kWindow) return newest.number;
  if (builder_.target() < newest.number) start_build(newest, true);
  const CommBuilder::State state = builder_.state();
  if (state == CommBuilder::State::kFailed && std::exchange(failure_told_, newest.number) != newest.number) {
    // The others wait for this worker, and the daemon will end it because of that.
    log_warning(builder_.failure().message);
  }
  const bool ready = state == CommBuilder::State::kReady;
  return ready || builder_.connecting_for(Clock::now()) > options_.build_deadline ? newest.number : 0;
}

Status LiveSession::bucket_ready(std::size_t first, std::size_t count) {
  TP_CHECK(comm_ != nullptr && in_flight_ > 0, "bucket_ready() comes between next_step() and reduce()");
  if (!ends_asked_ && !broken_) broken_ = !ask_who_ended().ok();
  return goes_on_here() ? reducer_.add(first, count) : ok_status();
}

Reduced LiveSession::reduce(double loss_sum) {
  TP_CHECK(comm_ != nullptr && in_flight_ > 0, "reduce() follows next_step()");
  pulse(api::PulsePhase::kReducing);
  if (!ends_asked_ && !broken_) broken_ = !ask_who_ended().ok();
  if (!goes_on_here()) return Reduced::kRetry;
  if (const Status status = sum_over_ranks(loss_sum); !status.ok()) {
    log_info("generation " + std::to_string(generation_.number) + " ends: " + status.error().message);
    broken_ = true;
    if (status.error().code == ErrorCode::kIo) own_fault_ = status.error();
    return Reduced::kRetry;
  }
  sums_ = read_control_word(reducer_.word(comm_->size()), place());
  // A Python loop commits when it requests its next step, so its work between two steps comes before this point.
  pulse(api::PulsePhase::kComputing, kBetweenSteps);
  compare_ends(sums_.ends);
  if (ending_ != Ending::kNone) return Reduced::kRetry;
  totals_.samples = sums_.fed.count;
  totals_.mean_loss = sums_.mean_loss();
  if (const Status measured = measure_noise(); !measured.ok()) {
    fail(measured.error());
    return Reduced::kRetry;
  }
  gate_.close();
  return Reduced::kCommit;
}

Status LiveSession::sum_over_ranks(double loss_sum) {
  const std::int64_t compute_us = micros_between(step_begin_, Clock::now());
  TP_TRY(reducer_.drain());
  ControlReport mine{.ready_for = advance_build(), .fed = fed_, .compute_us = compute_us};
  if (!std::isnan(loss_sum)) mine.loss_sum = loss_sum;
  offered_ = membership_.newest_shares(generation_.number);
  const bool fits = offered_ && offered_->number() > shares_.number() && offered_->size() == size();
  if (!fits) offered_.reset();
  if (offered_) mine.shares = offered_->number();
  if (noise_due(progress_.steps) && fed_.count > 0) mine.noise_term = rank_term(reducer_.own_square(), fed_.count);
  write_control_word(mine, place(), reducer_.word(comm_->size()));
  return reducer_.finish();
}

void LiveSession::commit() {
  TP_CHECK(in_flight_ > 0, "commit() follows a reduce() that said so");
  in_flight_ = 0;
  schedule_.commit(progress_.steps, noise_);
  progress_.schedule = schedule_.state();
  ++progress_.steps;
  progress_.last_loss = totals_.mean_loss;
  if (const Status settled = replica_.settle(); !settled.ok()) fail(settled.error());
  const TimePoint now = Clock::now();
  if (last_commit_ && !first_commit_here_) report_shares(millis_between(*last_commit_, now));
  report_switch(now);  // before the steps: the daemon must receive a switch before steps of its generation
  report_step(now);
  gate_.open();
  if (const auto audit = ledger_.commit(sums_.fed)) report_audit(*audit);
  retired_.release();
  take_checkpoint(now);
  switch_agreed_ = sums_.agreed_next().has_value();
  if (sums_.agreed_shares()) change_shares(now);
  if (last_commit_ && !first_commit_here_) {
    const double step_ms = millis_between(*last_commit_, now);
    normal_step_ms_ = normal_step_ms_ == 0 ? step_ms : 0.8 * normal_step_ms_ + 0.2 * step_ms;
  }
  last_commit_ = now;
  first_commit_here_ = false;
  stepped_ = true;
  pulse(api::PulsePhase::kComputing, kBetweenSteps);
}

// All ranks have reported that they know the same table: each offered it in this step, so each has it.
void LiveSession::change_shares(TimePoint now) {
  TP_CHECK(offered_ && offered_->number() == sums_.agreed_shares(), "what was agreed on is what was offered");
  if (const auto rest = reports_.take(now)) report(*rest);  // one report contains steps of one table
  shares_ = *std::move(offered_);
  offered_.reset();
  rebalance_ = SharesInProgress{
      .message = {.generation = generation_.number, .number = shares_.number(), .step = progress_.steps},
      .first_ms = {}};
}

// The first of all ranks takes it; the others only count the interval, in case they become the first.
void LiveSession::take_checkpoint(TimePoint now) {
  checkpoint_wanted_ |= membership_.take_checkpoint_request() || kept_.due(now);
  if (!checkpoint_wanted_ || (rank() == 0 && kept_.is_writing())) return;
  checkpoint_wanted_ = false;
  kept_.restart_interval(now);
  checkpoint_by_ = rank() == 0 ? WorkerId() : generation_.members.front();
  if (rank() != 0) return;
  progress_.ledger = ledger_.state();
  kept_.take(progress_, [this, generation = generation_.number, step = progress_.steps](
                            const Result<SavedState>& kept) { report_checkpoint(generation, step, kept); });
}

void LiveSession::report_checkpoint(GenerationNumber generation, std::int64_t step, const Result<SavedState>& kept) {
  if (!kept.ok()) log_warning("step " + std::to_string(step) + ": no checkpoint: " + kept.error().message);
  if (!link_) return;
  if (!kept.ok()) {
    link_->send(api::CheckpointFailedMessage{.generation = generation, .step = step, .error = kept.error().message});
    return;
  }
  link_->send(api::CheckpointedMessage{.generation = generation,
                                       .step = kept->step,
                                       .bytes = kept->bytes,
                                       .write_ms = kept->write_ms,
                                       .path = kept->path.string()});
}

void LiveSession::pulse(api::PulsePhase phase, Millis least) {
  constexpr double kUsualSteps = 20;
  Millis limit = options_.stuck_after;
  if (limit.count() == 0) {
    limit = std::max(stepped_ ? least : kFirstStep, Millis{std::llround(kUsualSteps * normal_step_ms_)});
  }
  pulse_.set(phase, progress_.steps, limit);
}

// Called before the first sum of a generation, in which no rank knows the others' buckets yet.
Status LiveSession::ask_who_ended() {
  ends_asked_ = true;
  const EndWord mine = progress_.finishing ? EndWord::kEnded : joined_here_ ? EndWord::kMayHave : EndWord::kGoesOn;
  const auto word = static_cast<std::int64_t>(mine);
  const auto words = comm_->allgather({&word, 1});
  if (!words.ok()) return words.error();
  std::vector<EndWord> said;
  for (const std::int64_t each : *words) said.push_back(static_cast<EndWord>(each));
  compare_ends(said);
  return ok_status();
}

// The others may be summing the next step: this rank takes part with the buckets of the previous step, and all ranks
// read in its control word that it has ended.
Status LiveSession::send_end_in_sum() {
  TP_TRY(reducer_.repeat_step(comm_));
  TP_TRY(reducer_.drain());
  write_control_word({.ended = true}, place(), reducer_.word(comm_->size()));
  TP_TRY(reducer_.finish());
  sums_ = read_control_word(reducer_.word(comm_->size()), place());
  compare_ends(sums_.ends);
  return ok_status();
}

Status LiveSession::send_end() {
  pulse(api::PulsePhase::kReducing);
  if (!ends_asked_) return ask_who_ended();
  if (!has_all_steps()) return send_end_in_sum();
  const std::int64_t steps = progress_.steps;
  const auto all = comm_->allgather({&steps, 1});
  return all.ok() ? ok_status() : Status(all.error());
}

namespace {

std::string ranks_that(const std::vector<EndWord>& said, EndWord word) {
  std::string text;
  for (std::size_t rank = 0; rank < said.size(); ++rank) {
    if (said[rank] == word) text += (text.empty() ? "" : ", ") + std::to_string(rank);
  }
  return (text.find(',') == std::string::npos ? "rank " : "ranks ") + text;
}

}  // namespace

void LiveSession::compare_ends(const std::vector<EndWord>& said) {
  const auto count = [&](EndWord word) { return std::count(said.begin(), said.end(), word); };
  if (count(EndWord::kEnded) == 0) return;
  if (count(EndWord::kGoesOn) == 0) {
    end_agreed_ = progress_.finishing = true;
    return;
  }
  fail(invalid_argument(ranks_that(said, EndWord::kEnded) + " ended the loop at step " +
                        std::to_string(progress_.steps) + ", " + ranks_that(said, EndWord::kGoesOn) +
                        " did not: end on the same step on all ranks, by what is the same on all of them"));
}

// The end that all workers reach together. If one died at this moment, the survivors first form a new generation, and
// next_step() returns here.
void LiveSession::finish() {
  progress_.finishing = true;
  if (ending_ != Ending::kNone || must_enter()) return;
  if (!end_agreed_ && !send_end().ok()) {
    broken_ = true;
    return;
  }
  if (ending_ != Ending::kNone) return;
  report_switch(Clock::now());
  if (const auto rest = reports_.take(Clock::now())) report(*rest);
  if (rank() == 0) report_end();
  comm_->settle();
  if (rank() != 0) report_end();
  ending_ = Ending::kFinished;
}

// The others may have ended without knowing it of each other, or were lost after the last step. A rank that has
// committed that step has everything they did; the daemon ends the ranks that have not.
void LiveSession::finish_alone() {
  log_info("ends alone after step " + std::to_string(progress_.steps) + ": its state was not asked for");
  generation_.members = {options_.worker};  // becomes rank 0, which alone may use the result
  report_end();
  ending_ = Ending::kFinished;
}

void LiveSession::fail(Error error) {
  log_warning(error.message);
  failure_ = std::move(error);
  ending_ = Ending::kFailed;
}

}  // namespace tidepool::runtime
