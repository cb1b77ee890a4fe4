#include "workers/agent/worker_launch.hpp"

#include <algorithm>

#include "api/comm_address.hpp"
#include "workers/agent/isolation/confine_plan.hpp"
#include "workers/agent/program_files/notice_files.hpp"

namespace tidepool::agent {
namespace {

namespace fs = std::filesystem;
using Environment = std::map<std::string, std::string>;

constexpr const char* kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

// Nothing else of the agent's own environment reaches a tenant's program.
Environment base_environment(const Environment& agent, int cpus) {
  Environment result{{"PATH", kDefaultPath},
                     {"OMP_NUM_THREADS", std::to_string(cpus)},
                     // If the output is a file, Python otherwise writes prints late, after the traceback or never.
                     {"PYTHONUNBUFFERED", "1"}};
  for (const char* name : {"PATH", "HOME", "LANG", "TZ", "TIDEPOOL_STUCK_AFTER_MS"}) {
    if (const auto found = agent.find(name); found != agent.end()) result[name] = found->second;
  }
  return result;
}

// The job's own variables take precedence, except for the address: its agent expects the worker there.
void say_where_to_meet(const DataAddress& data, Environment& environment) {
  environment.erase("TIDEPOOL_DATA_ADDRESS");
  if (!data.host.empty()) environment["TIDEPOOL_DATA_ADDRESS"] = data.host;
  if (data.interface.empty() || api::is_loopback_address(data.host)) return;
  // With "=": this interface only, and none whose name begins with it.
  environment.emplace("NCCL_SOCKET_IFNAME", "=" + data.interface);
  environment.emplace("GLOO_SOCKET_IFNAME", data.interface);  // for PyTorch's own Gloo
  if (data.host.find(':') != std::string::npos) environment.emplace("NCCL_SOCKET_FAMILY", "AF_INET6");
}

Result<std::string> visible_devices(const api::StartWorker& order, const NodeSlots& slots) {
  std::string devices;
  if (!takes_gpus(order, slots)) return devices;  // hides every GPU from a worker without GPUs
  for (const int slot : order.slots) {
    if (static_cast<std::size_t>(slot) >= slots.gpus.size()) {
      return invalid_argument("this node has no GPU slot " + std::to_string(slot) + "; it offers " +
                              std::to_string(slots.gpus.size()) + " GPUs");
    }
    devices += (devices.empty() ? "" : ",") + slots.gpus[static_cast<std::size_t>(slot)].uuid;
  }
  return devices;
}

// Next to agentd first, so that a node's own trainer takes precedence over one on PATH. The worker's own process
// searches there: a folder of PATH may be on a file system that does not answer.
std::vector<std::string> places_of(const std::string& program, const fs::path& folder, const std::string& path) {
  if (program.find('/') != std::string::npos) return {};
  std::vector<std::string> places{(folder / program).string()};
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const fs::path candidate = fs::path(path.substr(begin, end - begin)) / program;
    if (candidate.is_absolute()) places.push_back(candidate.string());
    begin = end + 1;
  }
  return places;
}

// The kernel would silently use only the text before the NUL.
bool holds_nul(const ChildSpec& spec) {
  const auto nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  return nul(spec.program) || nul(spec.workdir) || std::any_of(spec.argv.begin(), spec.argv.end(), nul) ||
         std::any_of(spec.environment.begin(), spec.environment.end(), nul);
}

}  // namespace

bool takes_gpus(const api::StartWorker& order, const NodeSlots& slots) {
  return order.gpus && !slots.gpus.empty();
}

Result<ChildSpec> plan_launch(const api::StartWorker& order, const LaunchPlace& place, const NodeSlots& slots) {
  const auto devices = visible_devices(order, slots);
  if (!devices) return devices.error();
  Environment environment = base_environment(place.agent_environment, order.cpus.value_or(1));
  if (place.confined) {
    environment["HOME"] = "/tmp";
    environment["USER"] = environment["LOGNAME"] = view::kUser;
  }
  for (const auto& [name, value] : order.env) {
    if (name.empty() || name.find('=') != std::string::npos) {
      return invalid_argument("\"" + name + "\" cannot be the name of an environment variable");
    }
    environment[name] = value;
  }
  environment["CUDA_VISIBLE_DEVICES"] = *devices;
  environment.erase("TIDEPOOL_AGENT_SOCKET");
  if (!place.agent_socket.empty()) environment["TIDEPOOL_AGENT_SOCKET"] = place.agent_socket.string();
  environment["TIDEPOOL_WORKER"] = order.worker.text();
  environment["TIDEPOOL_JOB"] = order.job.text();
  environment["TIDEPOOL_JOB_FILE"] = place.job_file.string();
  environment["TIDEPOOL_CLUSTER"] = place.cluster;
  environment["TIDEPOOL_NOTICES"] = "1";
  const fs::path own = place.confined ? fs::path() : place.job_file.parent_path();
  environment["TIDEPOOL_NOTICE_FILE"] = own.empty() ? "" : NoticeFiles::notice_in(own).string();
  environment["TIDEPOOL_ANSWER_FILE"] = own.empty() ? "" : NoticeFiles::answer_in(own).string();
  environment.erase("TIDEPOOL_LENGTH_FILE");
  if (!place.length_file.empty()) environment["TIDEPOOL_LENGTH_FILE"] = place.length_file.string();
  environment.emplace("TIDEPOOL_CHECKPOINT_DIR", place.checkpoint_folder.string());
  say_where_to_meet(place.data, environment);
  const std::string states = environment["TIDEPOOL_CHECKPOINT_DIR"];
  environment.erase("TIDEPOOL_PARK_DIR");
  if (place.park_folder) environment["TIDEPOOL_PARK_DIR"] = place.park_folder->string();

  ChildSpec spec{.program = order.program, .argv = {order.program}, .workdir = order.workdir};
  spec.places = places_of(order.program, place.program_folder, environment["PATH"]);
  spec.argv.insert(spec.argv.end(), order.argv.begin(), order.argv.end());
  spec.environment = entries_of(environment);
  // A program that is restarted for each generation keeps its states there; a confined program's plan has its own
  // folder.
  if (order.restart_grace_ms && !place.confined) spec.make_folder = states;
  if (holds_nul(spec)) return invalid_argument("a NUL byte cannot be passed to a program; remove it from run");
  return spec;
}

}  // namespace tidepool::agent
