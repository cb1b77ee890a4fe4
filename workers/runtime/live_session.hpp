// The session that trains; session.hpp is its interface. Three files implement it: stepping.cpp has the loop of steps,
// switching.cpp the change from one generation to the next, reporting.cpp the reports to the daemon.
//
// One thread calls it. Other threads exchange data with it only through the Membership board and the link.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "workers/runtime/agent_link.hpp"
#include "workers/runtime/comm_builder.hpp"
#include "workers/runtime/control_word.hpp"
#include "workers/runtime/gradient_reducer.hpp"
#include "workers/runtime/handover.hpp"
#include "workers/runtime/kept_states.hpp"
#include "workers/runtime/numerics/step_schedule.hpp"
#include "workers/runtime/pulse_board.hpp"
#include "workers/runtime/retired_comm.hpp"
#include "workers/runtime/session.hpp"
#include "workers/runtime/state_gate.hpp"
#include "workers/runtime/state_transfer.hpp"
#include "workers/runtime/step_reports.hpp"

namespace tidepool::runtime {

// A switch that is not yet reported: its cost is known once the first step after the switch has committed.
struct SwitchInProgress {
  api::SwitchedMessage message;
  std::optional<TimePoint> last_commit_before;
  double normal_step_ms = 0;
};

// A change of shares that is not yet reported: its cost is known once two steps have used the new shares.
struct SharesInProgress {
  api::RebalancedMessage message;
  std::optional<double> first_ms;
};

[[nodiscard]] BatchRules rules_of(const SessionOptions& options);

class LiveSession final : public Session {
 public:
  LiveSession(SessionOptions options, Transports transports)
      : options_(std::move(options)),
        ledger_({.samples = options_.samples, .global_batch = options_.global_batch, .seed = options_.seed}),
        kept_(options_.keep, options_.worker, replica_, options_.samples),
        builder_({.self = options_.worker,
                  .transports = std::move(transports),
                  .host = options_.host,
                  .address_timeout = options_.patience,
                  .connect_timeout = options_.connect_timeout,
                  .collective_timeout = options_.collective_timeout,
                  .prepare = [this](Comm& comm) { return transfer_.send_ahead(comm, role_); },
                  .interrupt = [this] { gate_.interrupt(); }},
                 membership_, [this](api::AddressMessage message) { publish(std::move(message)); }),
        schedule_(rules_of(options_)) {
    replica_.require_same("batch rules", fingerprint(schedule_.rules()));
    replica_.require_same("samples", options_.samples);
    replica_.require_same("seed", options_.seed);
    pulse(api::PulsePhase::kWaiting);
  }

  ~LiveSession() override {
    drop_comm();
    membership_.close();
  }

  void register_state(std::string name, std::span<std::byte> memory) override {
    TP_CHECK(ending_ == Ending::kNone && generation_.number == 0, "state is registered before join()");
    replica_.add(std::move(name), memory);
  }

  std::span<float> gradients(std::size_t count) override {
    reducer_.allocate(count);
    return reducer_.gradients();
  }

  Status use_stream(void* stream) override;
  Status register_on_device(std::string name, std::span<std::byte> memory) override;
  Status lend_gradients(std::span<float> values) override;
  [[nodiscard]] bool sums_on_device() const override {
    return comm_ != nullptr && comm_->size() > 1 && comm_->takes_device_memory();
  }

  Status join() override;
  std::optional<Step> next_step() override;
  [[nodiscard]] std::vector<std::uint64_t> expected_samples() const override;
  Status bucket_ready(std::size_t first, std::size_t count) override;
  Reduced reduce(double loss_sum) override;
  void commit() override;
  void finish() override;

  [[nodiscard]] std::optional<LeaveNotice> notice() const override { return notices_.read(); }
  Status answer(api::NoticeAnswer answer, WallTime until) override;

  [[nodiscard]] const StepTotals& totals() const override { return totals_; }
  [[nodiscard]] Ending ending() const override { return ending_; }
  [[nodiscard]] const Error& failure() const override { return failure_; }
  [[nodiscard]] int rank() const override { return generation_.rank_of(options_.worker); }
  [[nodiscard]] int size() const override { return generation_.size(); }
  [[nodiscard]] GenerationNumber generation() const override { return generation_.number; }
  [[nodiscard]] std::int64_t steps_committed() const override { return progress_.steps; }
  [[nodiscard]] std::uint64_t state_digest() const override { return replica_.content(); }

