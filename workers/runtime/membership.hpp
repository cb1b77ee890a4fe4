// The board between the link's thread and the training thread: the newest generation and the addresses of its members.
// It only moves forward; a message with an older number has no effect.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "workers/runtime/comm/clock.hpp"
#include "workers/runtime/generation.hpp"
#include "workers/runtime/share_table.hpp"

namespace tidepool::runtime {

class Membership {
 public:
  // --- the link's thread ---
  void announce(const Generation& generation);
  void announce_addresses(GenerationNumber generation, std::vector<std::string> blobs);

  // A share table of `generation`. A table whose number is not above the newest one of that generation has no effect.
  void announce_shares(GenerationNumber generation, SampleWeights shares);

  void ask_checkpoint();

  // --- any thread ---
  [[nodiscard]] Generation newest() const;

  // Whether a member of `generation` was declared dead: a newer generation was formed after a failure.
  [[nodiscard]] bool failed_since(GenerationNumber generation) const;

  // Waits until a generation newer than `number` is known; false at the deadline.
  [[nodiscard]] bool wait_newer(GenerationNumber number, TimePoint deadline) const;

  // Waits for the addresses of `generation`; returns nothing if a newer generation supersedes it, or at the deadline.
  [[nodiscard]] std::optional<std::vector<std::string>> wait_addresses(GenerationNumber generation,
                                                                       TimePoint deadline) const;

  // Whether the addresses of `generation` are known, so that this worker's address need not be sent again.
  [[nodiscard]] bool has_addresses(GenerationNumber generation) const;

  // The newest share table of `generation`, if one is known.
  [[nodiscard]] std::optional<SampleWeights> newest_shares(GenerationNumber generation) const;

  // Whether the daemon has asked for a checkpoint since the last call.
  [[nodiscard]] bool take_checkpoint_request();

  // Calls `act` once, from the thread that updates the board, as soon as `generation` is over; at once if it already
  // is. `act` is never called after unwatch() has returned.
  enum class Over { kByFailure, kByAnyNewer };
  using WatchId = std::uint64_t;
  [[nodiscard]] WatchId watch(GenerationNumber generation, Over over, std::function<void()> act);
  void unwatch(WatchId id);

  // Call when the worker ends: all waits return, and every watched generation is over.
  void close();

 private:
  struct Watch {
    GenerationNumber generation = 0;
    Over over = Over::kByFailure;
    std::function<void()> act;
  };

  [[nodiscard]] bool is_over(const Watch& watch) const;
  void run_watches();

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  Generation newest_;
  GenerationNumber newest_failure_ = 0;  // the newest generation formed after a failure
  GenerationNumber addresses_of_ = 0;
  std::vector<std::string> addresses_;
  GenerationNumber shares_of_ = 0;
  std::optional<SampleWeights> shares_;  // of the generation shares_of_
  bool checkpoint_asked_ = false;
  bool closed_ = false;
  WatchId last_watch_ = 0;
  std::map<WatchId, Watch> watches_;
};

}  // namespace tidepool::runtime
