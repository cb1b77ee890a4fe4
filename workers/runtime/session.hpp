// The interface of the runtime: what a training loop calls. The loop never sees a switch of generations; it
// sees a step's samples, and after the reduce whether to apply the step or to try again.
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
// The rule that keeps it safe: registered memory changes only between a reduce() that said kCommit and
// its commit(). Then a replica is always exactly at a committed step, whenever a worker dies.
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

// When the next generation's communicator is built: beside the working one, or at the switch itself.
enum class BuildMode { kBackground, kWindow };

struct SessionOptions {
  std::uint64_t samples = 1;       // in one epoch
  std::uint64_t global_batch = 1;  // samples a step over all workers, at base_size of them
  std::uint64_t seed = 1;          // of the order of the samples
  std::int64_t steps = 0;          // the program's end; 0 = until finish()
  // For a program that ends by finish(): samples of all its epochs, which the daemon plans with; 0 = it does not know.
  std::uint64_t work_samples = 0;
  // How batch and learning rate follow the number of workers.
  OnResize on_resize = OnResize::kConstant;
  int base_size = 1;
  int warmup_steps = kWarmupSteps;
  std::uint64_t global_batch_max = 0;  // that a rule which scales the batch grows to; 0 = any
  // For OnResize::kCallback: asked on rank 0 when a generation begins; its answer holds for all.
  std::function<BatchChoice(const BatchQuestion&)> batch_rule;
  // The gradient noise is measured in every so many-th step, at the cost of reading the gradient twice; 0 = never,
  // but for adascale in every step.
  int noise_every = 0;
  std::uint64_t per_worker_max = 0;  // samples that a worker computes at once; 0 = any number

  BuildMode build = BuildMode::kBackground;
  Backend backend = Backend::kAuto;

