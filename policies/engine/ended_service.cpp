#include "policies/engine/ended_service.hpp"

#include <algorithm>
#include <utility>

namespace tidepool::policies::cluster {

void EndedService::note(JobId id, Duration slot_time) {
  const auto [place, is_new] = place_of_.try_emplace(id, ended_.size());
  if (is_new) ended_.push_back(0);
  ended_[place->second] = slot_time.to_seconds();
}

void EndedService::forget(JobId id) {
  const auto place = place_of_.find(id);
  if (place == place_of_.end()) return;
  place_of_.erase(place);
  has_gaps_ = true;
}

const std::vector<double>& EndedService::in_order() {
  close_gaps();
  return ended_;
}

// What is left of them, in the order in which they ended.
void EndedService::close_gaps() {
  if (!std::exchange(has_gaps_, false)) return;
  std::vector<std::pair<std::size_t, JobId>> left;
  for (const auto& [id, place] : place_of_) left.emplace_back(place, id);
  std::sort(left.begin(), left.end());
  for (std::size_t i = 0; i < left.size(); ++i) {
    ended_[i] = ended_[left[i].first];
    place_of_[left[i].second] = i;
  }
  ended_.resize(left.size());
}

}  // namespace tidepool::policies::cluster
