#include "workers/runtime/membership.hpp"

#include <utility>

namespace tidepool::runtime {

void Membership::announce(const Generation& generation) {
  const std::lock_guard lock(mutex_);
  if (generation.number <= newest_.number) return;  // fencing
  newest_ = generation;
  if (generation.after_failure) newest_failure_ = generation.number;
  run_watches();
  changed_.notify_all();
}

void Membership::announce_addresses(GenerationNumber generation, std::vector<std::string> blobs) {
  const std::lock_guard lock(mutex_);
  const bool known = generation == newest_.number && blobs.size() == newest_.members.size();
  if (!known || addresses_of_ == generation) return;
  addresses_of_ = generation;
  addresses_ = std::move(blobs);
  changed_.notify_all();
}

void Membership::announce_shares(GenerationNumber generation, SampleWeights shares) {
  const std::lock_guard lock(mutex_);
  const bool older = generation < shares_of_ || (generation == shares_of_ && shares.number() <= shares_->number());
  if (older) return;  // fencing
  shares_of_ = generation;
  shares_ = std::move(shares);
}

std::optional<SampleWeights> Membership::newest_shares(GenerationNumber generation) const {
  const std::lock_guard lock(mutex_);
  return generation == shares_of_ ? shares_ : std::nullopt;
}

void Membership::ask_checkpoint() {
  const std::lock_guard lock(mutex_);
  checkpoint_asked_ = true;
}

bool Membership::take_checkpoint_request() {
  const std::lock_guard lock(mutex_);
  return std::exchange(checkpoint_asked_, false);
}

Generation Membership::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

bool Membership::failed_since(GenerationNumber generation) const {
  const std::lock_guard lock(mutex_);
  return newest_failure_ > generation;
}

bool Membership::wait_newer(GenerationNumber number, TimePoint deadline) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [&] { return closed_ || newest_.number > number; }) && !closed_;
}

std::optional<std::vector<std::string>> Membership::wait_addresses(GenerationNumber generation,
                                                                   TimePoint deadline) const {
  std::unique_lock lock(mutex_);
  const auto superseded = [&] { return closed_ || newest_.number > generation; };
  const auto settled = [&] { return superseded() || addresses_of_ == generation; };
  if (!changed_.wait_until(lock, deadline, settled) || superseded()) return std::nullopt;
  return addresses_;
}

bool Membership::has_addresses(GenerationNumber generation) const {
  const std::lock_guard lock(mutex_);
  return addresses_of_ >= generation;
}

Membership::WatchId Membership::watch(GenerationNumber generation, Over over, std::function<void()> act) {
  const std::lock_guard lock(mutex_);
  const WatchId id = ++last_watch_;
  watches_.emplace(id, Watch{generation, over, std::move(act)});
  run_watches();
  return id;
}

void Membership::unwatch(WatchId id) {
  const std::lock_guard lock(mutex_);
  watches_.erase(id);
}

void Membership::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  run_watches();
  changed_.notify_all();
}

bool Membership::is_over(const Watch& watch) const {
  if (closed_) return true;
  const GenerationNumber newest = watch.over == Over::kByFailure ? newest_failure_ : newest_.number;
  return newest > watch.generation;
}

void Membership::run_watches() {
  for (auto it = watches_.begin(); it != watches_.end();) {
    if (is_over(it->second)) {
      it->second.act();
      it = watches_.erase(it);
    } else {
      ++it;
    }
  }
}

}  // namespace tidepool::runtime
