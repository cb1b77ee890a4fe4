#include "workers/runtime/session.hpp"

#include <cstdlib>
#include <thread>
#include <utility>

#include "base/check.hpp"
#include "workers/runtime/agent_link.hpp"
#include "workers/runtime/comm_builder.hpp"
#include "workers/runtime/control_word.hpp"
#include "workers/runtime/handover.hpp"
#include "workers/runtime/log.hpp"
#include "workers/runtime/step_reports.hpp"

namespace tidepool::runtime {
namespace {

api::EpochAuditedMessage message_of(const EpochAudit& audit) {
  return {.epoch = audit.epoch,
          .expected = static_cast<std::int64_t>(audit.expected),
          .used = static_cast<std::int64_t>(audit.used),
          .checksum_ok = audit.checksum_ok};
}

// A switch that is not yet reported: its cost is known once the first step after it has committed.
struct SwitchInProgress {
  api::SwitchedMessage message;
  std::optional<TimePoint> last_commit_before;
  double normal_step_ms = 0;
};

class LiveSession final : public Session {
 public:
  explicit LiveSession(SessionOptions options)
      : options_(std::move(options)),
        ledger_({.samples = options_.samples, .global_batch = options_.global_batch, .seed = options_.seed}),
        builder_({.self = options_.worker,
                  .host = options_.host,
                  .address_timeout = options_.patience,
                  .connect_timeout = options_.connect_timeout,
                  .collective_timeout = options_.collective_timeout},
                 membership_, [this](api::AddressMessage message) { publish(std::move(message)); }) {}

  ~LiveSession() override {
    drop_comm();
    membership_.close();
    if (retiring_.joinable()) retiring_.join();
  }

  void register_state(std::string name, std::span<std::byte> memory) override {
    TP_CHECK(ending_ == Ending::kNone && generation_.number == 0, "state is registered before join()");
    replica_.add(std::move(name), memory);
  }

  std::span<float> gradients(std::size_t count) override {
    if (gradient_count_ != count) {
      TP_CHECK(buffer_.empty(), "the gradient buffer keeps its length");
      gradient_count_ = count;
      buffer_.resize(count + control_word_floats(kRanksMax));
    }
    return std::span(buffer_).first(count);
  }

  Status join() override;
  std::optional<Step> next_step() override;
  Reduced reduce(double loss_sum) override;
  void commit() override;
  void finish() override;

  [[nodiscard]] const StepTotals& totals() const override { return totals_; }
  [[nodiscard]] Ending ending() const override { return ending_; }
  [[nodiscard]] const Error& failure() const override { return failure_; }
  [[nodiscard]] int rank() const override { return generation_.rank_of(options_.worker); }
  [[nodiscard]] int size() const override { return generation_.size(); }
  [[nodiscard]] GenerationNumber generation() const override { return generation_.number; }
  [[nodiscard]] std::int64_t steps_committed() const override { return progress_.steps; }
  [[nodiscard]] std::uint64_t state_digest() const override { return replica_.content(); }

 private:
  [[nodiscard]] bool at_end() const {
    return progress_.finishing || (options_.steps > 0 && progress_.steps >= options_.steps);
  }
  [[nodiscard]] bool must_enter() const {
    return broken_ || switch_agreed_ || membership_.failed_since(generation_.number);
  }
  void enter_newest();
  [[nodiscard]] std::optional<CommBuilder::Built> build_newest();
  [[nodiscard]] bool take_part_in(CommBuilder::Built& built);
  void prepare_switch_report(const CommBuilder::Built& built, const HandoverOutcome& outcome);
  void leave_generation();
  void drop_comm();
  [[nodiscard]] Step begin_step();
  [[nodiscard]] GenerationNumber advance_build();
  void report_step(TimePoint now);
  void report_switch(TimePoint now);
  void fail(Error error);

  void publish(api::AddressMessage message) {
    if (link_) link_->send_address(std::move(message));
  }
  void report(const api::FromWorker& message) {
    if (link_ && rank() == 0) link_->send(message);
  }
  [[nodiscard]] ControlPlace place() const {
    return {.current = generation_.number, .rank = comm_->rank(), .size = comm_->size()};
  }

  SessionOptions options_;
  ReplicaState replica_;
  DataLedger ledger_;
  Progress progress_;  // its ledger part is filled in from ledger_ when a generation is entered
  Membership membership_;
  std::unique_ptr<AgentLink> link_;  // none when running alone
  CommBuilder builder_;

  Generation generation_;
  std::shared_ptr<Comm> comm_;
  Membership::WatchId comm_watch_ = 0;
  std::thread retiring_;        // closes the communicator before this one; Gloo needs up to 10 ms a peer
  GenerationNumber tried_ = 0;  // newest generation entered or given up
  bool broken_ = false;         // a collective failed: a member died or left
  bool switch_agreed_ = false;  // all ranks said in one step that they are ready

