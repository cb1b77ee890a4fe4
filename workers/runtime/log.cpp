#include "workers/runtime/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace tidepool::runtime {
namespace {

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto created = std::make_shared<spdlog::logger>("tidepool", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    created->set_pattern("%H:%M:%S.%e %n %l: %v");
    return created;
  }();
  return *instance;
}

}  // namespace

void log_info(const std::string& line) {
  logger().info(line);
}

void log_warning(const std::string& line) {
  logger().warn(line);
}

}  // namespace tidepool::runtime
