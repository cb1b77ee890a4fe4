#include "workers/agent/health/join_probe.hpp"

#include <sstream>

#include "base/files/whole_file.hpp"
#include "workers/agent/health/judgement.hpp"
#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {
namespace {

// Without a record, or with a record of an older version, there is nothing to compare with.
std::vector<DeviceFigures> read_record(const std::filesystem::path& path) {
  std::vector<DeviceFigures> figures;
  const auto text = read_whole_file(path);
  if (!text.ok()) return figures;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (auto device = decode_figures(line); device.ok()) figures.push_back(*std::move(device));
  }
  return figures;
}

std::vector<ProbeCommand> commands_of(const JoinProbe& probe) {
  std::vector<ProbeCommand> commands;
  for (std::size_t i = 0; i < probe.gpus.size(); ++i) {
    std::vector<std::string> arguments = {"--gpu", probe.gpus[i]};
    if (probe.gpus.size() > 1) {
      arguments.emplace_back("--with");
      arguments.push_back(probe.gpus[(i + 1) % probe.gpus.size()]);
    }
    commands.push_back({.program = probe.program,
                        .arguments = std::move(arguments),
                        .visible_devices = probe.gpus[i],
                        .deadline = probe.deadline,
                        .gives_up = probe.gives_up});
  }
  if (commands.empty()) {
    commands.push_back({.program = probe.program,
                        .arguments = {},
                        .visible_devices = {},
                        .deadline = probe.deadline,
                        .gives_up = probe.gives_up});
  }
  return commands;
}

}  // namespace

NodeHealth probe_node(const JoinProbe& probe) {
  NodeHealth health;
  std::vector<std::string> failures;
  for (const ProbeCommand& command : commands_of(probe)) {
    auto figures = run_probe(command);
    if (probe.gives_up && probe.gives_up()) return {};
    if (figures.ok()) {
      health.figures.push_back(*std::move(figures));
    } else {
      const std::string device = command.visible_devices.empty() ? "cpu" : command.visible_devices;
      failures.push_back(device + ": " + figures.error().message);
    }
  }
  health.findings = judge(health.figures, read_record(probe.record));
  health.findings.insert(health.findings.end(), failures.begin(), failures.end());
  std::string text;
  for (const DeviceFigures& figures : health.figures) text += encode_figures(figures) + "\n";
  // A slow device must not become its own reference: the record is kept while there are findings.
  if (!text.empty() && health.findings.empty()) {
    if (const Status kept = replace_file(probe.record, text); !kept.ok()) {
      health.findings.push_back("the figures are not kept: " + kept.error().message);
    }
  }
  return health;
}

}  // namespace tidepool::agent
