// The interface of the runtime: what a training loop calls. The loop never sees a switch of generations. It sees
// a step's samples and, after the reduce, whether to apply the step or to try again.
//
//   auto session = Session::open(options);                      // samples, batch, seed, steps
//   session->register_values("parameters", parameters);         // everything a replica needs
//   TP_TRY(session->join());                                     // waits until a generation names us
//   while (auto step = session->next_step()) {
//     const double loss_sum = model.gradient(step->samples, session->gradients(n));   // sums, not means
//     if (session->reduce(loss_sum) == Reduced::kRetry) continue;  // a worker died: same samples again
//     optimizer.apply(session->gradients(n), session->totals().samples);
//     session->commit();
//   }
//
// The rule that keeps it safe: registered memory changes only between a reduce() that returned kCommit and
// its commit(). A replica is then always exactly at a committed step, whenever a worker dies.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "workers/runtime/backend.hpp"
#include "workers/runtime/comm/clock.hpp"
#include "workers/runtime/keep_options.hpp"
#include "workers/runtime/notice_board.hpp"
#include "workers/runtime/numerics/batch_rules.hpp"

namespace tidepool::runtime {

// When the next generation's communicator is built: while the current one is in use, or at the switch itself.
enum class BuildMode { kBackground, kWindow };

struct SessionOptions {
  std::uint64_t samples = 1;       // in one epoch
  std::uint64_t global_batch = 1;  // samples per step over all workers, for base_size workers
  std::uint64_t seed = 1;          // of the order of the samples
  std::int64_t steps = 0;          // after which the program ends; 0 = until finish()
  // For a program that ends by finish(): samples of all its epochs, which the daemon uses for planning; 0 = not known.
  std::uint64_t work_samples = 0;
  // How batch and learning rate follow the number of workers.
  OnResize on_resize = OnResize::kConstant;
  int base_size = 1;
  int warmup_steps = kWarmupSteps;
  std::uint64_t global_batch_max = 0;  // upper limit for rules that scale the batch; 0 = none
  // For OnResize::kCallback: called on rank 0 when a generation begins; its answer applies to all ranks.
  std::function<BatchChoice(const BatchQuestion&)> batch_rule;
  // Measures the gradient noise in every n-th step, which costs reading the gradient twice more; 0 = never, except that
  // adascale measures in every step.
  int noise_every = 0;
  std::uint64_t per_worker_max = 0;  // samples that a worker computes at once; 0 = no limit

  BuildMode build = BuildMode::kBackground;
  Backend backend = Backend::kAuto;

