#include "workers/agent/health/run_probe.hpp"

#include <algorithm>
#include <utility>

#include "workers/agent/system/child_answer.hpp"
#include "workers/agent/system/proc_info.hpp"

namespace tidepool::agent {
namespace {

constexpr std::size_t kAnswerMax = 1U << 16U;

std::vector<std::string> environment_with(const std::string& visible_devices) {
  auto environment = own_environment();
  environment["CUDA_VISIBLE_DEVICES"] = visible_devices;
  return entries_of(environment);
}

// Libraries may have printed lines before or after the wanted one.
std::string last_line_that(const std::string& text, bool (*wanted)(const std::string&)) {
  std::string found;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (wanted(line)) found = line;
    begin = end + 1;
  }
  return found;
}

}  // namespace

Result<DeviceFigures> run_probe(const ProbeCommand& command) {
  ChildSpec spec{.program = command.program,
                 .argv = {"tidepool-probe"},
                 .environment = environment_with(command.visible_devices),
                 .workdir = {}};
  spec.argv.insert(spec.argv.end(), command.arguments.begin(), command.arguments.end());
  const auto said =
      ask_child(std::move(spec), {.within = command.deadline, .text_max = kAnswerMax, .gives_up = command.gives_up});
  if (!said.ok()) return said.error();
  if (said->ended == ChildAnswer::Ended::kGivenUp) {
    return Error{ErrorCode::kUnavailable, "the probe was stopped before it had an answer"};
  }
  if (said->ended != ChildAnswer::Ended::kItself) {
    return Error{ErrorCode::kUnavailable, "the probe gave no answer within " +
                                              std::to_string(command.deadline.count() / 1'000) +
                                              " s and was killed; the device may hang"};
  }
  const std::string answer =
      last_line_that(said->text, [](const std::string& line) { return line.rfind('{', 0) == 0; });
  if (!answer.empty()) return decode_figures(answer);
  const std::string reason = last_line_that(said->text, [](const std::string& line) { return !line.empty(); });
  return Error{ErrorCode::kUnavailable, "the probe failed: " + (reason.empty() ? "it said nothing" : reason)};
}

}  // namespace tidepool::agent