 private:
  [[nodiscard]] Status open_gpu();
  [[nodiscard]] bool at_end() const { return progress_.finishing || has_all_steps(); }
  [[nodiscard]] bool must_enter() const {
    return broken_ || switch_agreed_ || membership_.failed_since(generation_.number);
  }
  void enter_newest();
  [[nodiscard]] std::optional<CommBuilder::Built> build_newest();
  [[nodiscard]] bool take_part_in(CommBuilder::Built& built);
  void begin_generation(const Generation& built);
  void give_up(const Error& error);
  void prepare_switch_report(const CommBuilder::Built& built, const HandoverOutcome& outcome);
  void start_build(const Generation& newest, bool trains);
  void leave_generation();
  void drop_comm();
  void leave_for_good(const Generation& newest);
  void park();
  [[nodiscard]] bool rank_zero_has_parked(bool kept);
  void take_checkpoint(TimePoint now);
  void report_checkpoint(GenerationNumber generation, std::int64_t step, const Result<SavedState>& kept);
  void restored();
  [[nodiscard]] Step begin_step();
  [[nodiscard]] GenerationNumber advance_build();
  [[nodiscard]] Status sum_over_ranks(double loss_sum);
  // Sets batch and learning rate for a generation of `size` workers; an error if the other workers are lost meanwhile.
  [[nodiscard]] Status plan_batch(int size);
  [[nodiscard]] bool noise_due(std::int64_t step) const;
  [[nodiscard]] Status measure_noise();
  void report_step(TimePoint now);
  void report_switch(TimePoint now);
  void report_shares(double step_ms);
  void report_audit(const EpochAudit& audit);
  void report_unreported_audits(bool ahead);
  [[nodiscard]] bool has_all_steps() const { return options_.steps > 0 && progress_.steps >= options_.steps; }
  // Whether the step in progress can still be summed.
  [[nodiscard]] bool goes_on_here() const { return !broken_ && !end_agreed_ && ending_ == Ending::kNone; }
  // Whether all ranks are known to agree on the end that this rank has reached.
  [[nodiscard]] bool end_is_shared() const { return has_all_steps() || end_agreed_; }
  [[nodiscard]] Status send_end();
  [[nodiscard]] Status ask_who_ended();
  [[nodiscard]] Status send_end_in_sum();
  void compare_ends(const std::vector<EndWord>& said);
  void report_end();
  void finish_alone();
  void change_shares(TimePoint now);
  void fail(Error error);
  void pulse(api::PulsePhase phase, Millis least = Millis{60'000});

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
  std::shared_ptr<Gpu> gpu_;  // none until the program names its stream
  ReplicaState replica_;
  DataLedger ledger_;
  Progress progress_;  // its ledger part is copied from ledger_ when a generation is entered
  Membership membership_;
  PulseBoard pulse_;
  NoticeBoard notices_;
  std::unique_ptr<AgentLink> link_;  // none when running alone
  SavedStates kept_;                 // its writer reports through the link
  StateGate gate_;
  StateTransfer transfer_{replica_, gate_, {.ahead_min_bytes = options_.ahead_min_bytes}};
  StateTransfer::Role role_;  // in the build in progress
  CommBuilder builder_;

  Generation generation_;
  std::shared_ptr<Comm> comm_;
  Membership::WatchId comm_watch_ = 0;
  RetiredComm retired_;
  bool checkpoint_wanted_ = false;  // taken as soon as the previous one is written
  WorkerId checkpoint_by_;      // the other worker that took the last one; only that worker knows whether it is on disk
  GenerationNumber tried_ = 0;  // newest generation entered or abandoned
  bool broken_ = false;         // a collective failed: a member died or left
  std::optional<Error> own_fault_;     // the cause, if other ranks may not have noticed it
  GenerationNumber failure_told_ = 0;  // newest generation whose background build failed and was logged
  bool joined_here_ = false;           // another rank's state was received when the generation began
  bool ends_asked_ = false;            // in this generation; once true, the control words carry the answer
  bool end_agreed_ = false;            // all ranks have reported that their programs have ended
  bool switch_agreed_ = false;         // all ranks reported in one step that they are ready

  StepSchedule schedule_;                 // its state is copied to progress_ when a step commits
  SampleWeights shares_{1};               // in use in this generation
  std::optional<SampleWeights> offered_;  // a newer table, which the step in progress announces to the other ranks
  std::optional<SharesInProgress> rebalance_;
  GradientReducer reducer_;
  std::vector<float> last_gradient_;  // the previous step's, when a lone worker compares two steps; else empty
  std::uint64_t last_samples_ = 0;    // number of samples that last_gradient_ sums
  std::optional<NoiseSample> noise_;  // measured by the step in progress
  AuditSum fed_;                      // by the step in progress, on this rank
  std::uint64_t in_flight_ = 0;       // samples of the step in progress over all ranks; 0 = none
  TimePoint step_begin_;
  ControlSums sums_;
  StepTotals totals_;

  StepReports reports_;
  std::deque<api::EpochAuditedMessage> unreported_audits_;  // the newest audits that another rank should have reported
  std::optional<SwitchInProgress> switch_;
  std::optional<TimePoint> last_commit_;
  double normal_step_ms_ = 0;  // moving average of the time between two commits within one generation
  bool first_commit_here_ = true;
  bool stepped_ = false;  // this process has committed a step

  Ending ending_ = Ending::kNone;
  Error failure_;
};

}  // namespace tidepool::runtime
