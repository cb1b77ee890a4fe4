// The snapshot slot and the list of subscribers to events. The loop writes, any thread reads; a
// snapshot never changes once it is published.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "schedulerd/live/service/service.hpp"

namespace tidepool::live {

class Publisher {
 public:
  using OnEvents = std::function<void(const std::vector<core::Event>&)>;

  Publisher() : shared_(std::make_shared<Shared>()) {}

  void publish(std::shared_ptr<const Published> picture);
  // Calls each subscriber, in the order of their coming.
  void announce(const std::vector<core::Event>& events);

  [[nodiscard]] std::shared_ptr<const Published> picture() const;
  // Once the handle is dropped no call is under way and none follows. Not to be dropped inside a call.
  [[nodiscard]] std::shared_ptr<void> subscribe(OnEvents on_events);

 private:
  struct Shared {
    std::mutex slot_mutex;
    std::shared_ptr<const Published> picture = std::make_shared<Published>();
    std::mutex calls_mutex;
    std::map<std::uint64_t, OnEvents> subscribers;
    std::uint64_t next = 1;
  };
  std::shared_ptr<Shared> shared_;  // outlives the publisher for handles that are dropped late
};

}  // namespace tidepool::live
