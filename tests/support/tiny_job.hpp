// A training job of 64 numbers whose every sum is a small whole number, so that its result is exactly
// the same for every number of workers and every history. Its workers keep a public diary in shared
// memory, which outlives them.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/test_leader.hpp"
#include "workers/runtime/session.hpp"

namespace tidepool::test {

struct TinyJobOptions {
  std::uint64_t samples = 1'000;
  std::uint64_t global_batch = 37;
  std::uint64_t seed = 7;
  std::int64_t steps = 200;
  std::int64_t step_us = 500;                     // how long a step pretends to compute
  std::int64_t sample_us = 0;                     // and each of its samples
  std::map<std::uint64_t, double> slowness = {};  // by worker: how many times as long its samples take
  runtime::BuildMode build = runtime::BuildMode::kBackground;
  runtime::KeepOptions keep{};
  runtime::Millis stuck_after{0};
  bool in_buckets = false;              // names its gradients in two buckets, the upper half first
  std::set<std::uint64_t> on_gpu = {};  // workers whose parameters and gradients lie on the (fake) GPU
  int noise_every = 0;
  std::size_t moving_bytes = 0;    // more state that every step changes
  std::size_t standing_bytes = 0;  // more state that no step changes
  std::size_t seldom_bytes = 0;    // more state that every fifth step changes
  std::int64_t ahead_min_bytes = 16 << 20;
  runtime::Millis build_deadline{20'000};
  runtime::Millis end_grace{5'000};
  bool keeps_digests = true;            // of the state after each step; costs a pass over it
  bool lingers = false;                 // the last steps take kLingering each until hurry()
  std::int64_t hang_at = -1;            // the first worker computes for ever at this step
  bool hangs_after_sum = false;         // it then hangs between the sum and the commit
  std::set<std::uint64_t> desert = {};  // workers that are gone, with code 0, once they have committed the last step
  bool open_ended = false;              // the session does not know `steps`: finish() says that they are done
  std::map<std::uint64_t, std::int64_t> finish_at =
      {};  // of an open-ended job, by worker: its last step, in place of `steps`
  std::map<std::uint64_t, std::string> hosts = {};  // by worker: where it listens, in place of loopback
};

inline constexpr std::int64_t kLingeringSteps = 40;
inline constexpr std::chrono::milliseconds kLingering{250};
inline constexpr std::size_t kDiarySteps = 8'192;
inline constexpr std::size_t kDiaryWorkers = 64;

// Of one worker. Written by the worker alone; read by the test at any time.
struct Diary {
  std::atomic<std::int64_t> steps{0};           // committed
  std::atomic<std::uint32_t> generation{0};     // that it is in
  std::atomic<int> ending{0};                   // runtime::Ending
  std::atomic<int> last_rank{-1};               // when it ended
  std::atomic<std::int64_t> last_commit_us{0};  // on the monotonic clock
  std::atomic<std::int64_t> worst_gap_us{0};    // between two commits
  std::atomic<std::int64_t> retries{0};
  std::atomic<std::uint64_t> final_digest{0};                           // of the state at the end, adopted or computed
  std::array<std::atomic<std::uint64_t>, kDiarySteps> digest_after{};   // by committed steps
  std::array<std::atomic<std::uint32_t>, kDiarySteps> generation_of{};  // in which the step was committed
  std::array<std::atomic<std::uint32_t>, kDiarySteps> times_committed{};
  std::array<std::atomic<std::uint32_t>, kDiarySteps> samples_of{};  // its own share of the step
};

class TinyJob {
 public:
  explicit TinyJob(TinyJobOptions options);
  ~TinyJob();
  TinyJob(const TinyJob&) = delete;
  TinyJob& operator=(const TinyJob&) = delete;

  // What a worker process does; its exit code.
  [[nodiscard]] int work(const WorkerPlace& place) const;
  [[nodiscard]] Diary& diary(WorkerId worker) const { return diaries_[worker.number()]; }
  [[nodiscard]] const TinyJobOptions& options() const { return options_; }

  // From here on nothing keeps a job that lingers from its last step.
  void hurry() { hurried_->store(true); }

  // The state's digest after all steps, from one worker in this process with no events at all.
  [[nodiscard]] std::uint64_t reference_digest() const;

 private:
  struct Trained;
  [[nodiscard]] bool all_have_all_steps() const;  // those that have begun
  [[nodiscard]] bool lingers_at(std::int64_t step) const;
  [[nodiscard]] int train(const Trained& trained, Diary* diary, double slowness) const;

  TinyJobOptions options_;
  Diary* diaries_;              // kDiaryWorkers of them, shared with the children
  std::atomic<bool>* hurried_;  // shared with them, too
};

}  // namespace tidepool::test
