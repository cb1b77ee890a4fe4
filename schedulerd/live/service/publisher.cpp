#include "schedulerd/live/service/publisher.hpp"

#include <utility>

namespace tidepool::live {

void Publisher::publish(std::shared_ptr<const Published> picture) {
  const std::lock_guard lock(shared_->slot_mutex);
  shared_->picture.swap(picture);  // the old one is freed after the lock, with the parameter
}

void Publisher::announce(const std::vector<core::Event>& events) {
  if (events.empty()) return;
  const std::lock_guard lock(shared_->calls_mutex);
  for (const auto& [number, on_events] : shared_->subscribers) on_events(events);
}

std::shared_ptr<const Published> Publisher::picture() const {
  const std::lock_guard lock(shared_->slot_mutex);
  return shared_->picture;
}

std::shared_ptr<void> Publisher::subscribe(OnEvents on_events) {
  const std::lock_guard lock(shared_->calls_mutex);
  const std::uint64_t number = shared_->next++;
  shared_->subscribers.emplace(number, std::move(on_events));
  auto shared = shared_;
  return {nullptr, [shared, number](void*) {
            const std::lock_guard calls(shared->calls_mutex);
            shared->subscribers.erase(number);
          }};
}

}  // namespace tidepool::live