  std::string agent_socket;  // empty: this worker runs alone, without agent and daemon
  WorkerId worker{1};
  std::string host = "127.0.0.1";  // on which this worker listens for the others
  // How long to wait for the daemon to commit the first generation, or a new one after a death. A daemon outage shorter
  // than this has no cost.
  Millis patience{600'000};
  Millis connect_timeout{30'000};
  Millis collective_timeout{600'000};
  // How long to wait for a new generation after a fault that perhaps only this worker has seen (of its GPU, of NCCL).
  // Then the worker ends, because the others wait for it. Longer than a restart of the daemon takes.
  Millis fault_grace{60'000};
  // A worker may commit the last step and lose the others before all know that everyone has that step. It then stays
  // this long for a worker that lacks the step, and ends alone as rank 0 of one: nothing is left to train. Longer than
  // the daemon takes to detect a death.
  Millis end_grace{5'000};
  // If a background build connects for longer, the worker waits for it at a step boundary, as in BuildMode::kWindow.
  Millis build_deadline{20'000};

  // The unchanging parts of a state are sent ahead of the switch if the state has at least this many bytes.
  std::int64_t ahead_min_bytes = 16 << 20;

  KeepOptions keep;            // checkpoints and parked states
  Millis stuck_after{0};       // a longer computation is treated as stuck; 0 = derived from the usual step time
  bool hears_notices = false;  // the agent sends notices to leave

  // The same options, with agent_socket, worker, backend, host, keep, stuck_after and hears_notices from the
  // environment: TIDEPOOL_AGENT_SOCKET, TIDEPOOL_WORKER, TIDEPOOL_BACKEND, TIDEPOOL_DATA_ADDRESS,
  // TIDEPOOL_STUCK_AFTER_MS, TIDEPOOL_NOTICES and the variables of KeepOptions.
  [[nodiscard]] static Result<SessionOptions> from_environment();
};

struct Step {
  std::int64_t number = 0;  // committed steps before this one
  std::int64_t epoch = 0;
  std::vector<std::uint64_t> samples;  // this worker's share, indices below SessionOptions::samples
  std::uint64_t global_batch = 0;      // samples per step at this size
  std::uint64_t part = 1;              // samples to compute at once, so that the parts are equal
  double lr_factor = 1;                // multiplies the learning rate in this step
  double momentum_factor = 1;          // multiplies the old velocity, if the velocity is a movement of the parameters
  std::optional<double> noise_scale;   // gradient noise scale in samples; none: not known yet
};

enum class Reduced { kCommit, kRetry };

// Sums over all workers, valid after a reduce() that returned kCommit.
struct StepTotals {
  std::uint64_t samples = 0;
  double mean_loss = 0;  // over the samples whose loss was reported; NaN if there are none
};

enum class Ending {
  kNone,      // still training
  kFinished,  // the program's end: this worker committed the last step, and as far as it can know so did the others
  kLeft,      // the newest generation continues without this worker, as requested
  kFailed,    // see failure()
};

class Session {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Session>> open(SessionOptions options);
  virtual ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Call before join(): registers memory that makes up a replica; the same names and sizes on every worker.
  virtual void register_state(std::string name, std::span<std::byte> memory) = 0;
  // `values`: a vector, array or span of plain numbers that keeps its place and length.
  template <class Values>
  void register_values(std::string name, Values&& values) {
    register_state(std::move(name), std::as_writable_bytes(std::span(values)));
  }

  // The buffer that reduce() sums: `count` floats, the same on every call and every worker.
  [[nodiscard]] virtual std::span<float> gradients(std::size_t count) = 0;

  // --- for a program that computes on a GPU ---
  // The program enqueues everything that touches lent or registered GPU memory on one stream, a cudaStream_t.
  // Call use_stream() before the first of the calls below, and again whenever the stream changes. bucket_ready(),
  // reduce(), commit() and join() refer to the work in the stream at the time of the call. Only reduce() waits
  // for it on the host; after reduce() any stream can use the sums.
  [[nodiscard]] virtual Status use_stream(void* stream) = 0;
  // As register_state(), for memory on the first device that CUDA_VISIBLE_DEVICES shows.
  [[nodiscard]] virtual Status register_on_device(std::string name, std::span<std::byte> memory) = 0;
  // Call instead of gradients(), before join(): the program's own memory on the GPU, summed in place.
  [[nodiscard]] virtual Status lend_gradients(std::span<float> values) = 0;
  // Whether this generation sums on the GPUs, so that announcing buckets early saves time.
  [[nodiscard]] virtual bool sums_on_device() const = 0;

  // Reports to the daemon that this worker is ready, and waits for its first generation and its state.
  [[nodiscard]] virtual Status join() = 0;

  // Carries out a switch if one is agreed, then returns the next step. Nothing: see ending().
  [[nodiscard]] virtual std::optional<Step> next_step() = 0;
  // After next_step(): the samples that this worker will get in the step after it, unless the job changes its size or a
  // worker dies. Use it for reading ahead only.
  [[nodiscard]] virtual std::vector<std::uint64_t> expected_samples() const = 0;

  // Marks these floats of the gradient buffer as final on this worker; they are summed while it computes the others.
  // Every worker names the same ranges in the same order. The rest is summed in reduce().
  [[nodiscard]] virtual Status bucket_ready(std::size_t first, std::size_t count) = 0;

  // Sums gradients over the workers. `loss_sum` is the sum over this worker's samples; NaN: it reports no loss.
  [[nodiscard]] virtual Reduced reduce(double loss_sum) = 0;
  [[nodiscard]] virtual const StepTotals& totals() const = 0;

  // Call after the step has been applied to the registered memory.
  virtual void commit() = 0;

  // For a program without a fixed number of steps: the last step was the final one, on every worker alike.
  virtual void finish() = 0;

  // Whether this worker must leave, by when and why; none: it stays. Callable from any thread, also after it has left.
  [[nodiscard]] virtual std::optional<LeaveNotice> notice() const = 0;
  // The program's answer to the notice; `until` is used for kUntil. An error: there is no notice. Once `heard` has
  // reached `said`, notice() shows whether the answer was granted.
  [[nodiscard]] virtual Status answer(api::NoticeAnswer answer, WallTime until) = 0;

  [[nodiscard]] virtual Ending ending() const = 0;
  [[nodiscard]] virtual const Error& failure() const = 0;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  [[nodiscard]] virtual GenerationNumber generation() const = 0;
  [[nodiscard]] virtual std::int64_t steps_committed() const = 0;
  // Equal on all ranks between the same two steps.
  [[nodiscard]] virtual std::uint64_t state_digest() const = 0;

 protected:
  Session() = default;
};

}  // namespace tidepool::runtime
