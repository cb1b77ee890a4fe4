#include "policies/tidal/due_times.hpp"

#include <algorithm>
#include <functional>

namespace tidepool::policies::tidal {
namespace {

constexpr std::size_t kFewEntries = 64;  // not worth clearing away

}  // namespace

void DueTimes::set(JobId job, Instant at) {
  const auto [found, is_new] = at_.try_emplace(job, at);
  if (!is_new && found->second == at) return;
  found->second = at;
  heap_.emplace_back(at, job);
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  if (heap_.size() > 2 * at_.size() + kFewEntries) clear_away();
}

IdSet<JobId> DueTimes::take(Instant now) {
  IdSet<JobId> due;
  while (!heap_.empty() && heap_.front().first <= now) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const auto [at, job] = heap_.back();
    heap_.pop_back();
    const auto found = at_.find(job);
    if (found == at_.end() || found->second != at) continue;
    at_.erase(found);
    due.insert(job);
  }
  return due;
}

bool DueTimes::any_due(Instant now) {
  while (!heap_.empty() && heap_.front().first <= now) {
    const auto found = at_.find(heap_.front().second);
    if (found != at_.end() && found->second == heap_.front().first) return true;
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  }
  return false;
}

void DueTimes::clear_away() {
  heap_.clear();
  for (const auto& [job, at] : at_) heap_.emplace_back(at, job);
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
}

}  // namespace tidepool::policies::tidal
