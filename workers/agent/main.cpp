// agentd: one per node. Exit codes: 0 ended as requested or idle, 1 cannot run here, 2 wrong command line.
#include <spdlog/spdlog.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

#include "base/log/logging.hpp"
#include "base/log/open_files.hpp"
#include "workers/agent/agent_options.hpp"
#include "workers/agent/health/join_probe.hpp"
#include "workers/agent/loop/agent_loop.hpp"
#include "workers/agent/node_isolation.hpp"
#include "workers/agent/notice/notice_watch.hpp"
#include "workers/agent/nvml_gpu_probe.hpp"
#include "workers/agent/state_lock.hpp"
#include "workers/agent/system/first_process.hpp"

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

// Slow devices are reported, not refused.
std::vector<DeviceFigures> measure(const AgentOptions& options, const NodeSlots& slots, const std::stop_token& stop) {
  JoinProbe probe{
      .program = probe_beside_us(), .gpus = {}, .record = options.state_dir / "health.jsonl", .gives_up = [&] {
        return stop.stop_requested();
      }};
  for (const Gpu& gpu : slots.gpus) probe.gpus.push_back(gpu.uuid);
  NodeHealth health = probe_node(probe);
  for (const DeviceFigures& figures : health.figures) spdlog::info("{}", describe(figures));
  for (const std::string& finding : health.findings) spdlog::warn("{}", finding);
  return std::move(health.figures);
}

// Some processes belong there, such as an MPS server: only additional ones are workers that have not ended.
std::map<std::string, int> processes_before(const NodeSlots& slots, GpuProbe& probe) {
  std::map<std::string, int> before;
  for (const Gpu& gpu : slots.gpus) {
    if (const auto count = probe.processes_on(gpu.uuid)) before[gpu.uuid] = *count;
  }
  return before;
}

std::optional<int> processes_since(const std::map<std::string, int>& before, const std::string& uuid, GpuProbe& probe) {
  const auto known = before.find(uuid);
  const auto count = known == before.end() ? std::nullopt : probe.processes_on(uuid);
  return count ? std::optional(*count - known->second) : std::nullopt;
}

// Without the folder the agent runs unlocked: the lock only guards against a mistake of the host's operator.
Result<std::vector<UniqueFd>> take_gpus(const NodeSlots& slots) {
  std::vector<std::string> uuids;
  for (const Gpu& gpu : slots.gpus) uuids.push_back(gpu.uuid);
  if (uuids.empty()) return std::vector<UniqueFd>();
  auto locks = lock_gpus(folder_of_gpu_locks(), uuids);
  if (locks || locks.error().code == ErrorCode::kConflict) return locks;
  spdlog::warn("other agents of this host may offer the same GPUs: {}", locks.error().message);
  return std::vector<UniqueFd>();
}

int run_agent(AgentOptions options) {
  raise_open_files("each worker needs some; with more workers than these allow, starts fail");
  if (const Status secured = secure_link(options); !secured.ok()) return fail(secured.error());
  const auto lock = lock_state_dir(options.state_dir);
  if (!lock) {
    const int code = fail(lock.error());
    // If a daemon starts its own agent each time, the agent that still runs serves it.
    return options.exit_when_idle && lock.error().code == ErrorCode::kConflict ? 0 : code;
  }
  NvmlGpuProbe probe;
  const auto found = find_slots({options.cpu_slots, options.gpus, options.slot_type}, probe);
  if (!found) return fail(found.error());
  const NodeSlots& slots = *found;
  const auto gpu_locks = take_gpus(slots);
  if (!gpu_locks) return fail(gpu_locks.error());
  if (const Status settled = settle_data_address(options); !settled.ok()) return fail(settled.error());
  auto confinement = isolate(options, slots);
  if (!confinement) return fail(confinement.error());
  // After everything else that can fail for this node's own options: a node token may be valid for one use only.
  if (const Status joined = take_up_identity(options); !joined.ok()) return fail(joined.error());
  if (const auto token = read_token(options.token_file); !token) return fail(token.error());
  spdlog::info("node {}: {}", options.node, slots.note);
  const auto before = processes_before(slots, probe);
  auto loop =
      AgentLoop::open(options, {slots, *std::move(confinement)},
                      {.measure = [&](const std::stop_token& stop) { return measure(options, slots, stop); },
                       .gpu_processes = [&](const std::string& uuid) { return processes_since(before, uuid, probe); }});
  if (!loop) return fail(loop.error());
  const bool measures_first = options.probe == AgentOptions::Probe::kAlways ||
                              (options.probe == AgentOptions::Probe::kGpus && !slots.gpus.empty());
  // Devices that workers are using cannot be measured.
  if (measures_first && !(*loop)->has_workers()) (*loop)->report_figures(measure(options, slots, {}));
  // Destroyed before the loop that it notifies.
  const NoticeWatch notices(options.notice, [&](std::optional<Instant> at) { (*loop)->report_notice(at); });
  (*loop)->run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  tidepool::agent::leave_first_process();
  tidepool::start_logging("info",
                          {.name = "agentd", .pattern = "[%Y-%m-%d %H:%M:%S.%e] [%n] [%^%l%$] %*", .colour = true});
  // The terminal or the reader of the log may disconnect; neither ends the node.
  std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // nor does a file size limit: the write fails, as on a full disk
  std::signal(SIGUSR1, SIG_IGN);  // has no meaning here
  std::signal(SIGUSR2, SIG_IGN);
  try {
    const auto parsed = parse_options(argc, argv);
    if (const int* code = std::get_if<int>(&parsed)) return *code;
    return run_agent(std::get<AgentOptions>(parsed));
  } catch (const std::exception& error) {
    return fail({ErrorCode::kInternal, std::string("stopped by an unexpected failure: ") + error.what()});
  }
}