  std::vector<float> buffer_;  // gradients, then the control word
  std::size_t gradient_count_ = 0;
  AuditSum fed_;                 // of the step in flight, on this rank
  std::uint64_t in_flight_ = 0;  // samples of the step in flight over all ranks; 0 = none
  TimePoint step_begin_;
  ControlSums sums_;
  StepTotals totals_;

  StepReports reports_;
  std::optional<SwitchInProgress> switch_;
  std::optional<TimePoint> last_commit_;
  double normal_step_ms_ = 0;  // moving average of the time between two commits within one generation
  bool first_commit_here_ = true;

  Ending ending_ = Ending::kNone;
  Error failure_;
};

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
  Step step{.number = progress_.steps, .epoch = lease.epoch, .samples = ledger_.share(lease, rank(), size())};
  fed_ = {};
  for (const std::uint64_t sample : step.samples) fed_.add(sample);
  return step;
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

Reduced LiveSession::reduce(double loss_sum) {
  TP_CHECK(comm_ != nullptr && in_flight_ > 0, "reduce() follows next_step()");
  const ControlReport mine{.ready_for = advance_build(),
                           .fed = fed_,
                           .loss_sum = loss_sum,
                           .compute_us = micros_between(step_begin_, Clock::now())};
  const std::span<float> values = std::span(buffer_).first(gradient_count_ + control_word_floats(comm_->size()));
  const std::span<float> word = values.subspan(gradient_count_);
  write_control_word(mine, place(), word);
  if (const Status status = comm_->allreduce(values); !status.ok()) {
    log_info("generation " + std::to_string(generation_.number) + " ends: " + status.error().message);
    broken_ = true;
    return Reduced::kRetry;
  }
  sums_ = read_control_word(word, place());
  totals_.samples = sums_.fed.count;
  totals_.mean_loss = sums_.loss_sum / static_cast<double>(sums_.fed.count);
  return Reduced::kCommit;
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
    report(message_of(*audit));
  }
  switch_agreed_ = sums_.agreed_next().has_value();
  if (last_commit_ && !first_commit_here_) {
    const double step_ms = millis_between(*last_commit_, now);
    normal_step_ms_ = normal_step_ms_ == 0 ? step_ms : 0.8 * normal_step_ms_ + 0.2 * step_ms;
  }
  last_commit_ = now;
  first_commit_here_ = false;
}

void LiveSession::report_step(TimePoint now) {
  const auto due = reports_.add({.generation = generation_.number,
                                 .steps_committed = progress_.steps,
                                 .epoch = ledger_.state().epoch,
                                 .samples = sums_.fed.count,
                                 .loss_sum = sums_.loss_sum,
                                 .compute_us = sums_.compute_us},
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
    report(message_of(audit));
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

// --- changing generations -----------------------------------------------------------------------

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
  ledger_.adopt(progress_.ledger);
  generation_ = built.generation;
  broken_ = false;
  switch_agreed_ = false;
  in_flight_ = 0;
  first_commit_here_ = true;
  if (link_) link_->set_generation(generation_.number);
  reports_.restart(Clock::now());
  return true;
}

void LiveSession::prepare_switch_report(const CommBuilder::Built& built, const HandoverOutcome& outcome) {
  // The step in flight is done again unless a survivor had committed it.
  const bool repeats = in_flight_ > 0 && outcome.progress.steps == progress_.steps;
  SwitchInProgress next;
  next.message.generation = built.generation.number;
  next.message.switch_step = outcome.progress.steps;
  next.message.build_ms = built.build_ms;
  next.message.steps_redone = repeats ? 1 : 0;
  next.message.samples_repeated = repeats ? static_cast<std::int64_t>(in_flight_) : 0;
  next.message.bytes_moved = outcome.bytes_moved;
  next.last_commit_before = last_commit_;
  next.normal_step_ms = normal_step_ms_;
  switch_ = next;
}

}  // namespace

Result<SessionOptions> SessionOptions::from_environment() {
  SessionOptions options;
  const char* socket = std::getenv("TIDEPOOL_AGENT_SOCKET");
  if (socket == nullptr || *socket == '\0') return options;
  options.agent_socket = socket;
  const char* name = std::getenv("TIDEPOOL_WORKER");
  const auto worker = WorkerId::parse(name == nullptr ? "" : name);
  if (!worker) {
    return invalid_argument(
        "TIDEPOOL_AGENT_SOCKET is set, but TIDEPOOL_WORKER is no worker id such as w-3: unset the "
        "first to run alone");
  }
  options.worker = *worker;
  return options;
}

Result<std::unique_ptr<Session>> Session::open(SessionOptions options) {
  if (options.samples == 0) return invalid_argument("there is no sample to train on");
  if (options.global_batch == 0) return invalid_argument("the global batch must be at least one sample");
  if (options.steps < 0) return invalid_argument("the number of steps must not be negative");
  return std::unique_ptr<Session>(std::make_unique<LiveSession>(std::move(options)));
}

}  // namespace tidepool::runtime
