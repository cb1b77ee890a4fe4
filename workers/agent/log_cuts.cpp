#include "workers/agent/log_cuts.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

namespace tidepool::agent {
namespace {

constexpr auto kLogCutPeriod = std::chrono::seconds(2);

}  // namespace

void LogCuts::start() {
  timer_.expires_after(kLogCutPeriod);
  timer_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    cut();
    start();
  });
}

void LogCuts::cut() {
  for (const WorkerId worker : runner_.workers()) {
    const auto status = logs_.cut(worker);
    if (!status.ok() && !std::exchange(trouble_told_, true)) {
      spdlog::warn("logs of workers grow without bound: {}", status.error().message);
    }
  }
}

}  // namespace tidepool::agent
