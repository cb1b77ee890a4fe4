// States of the job outside its processes: checkpoints on disk while it trains, and the parked state, which is first
// kept in the node's memory so that the processes can end at once.
//
// The training thread copies registered memory at a step boundary; a separate thread writes the copy. A file is
// complete and on disk before it gets its final name.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "workers/runtime/checkpoint/checkpoint_file.hpp"
#include "workers/runtime/comm/clock.hpp"
#include "workers/runtime/handover.hpp"
#include "workers/runtime/keep_options.hpp"
#include "workers/runtime/replica_state.hpp"

namespace tidepool::runtime {

// A state that has been written.
struct SavedState {
  std::filesystem::path path;
  std::int64_t step = 0;
  std::int64_t bytes = 0;
  double write_ms = 0;
};

class SavedStates final : public StateSource {
 public:
  // `replica` must outlive it. `samples`: the number of samples in the job's data, which a stored progress must match.
  SavedStates(KeepOptions options, WorkerId self, ReplicaState& replica, std::uint64_t samples);
  ~SavedStates() override;
  SavedStates(const SavedStates&) = delete;
  SavedStates& operator=(const SavedStates&) = delete;

  // Whether the interval has passed since the last checkpoint, or since the start.
  [[nodiscard]] bool due(TimePoint now) const;
  // Call when a checkpoint is taken now, here or by the rank that takes them: the interval starts again.
  void restart_interval(TimePoint now) { last_ = now; }

  [[nodiscard]] bool is_writing() const { return writing_; }
  // Copies the state and writes it in the background. `done` is called from the writing thread after is_writing() has
  // become false, or at once with the error that prevents the writing. Requires: not is_writing().
  using Done = std::function<void(const Result<SavedState>&)>;
  void take(const Progress& progress, Done done);

  // Writes the state now: to memory if there is space, else to disk.
  [[nodiscard]] Result<SavedState> park(const Progress& progress);

  [[nodiscard]] std::optional<std::int64_t> newest_step() override;
  [[nodiscard]] std::optional<Progress> restore_newest() override;
  [[nodiscard]] std::optional<api::UnusedState> newest_unused() const override { return unused_; }
  // What restore_newest() restored.
  [[nodiscard]] const SavedState& restored() const { return restored_; }

 private:
  struct Candidate {
    std::filesystem::path path;
    CheckpointFile file;  // stays open, because the agent may move the file meanwhile
  };

  [[nodiscard]] CheckpointHeader header_of(const Progress& progress) const;
  [[nodiscard]] Result<SavedState> write(const std::filesystem::path& folder, const CheckpointHeader& header,
                                         std::span<const NamedBytes> pieces) const;
  [[nodiscard]] std::vector<NamedBytes> pieces_in(std::span<const std::byte> bytes) const;
  void finish_writing();
  void look_for_candidates();
  [[nodiscard]] Result<Progress> restore(const Candidate& candidate);
  void drop(api::UnusedState dropped, const std::string& said);

  KeepOptions options_;
  WorkerId self_;
  ReplicaState& replica_;
  std::uint64_t samples_;
  std::string tag_;
  TimePoint last_ = Clock::now();
  std::vector<std::byte> copy_;  // the writer owns it while it runs
  std::thread writer_;
  std::atomic<bool> writing_{false};
  std::optional<std::vector<Candidate>>
      candidates_;  // newest last, without damaged ones; none until the folders have been searched
  std::optional<api::UnusedState> unused_;
  SavedState restored_;
};

}  // namespace tidepool::runtime
