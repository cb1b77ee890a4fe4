#include "workers/agent/agent_options.hpp"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "api/worker_protocol.hpp"
#include "base/money.hpp"
#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {
namespace {

constexpr int kUsageError = 2;

struct Texts {
  std::string daemon_socket;
  std::string daemon;
  std::string state_dir;
  std::string exit_when_idle;
  int slots = 0;
  int lifeline = -1;
};

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), HOST_NAME_MAX) == 0 && name[0] != '\0' ? name.data() : "localhost";
}

void check_daemon(const Texts& texts, AgentOptions& options, std::vector<std::string>& mistakes) {
  if (texts.daemon_socket.empty() == texts.daemon.empty()) {
    mistakes.emplace_back("give either --daemon-socket PATH or --daemon HOST:PORT");
  } else if (!texts.daemon_socket.empty()) {
    options.daemon = UnixAddress{texts.daemon_socket};
  } else if (auto address = parse_tcp_address(texts.daemon); address) {
    options.daemon = std::move(*address);
    if (options.token_file.empty()) mistakes.emplace_back("--daemon HOST:PORT needs --token-file PATH");
  } else {
    mistakes.push_back("--daemon: " + address.error().message);
  }
}

void check_rest(const Texts& texts, AgentOptions& options, std::vector<std::string>& mistakes) {
  options.state_dir = std::filesystem::absolute(texts.state_dir).lexically_normal();
  if (!options.state_dir.has_filename()) options.state_dir = options.state_dir.parent_path();
  if (options.node.empty()) options.node = host_name();
  if (const auto price = parse_money(options.price_per_slot_hour); !price) {
    mistakes.push_back("--price: " + price.error().message);
  }
  if (texts.exit_when_idle.empty()) return;
  const auto idle = parse_duration(texts.exit_when_idle);
  if (idle) {
    options.exit_when_idle = *idle;
  } else {
    mistakes.push_back("--exit-when-idle: " + idle.error().message);
  }
}

}  // namespace

std::variant<AgentOptions, int> parse_options(int argc, const char* const* argv) {
  Texts texts;
  AgentOptions options;
  CLI::App app("Runs the workers of one node for a Tidepool daemon.", "agentd");
  app.add_option("--daemon-socket", texts.daemon_socket, "Unix socket of a daemon on this machine");
  app.add_option("--daemon", texts.daemon, "HOST:PORT of the daemon's agent port");
  app.add_option("--state-dir", texts.state_dir, "this agent's memory; one agent per folder")->required();
  app.add_option("--node", options.node, "name of this node (default: the host's name)");
  auto* slots = app.add_option("--slots", texts.slots, "offer N CPU slots instead of this node's GPUs")
                    ->check(CLI::Range(1, api::kNodeSlotsMax));
  app.add_option("--slot-type", options.slot_type, "what job files call these slots (default: cpu, or the GPU's name)");
  app.add_option("--price", options.price_per_slot_hour, "price of a slot for an hour")->capture_default_str();
  app.add_option("--token-file", options.token_file, "file (mode 0600) with the agent token");
  app.add_option("--exit-when-idle", texts.exit_when_idle,
                 "end after this long without daemon and worker, such as 30s");
  const std::map<std::string, AgentOptions::Probe> probes = {{"gpus", AgentOptions::Probe::kGpus},
                                                             {"always", AgentOptions::Probe::kAlways},
                                                             {"never", AgentOptions::Probe::kNever}};
  app.add_option("--probe", options.probe, "measure before joining: gpus (default), always (CPU slots too) or never")
      ->transform(CLI::Transformer(probes))
      ->option_text("gpus|always|never");
  app.add_flag("--stop-workers", options.stop_workers, "at SIGTERM stop the workers too, instead of leaving them");
  auto* lifeline =
      app.add_option("--lifeline", texts.lifeline,
                     "end of a pipe: when its other end closes, stop the workers and end; implies --stop-workers")
          ->check(CLI::Range(3, 1'000'000));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  if (slots->count() > 0) options.cpu_slots = texts.slots;
  if (lifeline->count() > 0) options.lifeline = texts.lifeline;
  if (options.lifeline) options.stop_workers = true;
  std::vector<std::string> mistakes;
  check_daemon(texts, options, mistakes);
  check_rest(texts, options, mistakes);
  for (const auto& mistake : mistakes) std::fprintf(stderr, "agentd: %s\n", mistake.c_str());
  if (!mistakes.empty()) return kUsageError;
  return options;
}

Result<std::string> read_token(const std::filesystem::path& file) {
  if (file.empty()) return std::string();
  struct stat info{};
  if (::stat(file.c_str(), &info) != 0) return errno_error("read the token file " + file.string());
  if (info.st_uid != ::geteuid() || (info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return invalid_argument("the token file " + file.string() +
                            " can be read by other users; whoever has the token can act as this node: chmod 600 it");
  }
  auto token = read_file(file);
  if (!token) return token.error();
  while (!token->empty() && (token->back() == '\n' || token->back() == '\r' || token->back() == ' ')) token->pop_back();
  if (token->empty()) return invalid_argument("the token file " + file.string() + " is empty");
  return token;
}

}  // namespace tidepool::agent
