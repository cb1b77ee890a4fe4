#include "workers/runtime/comm/gloo_transport.hpp"

#include <gloo/common/error.h>

namespace tidepool::runtime {
namespace {

// Gloo's collectives number their slots from zero in the high bits; this slot does not collide with them.
constexpr std::uint64_t kCanarySlot = ~0ULL;
constexpr Millis kForever = std::chrono::hours(24 * 365);

}  // namespace

// Forwards everything to Gloo's buffer; a broken wait throws instead of returning false, which Gloo's algorithms do not
// check.
class BreakableTransport::Buffer final : public gloo::transport::UnboundBuffer {
 public:
  Buffer(BreakableTransport& transport, std::unique_ptr<gloo::transport::UnboundBuffer> inner)
      : gloo::transport::UnboundBuffer(inner->ptr, inner->size), transport_(transport), inner_(std::move(inner)) {
    const std::lock_guard lock(transport_.mutex_);
    transport_.live_.insert(inner_.get());
  }
  ~Buffer() override {
    const std::lock_guard lock(transport_.mutex_);
    transport_.live_.erase(inner_.get());
  }

  bool waitRecv(int* peer, Millis timeout) override { return unbroken(inner_->waitRecv(peer, timeout)); }
  bool waitSend(int* peer, Millis timeout) override { return unbroken(inner_->waitSend(peer, timeout)); }
  void abortWaitRecv() override { inner_->abortWaitRecv(); }
  void abortWaitSend() override { inner_->abortWaitSend(); }
  void send(int peer, std::uint64_t slot, std::size_t offset, std::size_t bytes) override {
    inner_->send(peer, slot, offset, bytes);
  }
  void recv(int peer, std::uint64_t slot, std::size_t offset, std::size_t bytes) override {
    inner_->recv(peer, slot, offset, bytes);
  }
  void recv(std::vector<int> peers, std::uint64_t slot, std::size_t offset, std::size_t bytes) override {
    inner_->recv(std::move(peers), slot, offset, bytes);
  }

 private:
  static bool unbroken(bool completed) {
    if (!completed) throw gloo::IoException("a member is gone");
    return true;
  }

  BreakableTransport& transport_;
  std::unique_ptr<gloo::transport::UnboundBuffer> inner_;
};

BreakableTransport::BreakableTransport(std::shared_ptr<gloo::transport::Context> inner,
                                       std::shared_ptr<gloo::transport::tcp::Device> device)
    : gloo::transport::Context(inner->rank, inner->size), inner_(std::move(inner)), device_(std::move(device)) {}

BreakableTransport::~BreakableTransport() {
  abort();
  if (watcher_.joinable()) watcher_.join();
}

void BreakableTransport::set_connect_timeout(Millis timeout) {
  inner_->setTimeout(timeout / 5);  // Gloo waits five times the timeout for a first connection
}

std::unique_ptr<gloo::transport::UnboundBuffer> BreakableTransport::createUnboundBuffer(void* memory,
                                                                                        std::size_t bytes) {
  auto buffer = std::make_unique<Buffer>(*this, inner_->createUnboundBuffer(memory, bytes));
  // Check after abort() can see the buffer: the buffer is either aborted there or refused here.
  if (aborted_) throw gloo::IoException("a member is gone");
  return buffer;
}

void BreakableTransport::watch_connections() {
  canary_ = inner_->createUnboundBuffer(&canary_byte_, sizeof canary_byte_);
  for (int peer = 0; peer < size; ++peer) {
    if (peer != rank) canary_->recv(peer, kCanarySlot, 0, sizeof canary_byte_);
  }
  watcher_ = std::thread([this] {
    try {
      canary_->waitRecv(nullptr, kForever);
    } catch (const std::exception&) {
      // A connection is lost, which is what this waits for.
    }
    abort();
  });
}

void BreakableTransport::abort() noexcept {
  if (aborted_.exchange(true)) return;
  const QuickTicks quick(device_, size);
  try {
    // A wait that times out makes Gloo close every pair and wake the threads blocked on one: Gloo has no other public
    // way. Nothing is sent to this buffer, so the time-out is immediate and affects only this context.
    char nothing = 0;
    inner_->createUnboundBuffer(&nothing, sizeof nothing)->waitRecv(nullptr, Millis{1});
  } catch (const std::exception&) {
    // Always the time-out itself.
  }
  const std::lock_guard lock(mutex_);
  for (gloo::transport::UnboundBuffer* buffer : live_) {
    buffer->abortWaitRecv();
    buffer->abortWaitSend();
  }
}

}  // namespace tidepool::runtime