  std::string agent_socket;  // empty: this worker runs alone, without agent and daemon
  WorkerId worker{1};
  std::string host = "127.0.0.1";  // where this worker listens for the others
  // How long to wait for the daemon to commit a generation after a death, or the first one. A daemon
  // that is away for less than this costs nothing.
  Millis patience{600'000};
  Millis connect_timeout{30'000};
  Millis collective_timeout{600'000};
  // How long to wait for a new generation after a fault that perhaps only this worker has seen (of its GPU, of NCCL):
  // then it ends, because the others wait for it. Longer than a restart of the daemon takes.
  Millis fault_grace{60'000};
  // How long a worker that has committed the last step, but lost the others before all knew that they had it, stays
  // for one that lacks it. Then it ends alone, as rank 0 of one: nothing is left to train. Longer than a daemon takes
  // to see a death.
  Millis end_grace{5'000};
  // A background build that connects for longer is waited for at a step boundary, as in BuildMode::kWindow.
  Millis build_deadline{20'000};

  // A state of at least so many bytes is sent ahead of the switch where it stands still.
  std::int64_t ahead_min_bytes = 16 << 20;

  KeepOptions keep;            // checkpoints and parked states
  Millis stuck_after{0};       // a computation that lasts longer is taken for stuck; 0 = from the usual step
  bool hears_notices = false;  // the agent gives notices to leave

  // The same with agent_socket, worker, backend, host, keep and stuck_after from the environment:
  // TIDEPOOL_AGENT_SOCKET, TIDEPOOL_WORKER, TIDEPOOL_BACKEND, TIDEPOOL_DATA_ADDRESS, TIDEPOOL_STUCK_AFTER_MS,
  // TIDEPOOL_NOTICES and those of KeepOptions.
  [[nodiscard]] static Result<SessionOptions> from_environment();
};

struct Step {
  std::int64_t number = 0;  // committed steps before this one
  std::int64_t epoch = 0;
  std::vector<std::uint64_t> samples;  // this worker's share, indices below SessionOptions::samples
  std::uint64_t global_batch = 0;      // samples a step at this size
  std::uint64_t part = 1;              // samples to compute at once, so that the parts are equal
  double lr_factor = 1;                // multiplies the learning rate in this step
  double momentum_factor = 1;          // multiplies the old velocity, if that is a movement of the parameters
  std::optional<double> noise_scale;   // gradient noise scale in samples; none: not known yet
};

enum class Reduced { kCommit, kRetry };

// Sums over all workers, valid after a reduce() that said kCommit.
struct StepTotals {
  std::uint64_t samples = 0;
  double mean_loss = 0;  // over the samples whose loss was told; NaN without any
};

enum class Ending {
  kNone,      // still training
  kFinished,  // the program's end: this worker has committed the last step, and as far as it can know the others have
  kLeft,      // the newest generation goes on without this worker, as told
  kFailed,    // failure() says why
};

class Session {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Session>> open(SessionOptions options);
  virtual ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Before join(): memory that makes up a replica; the same names and sizes on every worker.
  virtual void register_state(std::string name, std::span<std::byte> memory) = 0;
  // `values`: a vector, array or span of plain numbers that keeps its place and length.
  template <class Values>
  void register_values(std::string name, Values&& values) {
    register_state(std::move(name), std::as_writable_bytes(std::span(values)));
  }

  // The buffer that reduce() sums: `count` floats, the same on every call and every worker.
  [[nodiscard]] virtual std::span<float> gradients(std::size_t count) = 0;

  // --- for a program that computes on a GPU ---
  // Everything of the program that touches lent or registered memory of the GPU is enqueued on one stream, a
  // cudaStream_t: call it before the first of the calls below, and again whenever it is another. bucket_ready(),
  // reduce(), commit() and join() mean what the stream holds then; none waits for it on the host but reduce(), after
  // which the sums are there for any stream.
  [[nodiscard]] virtual Status use_stream(void* stream) = 0;
  // register_state() of memory that lies on the first device that CUDA_VISIBLE_DEVICES shows.
  [[nodiscard]] virtual Status register_on_device(std::string name, std::span<std::byte> memory) = 0;
  // Instead of gradients(): the program's own memory on the GPU, summed where it lies. Before join().
  [[nodiscard]] virtual Status lend_gradients(std::span<float> values) = 0;
  // Whether this generation's sums are taken on the GPUs, so that announcing buckets early is of use.
  [[nodiscard]] virtual bool sums_on_device() const = 0;

  // Tells the daemon that this worker is ready, and waits for its first generation and its state.
  [[nodiscard]] virtual Status join() = 0;

  // Carries out a switch if one is agreed; then the next step. Nothing: see ending().
  [[nodiscard]] virtual std::optional<Step> next_step() = 0;
  // After next_step(): the samples that this worker will be given in the step after it, unless the job changes
  // size or a worker dies. For reading ahead; nothing else may rest on it.
  [[nodiscard]] virtual std::vector<std::uint64_t> expected_samples() const = 0;

  // These floats of the gradient buffer are final on this worker; they are summed while it computes the
  // others. The same ranges in the same order on every worker. The rest is summed in reduce().
  [[nodiscard]] virtual Status bucket_ready(std::size_t first, std::size_t count) = 0;

  // Sums gradients over the workers; `loss_sum` is the sum over this worker's samples, NaN where it tells none.
  [[nodiscard]] virtual Reduced reduce(double loss_sum) = 0;
  [[nodiscard]] virtual const StepTotals& totals() const = 0;

  // The step has been applied to the registered memory.
  virtual void commit() = 0;

  // For a program without a fixed number of steps: this was the last one, on every worker alike.
  virtual void finish() = 0;

  // That this worker is to leave, by when and why; none: it is to stay. From any thread, also when it has left.
  [[nodiscard]] virtual std::optional<LeaveNotice> notice() const = 0;
  // What the program says to it; `until` counts for kUntil. An error: there is no notice. Whether it is granted shows
  // notice() once `heard` has come up to `said`.
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
