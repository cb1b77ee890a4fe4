// When the node's devices are measured, and the newest figures.
//
// Rule: measure only while no worker is here, because a probe and a worker on the same devices slow each other and the
// figures would be wrong for both. Figures measured while a worker started are discarded and measured again.
#pragma once

#include <optional>
#include <utility>

#include "api/worker_protocol.hpp"

namespace tidepool::agent {

class DeviceProbe {
 public:
  void ask() { wanted_ = true; }
  // True: a probe begins now. `is_free`: no worker is here, and the agent is not stopping.
  [[nodiscard]] bool begins(bool is_free) {
    if (!wanted_ || runs_ || !is_free) return false;
    wanted_ = false;
    runs_ = true;
    return true;
  }
  void worker_started() { disturbed_ = disturbed_ || runs_; }
  // Null: the report is not usable; else the newest report.
  [[nodiscard]] const api::ProbedReport* ended(api::ProbedReport report) {
    runs_ = false;
    const bool disturbed = std::exchange(disturbed_, false);
    if (disturbed) wanted_ = true;
    if (disturbed || report.devices.empty()) return nullptr;
    newest_ = std::move(report);
    return &*newest_;
  }
  // None: nothing has been measured yet.
  [[nodiscard]] const std::optional<api::ProbedReport>& newest() const { return newest_; }

 private:
  std::optional<api::ProbedReport> newest_;
  bool wanted_ = false;  // as soon as no worker is here
  bool runs_ = false;
  bool disturbed_ = false;  // a worker was started during the probe
};

}  // namespace tidepool::agent
