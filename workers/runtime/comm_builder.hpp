// Builds the Comm of the next generation in a thread of its own while the current one is in use, so that training
// continues. A build that a newer generation supersedes ends on its own.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "api/worker_protocol.hpp"
#include "workers/runtime/comm/clock.hpp"
#include "workers/runtime/comm/comm.hpp"
#include "workers/runtime/comm_opening.hpp"
#include "workers/runtime/generation.hpp"
#include "workers/runtime/membership.hpp"

namespace tidepool::runtime {

struct CommBuilderOptions {
  WorkerId self;
  Transports transports{};  // the transports that this worker has
  std::string host = "127.0.0.1";
  Millis address_timeout{600'000};  // until all members have published their addresses
  Millis connect_timeout{30'000};
  Millis collective_timeout{600'000};
  // Runs on each new communicator of more than one worker before it counts as built; interrupt() makes it return soon.
  std::function<Status(Comm&)> prepare{};
  std::function<void()> interrupt{};
};

class CommBuilder {
 public:
  enum class State { kIdle, kBuilding, kReady, kFailed };
  using Publish = std::function<void(api::AddressMessage)>;

  // `membership` must outlive the builder; `publish` is called from the building thread.
  CommBuilder(CommBuilderOptions options, Membership& membership, Publish publish);
  ~CommBuilder();
  CommBuilder(const CommBuilder&) = delete;
  CommBuilder& operator=(const CommBuilder&) = delete;

  // Ends the build in progress and drops what was built.
  void abandon();

  // Abandons an earlier build and builds for `target`. This worker must be a member of `target`, and `target` must be
  // newer than every earlier target.
  void start(const Generation& target);

  [[nodiscard]] State state() const;
  // How long it has been connecting: the time since all addresses were known, while the build is not done.
  [[nodiscard]] Millis connecting_for(TimePoint now) const;
  [[nodiscard]] GenerationNumber target() const { return target_.number; }

  // Waits while a build is in progress. The timeouts bound the wait; a newer generation ends it early.
  void wait();
  // As wait(), but at most until `deadline`; false if the build is still in progress then.
  [[nodiscard]] bool wait_until(TimePoint deadline);

  // What was built. After take() only a death ends the communicator. Requires: kReady.
  struct Built {
    Generation generation;
    std::shared_ptr<Comm> comm;
    double build_ms = 0;
  };
  [[nodiscard]] Built take();

  // Why the last build failed. Requires: kFailed.
  [[nodiscard]] Error failure() const;

 private:
  void build(Generation target);
  void set_connecting(bool on);
  [[nodiscard]] Result<std::shared_ptr<Comm>> connect(const Generation& target, Membership::WatchId& watch);

  CommBuilderOptions options_;
  Membership& membership_;
  Publish publish_;
  Generation target_;
  std::thread thread_;
  mutable std::mutex mutex_;
  std::condition_variable built_;
  State state_ = State::kIdle;
  std::optional<TimePoint> connecting_since_;
  std::shared_ptr<Comm> comm_;
  Error failure_;
  double build_ms_ = 0;
};

}  // namespace tidepool::runtime
