#include "workers/agent/program_files/length_files.hpp"

#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/utf8.hpp"
#include "workers/agent/program_files/newest_line.hpp"

namespace tidepool::agent {
namespace {

constexpr std::size_t kLengthBytesMost = 4'096;
constexpr JsonLimits kLengthLimits{.bytes_max = kLengthBytesMost, .depth_max = 2, .values_max = 8};

}  // namespace

Result<api::ReadyMessage> length_of_line(const std::string& line) {
  const auto parsed = parse_json(line, kLengthLimits);
  if (!parsed) return parsed.error();
  std::vector<FieldError> errors;
  ObjectReader in(*parsed, "", errors);
  api::ReadyMessage told;
  const auto count = [&](const char* name) -> std::optional<std::int64_t> {
    if (!in.has(name)) return std::nullopt;
    return in.required_integer(name, {.low = 1, .high = api::kWorkMax});
  };
  told.work_steps = count("steps");
  told.work_samples = count("samples");
  if (told.work_steps.has_value() == told.work_samples.has_value()) {
    in.fail("steps", "Invalid", "or samples must be there, and only one of them");
  }
  in.finish();
  if (!errors.empty()) return invalid_argument(errors.front().pointer + " " + errors.front().message);
  return told;
}

LengthFiles::LengthFiles(boost::asio::io_context& io, Handlers handlers, std::chrono::milliseconds every)
    : handlers_(std::move(handlers)),
      lines_(io, {.every = every, .bytes_max = kLengthBytesMost},
             [this](WorkerId worker, const std::string& lines) { hear(worker, lines); }) {}

void LengthFiles::start(WorkerId worker, const std::filesystem::path& file) {
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  adopt(worker, file);
}

void LengthFiles::adopt(WorkerId worker, const std::filesystem::path& file) {
  told_.erase(worker);
  lines_.watch(worker, file);
}

void LengthFiles::forget(WorkerId worker) {
  told_.erase(worker);
  lines_.forget(worker);
}

void LengthFiles::report_again() {
  told_.clear();
  lines_.take_again();
}

void LengthFiles::hear(WorkerId worker, std::string_view lines) {
  for (bool is_newest = true; !lines.empty();) {
    const std::string line(take_last_line(lines));
    if (line.empty()) continue;
    const auto length = length_of_line(line);
    if (length) {
      if (std::exchange(told_[worker], line) != line) handlers_.on_length(worker, *length);
      return;
    }
    if (std::exchange(is_newest, false)) {
      handlers_.on_trouble(worker, "what " + worker.text() + " wrote in its length file is no length: " +
                                       cut_to(length.error().message, kToldOfLine) +
                                       R"(; write a line such as {"steps": 20000} or {"samples": 1280000})");
    }
  }
}

}  // namespace tidepool::agent
