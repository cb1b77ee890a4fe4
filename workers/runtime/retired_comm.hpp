// The communicator of the previous generation. It closes in a thread of its own once every rank has finished its last
// operation on it and the first step on the next one has committed, so the switch does not wait for it.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "workers/runtime/comm/comm.hpp"

namespace tidepool::runtime {

class RetiredComm {
 public:
  RetiredComm() = default;
  ~RetiredComm();
  RetiredComm(const RetiredComm&) = delete;
  RetiredComm& operator=(const RetiredComm&) = delete;

  // Waits until an earlier one has closed. All ranks of a working communicator retire it together.
  void settle_and_close(std::shared_ptr<Comm> comm);
  // For a broken communicator: its peers must not wait for this worker. Aborts an earlier one that is still closing.
  void close_at_once(std::shared_ptr<Comm> comm);
  // Call when the first step on the next communicator has committed.
  void release();

 private:
  void finish(bool at_once);
  void start(std::shared_ptr<Comm> comm, bool settles);

  std::weak_ptr<Comm> closing_;  // the thread owns the communicator
  std::mutex mutex_;
  std::condition_variable changed_;
  bool released_ = false;
  std::thread thread_;
};

}  // namespace tidepool::runtime
