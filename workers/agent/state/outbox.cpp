#include "workers/agent/state/outbox.hpp"

#include <utility>

namespace tidepool::agent {

void Outbox::add(api::FromWorkerReport report) {
  const std::size_t bytes = api::encode(api::AgentToDaemon(report)).size();
  bytes_ += bytes;
  kept_.push_back({std::move(report), bytes});
  while (kept_.size() > kMessagesMax || bytes_ > kBytesMax) {
    bytes_ -= kept_.front().bytes;
    kept_.pop_front();
  }
}

void Outbox::forget(WorkerId worker) {
  std::erase_if(kept_, [&](const Kept& each) {
    if (each.report.worker != worker) return false;
    bytes_ -= each.bytes;
    return true;
  });
}

void Outbox::clear() {
  kept_.clear();
  bytes_ = 0;
}

std::vector<api::FromWorkerReport> Outbox::take() {
  std::vector<api::FromWorkerReport> reports;
  reports.reserve(kept_.size());
  for (Kept& each : kept_) reports.push_back(std::move(each.report));
  clear();
  return reports;
}

}  // namespace tidepool::agent
