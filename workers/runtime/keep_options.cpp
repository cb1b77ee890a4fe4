#include "workers/runtime/keep_options.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/number_text.hpp"

namespace tidepool::runtime {
namespace {

std::string text_from(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Result<std::int64_t> number_from_environment(const char* name, std::int64_t fallback, std::int64_t high) {
  const std::string text = text_from(name);
  if (text.empty()) return fallback;
  const auto number = parse_number<std::int64_t>(text);
  if (number && *number >= 0 && *number <= high) return *number;
  return invalid_argument(std::string(name) + " is \"" + text + "\"; give a whole number from 0 to " +
                          std::to_string(high));
}

Result<KeepOptions> KeepOptions::from_environment() {
  const auto every_s = number_from_environment("TIDEPOOL_CHECKPOINT_EVERY_S", 0, 31'536'000);
  if (!every_s.ok()) return every_s.error();
  const auto keep = number_from_environment("TIDEPOOL_CHECKPOINT_KEEP", 3, 1'000'000);
  if (!keep.ok()) return keep.error();
  KeepOptions options;
  options.checkpoint_folder = text_from("TIDEPOOL_CHECKPOINT_DIR");
  options.park_folder = text_from("TIDEPOOL_PARK_DIR");
  options.every = std::chrono::seconds(*every_s);
  options.keep = static_cast<int>(std::max<std::int64_t>(*keep, 1));
  const std::string job = text_from("TIDEPOOL_JOB");
  if (!job.empty()) options.owner = text_from("TIDEPOOL_CLUSTER") + "/" + job;
  return options;
}

}  // namespace tidepool::runtime
