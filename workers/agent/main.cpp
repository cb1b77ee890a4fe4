// agentd: one per node. Exit codes: 0 ended as told or idle, 1 cannot run here, 2 wrong command line.
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "workers/agent/agent_loop.hpp"
#include "workers/agent/agent_options.hpp"
#include "workers/agent/health/join_probe.hpp"
#include "workers/agent/nvml_gpu_probe.hpp"
#include "workers/agent/state_lock.hpp"

namespace {

using namespace tidepool;
using namespace tidepool::agent;

int fail(const Error& error) {
  std::fprintf(stderr, "agentd: %s\n", error.message.c_str());
  return 1;
}

std::string probe_beside_us() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return (self.parent_path() / "tidepool-probe").string();
}

// Slow devices are told, not refused.
std::vector<DeviceFigures> measure(const AgentOptions& options, const NodeSlots& slots) {
  JoinProbe probe{.program = probe_beside_us(), .gpus = {}, .record = options.state_dir / "health.jsonl"};
  for (const Gpu& gpu : slots.gpus) probe.gpus.push_back(gpu.uuid);
  NodeHealth health = probe_node(probe);
  for (const DeviceFigures& figures : health.figures) spdlog::info("{}", describe(figures));
  for (const std::string& finding : health.findings) spdlog::warn("{}", finding);
  return std::move(health.figures);
}

int run_agent(const AgentOptions& options) {
  const auto lock = lock_state_dir(options.state_dir);
  if (!lock) {
    const int code = fail(lock.error());
    // A daemon that starts its own agent each time is served by the one that still runs.
    return options.exit_when_idle && lock.error().code == ErrorCode::kConflict ? 0 : code;
  }
  if (const auto token = read_token(options.token_file); !token) return fail(token.error());
  NvmlGpuProbe probe;
  const NodeSlots slots = find_slots(options.cpu_slots, options.slot_type, probe);
  spdlog::info("node {}: {}", options.node, slots.note);
  auto loop = AgentLoop::open(options, slots, [&] { return measure(options, slots); });
  if (!loop) return fail(loop.error());
  const bool measures_first = options.probe == AgentOptions::Probe::kAlways ||
                              (options.probe == AgentOptions::Probe::kGpus && !slots.gpus.empty());
  // What workers are using cannot be measured.
  if (measures_first && !(*loop)->has_workers()) (*loop)->tell_figures(measure(options, slots));
  (*loop)->run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("agentd"));
  // The terminal or the reader of our log may go away; neither ends the node.
  std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const auto parsed = parse_options(argc, argv);
    if (const int* code = std::get_if<int>(&parsed)) return *code;
    return run_agent(std::get<AgentOptions>(parsed));
  } catch (const std::exception& error) {
    return fail({ErrorCode::kInternal, std::string("stopped by an unexpected failure: ") + error.what()});
  }
}
