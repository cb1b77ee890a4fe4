// How the ranks of the fake NCCL exchange bytes: every rank has one Unix socket to rank 0. Any call ends with kStopped
// as soon as `stop` is set, however silent the others are.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

namespace tidepool::fake {

enum class Outcome { kDone, kStopped, kPeerGone };

class Star {
 public:
  explicit Star(std::atomic<bool>& stop) : stop_(stop) {}
  ~Star();
  Star(const Star&) = delete;
  Star& operator=(const Star&) = delete;

  // A listening socket in the abstract namespace under `name`, or -1.
  [[nodiscard]] static int listen_at(const std::string& name);

  // Rank 0 takes over the listening socket; the others find it by name.
  [[nodiscard]] Outcome gather_all(int listener, int size);
  [[nodiscard]] Outcome reach(const std::string& name, int rank);

  // The `bytes` of all, rank by rank, on every rank.
  [[nodiscard]] Outcome exchange(const std::byte* mine, std::size_t bytes, std::vector<std::byte>& all);

 private:
  [[nodiscard]] Outcome wait(int fd, short events);
  [[nodiscard]] Outcome send_all(int fd, const std::byte* bytes, std::size_t length);
  [[nodiscard]] Outcome read_all(int fd, std::byte* bytes, std::size_t length);

  std::atomic<bool>& stop_;
  int rank_ = 0;
  std::vector<int> fds_;  // of rank 0: by rank, its own is -1; of the others: the one to rank 0
};

}  // namespace tidepool::fake
