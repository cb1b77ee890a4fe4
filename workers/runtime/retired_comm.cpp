#include "workers/runtime/retired_comm.hpp"

#include <utility>

namespace tidepool::runtime {

RetiredComm::~RetiredComm() {
  finish(false);
}

void RetiredComm::settle_and_close(std::shared_ptr<Comm> comm) {
  finish(false);
  released_ = false;
  start(std::move(comm), true);
}

void RetiredComm::close_at_once(std::shared_ptr<Comm> comm) {
  comm->abort();
  finish(true);
  released_ = true;
  start(std::move(comm), false);  // Gloo needs up to 10 ms per peer to close
}

void RetiredComm::release() {
  {
    const std::lock_guard lock(mutex_);
    released_ = true;
  }
  changed_.notify_all();
}

void RetiredComm::finish(bool at_once) {
  if (!thread_.joinable()) return;
  if (const auto comm = closing_.lock(); comm != nullptr && at_once) comm->abort();
  release();
  thread_.join();
}

void RetiredComm::start(std::shared_ptr<Comm> comm, bool settles) {
  closing_ = comm;
  thread_ = std::thread([this, settles, owned = std::move(comm)]() mutable {
    if (settles) owned->settle();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return released_; });
    lock.unlock();
    owned.reset();
  });
}

}  // namespace tidepool::runtime
