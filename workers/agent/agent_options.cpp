#include "workers/agent/agent_options.hpp"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "api/comm_address.hpp"
#include "api/worker_protocol.hpp"
#include "base/byte_size.hpp"
#include "base/files/whole_file.hpp"
#include "base/money.hpp"
#include "base/number_text.hpp"
#include "base/unknown_options.hpp"
#include "base/version.hpp"
#include "tls/certificate.hpp"
#include "workers/agent/data_address.hpp"
#include "workers/agent/memory_tier.hpp"
#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {
namespace {

constexpr int kUsageError = 2;
constexpr std::int64_t kStateRateMin = std::int64_t{1} << 20;  // the daemon relies on at least this rate

struct Texts {
  std::string daemon_socket;
  std::string daemon;
  std::string state_dir;
  std::string exit_when_idle;
  std::string job_uids;
  std::vector<std::string> deny_addresses;
  std::string memory_per_slot;
  std::string state_rate;
  NoticeTexts notice;
  int slots = 0;
  int lifeline = -1;
};

// Checks the address itself; a name could resolve elsewhere.
bool is_loopback_host(const std::string& host) {
  return host == "localhost" || host == "::1" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
}

void check_trust(const TcpAddress& address, const AgentOptions& options, std::vector<std::string>& mistakes) {
  const bool by_file = !options.ca_file.empty();
  const bool by_fingerprint = !options.ca_fingerprint.empty();
  if (by_file && by_fingerprint) mistakes.emplace_back("give either --ca FILE or --ca-fingerprint TEXT");
  if (by_fingerprint && !tls::is_fingerprint(options.ca_fingerprint)) {
    mistakes.emplace_back("--ca-fingerprint is sha256: and 64 digits of 0-9a-f, as the daemon's ready line shows it");
  }
  if (!by_file && !by_fingerprint && !is_loopback_host(address.host)) {
    mistakes.push_back(address.host +
                       " is another machine, and without TLS the token would cross the network in clear; give "
                       "--ca-fingerprint TEXT or --ca FILE");
  }
}

void check_daemon(const Texts& texts, AgentOptions& options, std::vector<std::string>& mistakes) {
  if (texts.daemon_socket.empty() == texts.daemon.empty()) {
    const bool none_joined = texts.daemon.empty() && !texts.state_dir.empty();
    mistakes.push_back(
        "give either --daemon-socket PATH or --daemon HOST:PORT" +
        (none_joined ? "; no node has joined in " + texts.state_dir + ", which would need neither" : ""));
  } else if (!texts.daemon_socket.empty()) {
    options.daemon = UnixAddress{texts.daemon_socket};
  } else if (auto address = parse_tcp_address(texts.daemon); address) {
    options.daemon = std::move(*address);
    if (options.token_file.empty()) {
      mistakes.emplace_back(has_identity(texts.state_dir)
                                ? "a node that has joined is led to another address by: agentd join --daemon HOST:PORT"
                                : "--daemon HOST:PORT needs --token-file PATH");
    }
    check_trust(std::get<TcpAddress>(options.daemon), options, mistakes);
    return;
  } else {
    mistakes.push_back("--daemon: " + address.error().message);
  }
  if (!options.ca_file.empty() || !options.ca_fingerprint.empty()) {
    mistakes.emplace_back("--ca and --ca-fingerprint go with --daemon HOST:PORT");
  }
}

void check_rest(const Texts& texts, AgentOptions& options, std::vector<std::string>& mistakes) {
  if (!texts.state_dir.empty()) options.state_dir = std::filesystem::absolute(texts.state_dir).lexically_normal();
  if (!options.state_dir.has_filename()) options.state_dir = options.state_dir.parent_path();
  if (options.node.empty() && !options.join) options.node = host_name();
  if (const auto price = parse_price(options.price_per_slot_hour); !price) {
    mistakes.push_back("--price: " + price.error().message);
  }
  if (options.cpu_slots && !options.gpus.empty())
    mistakes.emplace_back("give --slots for CPU slots or --gpus, not both");
  if (texts.exit_when_idle.empty()) return;
  const auto idle = parse_duration(texts.exit_when_idle);
  if (idle) {
    options.exit_when_idle = *idle;
  } else {
    mistakes.push_back("--exit-when-idle: " + idle.error().message);
  }
}

// "12GiB", "500MiB" or bytes; 0 = no limit.
std::optional<std::int64_t> bytes_of(const std::string& text) {
  if (const auto size = parse_byte_size(text)) return *size;
  const auto number = parse_number<std::int64_t>(text);
  return number && *number >= 0 && *number <= kBytesMax ? number : std::nullopt;
}

void check_addresses(const Texts& texts, AgentOptions& options, std::vector<std::string>& mistakes) {
  for (const std::string& text : texts.deny_addresses) {
    auto network = IpNetwork::parse(text);
    if (network) {
      options.isolation.denied.push_back(*std::move(network));
    } else {
      mistakes.push_back("--deny-address: " + network.error().message);
    }
  }
  if (options.isolation.denied.size() <= kDeniedNetworksMax) return;
  mistakes.push_back("--deny-address: at most " + std::to_string(kDeniedNetworksMax) +
                     " networks can be denied; put some of them into one");
}

void check_isolation(const Texts& texts, AgentOptions& options, std::vector<std::string>& mistakes) {
  if (!texts.job_uids.empty()) {
    const auto range = UidRange::parse(texts.job_uids);
    if (range) {
      options.isolation.uids = *range;
    } else {
      mistakes.push_back("--job-uids: " + range.error().message);
    }
  }
  if (!texts.state_rate.empty()) {
    const auto rate = bytes_of(texts.state_rate);
    if (!rate || (*rate > 0 && *rate < kStateRateMin)) {
      mistakes.push_back("--state-rate: \"" + texts.state_rate +
                         "\" is no rate such as 100MiB, of 1MiB a second or more; 0 = no bound");
    } else {
      options.state_rate = *rate;
    }
  }
  if (texts.memory_per_slot.empty()) return;
  options.isolation.memory_per_slot = bytes_of(texts.memory_per_slot);
  if (!options.isolation.memory_per_slot) {
    mistakes.push_back("--memory-per-slot: \"" + texts.memory_per_slot + "\" is no size such as 12GiB or 500MiB");
  }
}

void add_isolation(CLI::App& app, Texts& texts, AgentOptions& options) {
  using Mode = IsolationOptions::Mode;
  const std::map<std::string, Mode> modes = {
      {"auto", Mode::kAuto}, {"required", Mode::kRequired}, {"none", Mode::kNone}};
  app.add_option("--isolation", options.isolation.mode,
                 "keep jobs from each other and from this agent: auto (default: with root), required or none")
      ->transform(CLI::Transformer(modes))
      ->transform(CLI::IsMember(modes))
      ->option_text("auto|required|none");
  app.add_option("--syscall-filter", options.isolation.filter_calls,
                 "deny programs of jobs system calls that endanger the node (docs/security.md): on (default) or off")
      ->check(CLI::IsMember({"on", "off"}))
      ->option_text("on|off");
  using Metadata = IsolationOptions::Metadata;
  const std::map<std::string, Metadata> answers = {
      {"auto", Metadata::kAuto}, {"deny", Metadata::kDeny}, {"allow", Metadata::kAllow}};
  app.add_option("--metadata", options.isolation.metadata,
                 "addresses at which a cloud gives out credentials of the machine: auto (default: denied to isolated "
                 "jobs where the host can), deny or allow")
      ->transform(CLI::Transformer(answers))
      ->transform(CLI::IsMember(answers))
      ->option_text("auto|deny|allow");
  app.add_option("--deny-address", texts.deny_addresses,
                 "address or network that isolated jobs may not reach, such as 10.9.0.0/16; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--job-uids", texts.job_uids, "users of isolated jobs, one per job (default: 200000-299999)");
  app.add_option(
      "--memory-per-slot", texts.memory_per_slot,
      "bound of an isolated worker for each of its slots, such as 12GiB; 0 = none (default: an equal share of "
      "nine tenths of the node's)");
  app.add_option("--processes-per-worker", options.isolation.processes_per_worker,
                 "bound of processes and threads of an isolated worker")
      ->check(CLI::Range(8, 4'000'000))
      ->capture_default_str();
}

void add_notice(CLI::App& app, NoticeTexts& texts) {
  app.add_option("--notice-file", texts.file, "file that appears when the machine will be reclaimed");
  app.add_option("--notice-command", texts.command,
                 "shell command that exits with 0 if the machine will be reclaimed, and with 1 otherwise");
  app.add_option("--notice-url", texts.url, "HTTP address of the cloud's metadata that announces a reclaim");
  app.add_option("--notice-period", texts.period, "how often the notice is checked (default: 5s)");
  app.add_option("--notice-lead", texts.lead, "remaining time if the notice names none (default: 30s)");
}

// The options of both ways to start.
void add_node_options(CLI::App& app, Texts& texts, AgentOptions& options) {
  app.add_option("--slots", texts.slots, "offer N CPU slots instead of this node's GPUs")
      ->check(CLI::Range(1, api::kNodeSlotsMax));
  app.add_option("--gpus", options.gpus,
                 "offer only these of the host's GPUs: a type, such as nvidia-h200, or UUIDs or their beginnings with "
                 "commas between");
  app.add_option(
      "--data-address", options.data_address,
      "where workers of other nodes connect with this node's: ADDRESS, INTERFACE or CIDR (default: the address from "
      "which the daemon is reached)");
  app.add_option("--exit-when-idle", texts.exit_when_idle,
                 "exit after this long without daemon and worker, such as 30s");
  const std::map<std::string, AgentOptions::Probe> probes = {{"gpus", AgentOptions::Probe::kGpus},
                                                             {"always", AgentOptions::Probe::kAlways},
                                                             {"never", AgentOptions::Probe::kNever}};
  app.add_option("--probe", options.probe, "measure before joining: gpus (default), always (CPU slots too) or never")
      ->transform(CLI::Transformer(probes))
      ->transform(CLI::IsMember(probes))
      ->option_text("gpus|always|never");
  app.add_option("--state-rate", texts.state_rate,
                 "bytes per second, such as 100MiB, at which saved states are sent to other nodes (default: no limit)");
  add_isolation(app, texts, options);
  add_notice(app, texts.notice);
  app.add_flag("--stop-workers", options.stop_workers, "at SIGTERM stop the workers too, instead of leaving them");
  app.add_option("--lifeline", texts.lifeline,
                 "end of a pipe: when its other end closes, stop the workers and exit; implies --stop-workers")
      ->check(CLI::Range(3, 1'000'000));
}

void add_plain_options(CLI::App& app, Texts& texts, AgentOptions& options) {
  app.add_option("--daemon-socket", texts.daemon_socket, "Unix socket of a daemon on this machine");
  app.add_option("--daemon", texts.daemon, "HOST:PORT of the daemon's agent port");
  app.add_option(
      "--state-dir", texts.state_dir,
      "this agent's records; one agent per folder. Without a daemon option: the folder of a node that has joined");
  app.add_option("--node", options.node, "name of this node (default: the host's name)");
  app.add_option("--slot-type", options.slot_type, "slot type in job files (default: cpu, or the GPU's name)");
  app.add_option("--price", options.price_per_slot_hour, "price of a slot for an hour")->capture_default_str();
  app.add_option("--token-file", options.token_file, "file (mode 0600) with the agent token");
  app.add_option("--ca", options.ca_file, "file with the authority of a daemon with TLS (its tls/ca.pem)");
  app.add_option("--ca-fingerprint", options.ca_fingerprint,
                 "sha256:... of that authority, as in the daemon's ready line; instead of --ca");
}

CLI::App* add_join(CLI::App& app, Texts& texts, AgentOptions& options, JoinOptions& join) {
  CLI::App* command = app.add_subcommand(
      "join",
      "Become a node of a daemon on another machine, and run. Once joined, the same command needs no token. "
      "Price, type and labels of the node are set with the token.");
  command->add_option("--daemon", join.daemon, "HOST:PORT of the daemon's agent port");
  command->add_option("--token", join.token, "node token, from: schedctl node token create");
  command->add_option("--token-file", join.token_file, "file (mode 0600) with the token; instead of --token");
  command->add_option("--name", join.node, "name of this node (default: the host's name)");
  command->add_option("--state-dir", texts.state_dir,
                      "this agent's records, key and certificate (default: ~/.local/share/tidepool-agent)");
  command->add_flag("--anew", join.anew, "join with a new key although this folder has one: after a revocation");
  add_node_options(*command, texts, options);
  // Options only for agents that do not join are refused with the alternative for those that do.
  command->fallthrough();
  return command;
}

void check_join(JoinOptions& join, Texts& texts, std::vector<std::string>& mistakes) {
  if (!join.token.empty() && !join.token_file.empty()) mistakes.emplace_back("give --token or --token-file, not both");
  if (!join.daemon.empty()) {
    if (const auto address = parse_tcp_address(join.daemon); !address) {
      mistakes.push_back("--daemon: " + address.error().message);
    }
  }
  if (!texts.state_dir.empty()) return;
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') {
    mistakes.emplace_back("HOME is not set; give --state-dir");
  } else {
    texts.state_dir = std::string(home) + "/.local/share/tidepool-agent";
  }
}

// Refuses options that have no meaning for a node that joins or has joined.
void refuse_of_strangers(const CLI::App& app, std::vector<std::string>& mistakes) {
  if (app.count("--price") + app.count("--slot-type") > 0) {
    mistakes.emplace_back("price and type of a node that joins are set by operators: schedctl node token create");
  }
  if (app.count("--ca") + app.count("--ca-fingerprint") > 0) {
    mistakes.emplace_back(
        "--ca and --ca-fingerprint are not for a node that joins: the node token has the fingerprint");
  }
}

void refuse_misplaced(const CLI::App& app, std::vector<std::string>& mistakes) {
  if (app.count("--daemon") + app.count("--token-file") > 0) {
    mistakes.emplace_back("write options of join behind it: agentd join --daemon HOST:PORT --token TOKEN");
  }
  if (app.count("--node") > 0) mistakes.emplace_back("the name of a node that joins is given with --name");
  if (app.count("--daemon-socket") > 0) {
    mistakes.emplace_back("a node joins over TLS: give --daemon HOST:PORT, the daemon's agents' port");
  }
}

// Started without an address of a daemon, in the folder of a node that has joined.
bool resumes(const Texts& texts) {
  return texts.daemon.empty() && texts.daemon_socket.empty() && has_identity(texts.state_dir);
}

void check_plain(const CLI::App& app, const Texts& texts, AgentOptions& options, std::vector<std::string>& mistakes) {
  if (texts.state_dir.empty()) mistakes.emplace_back("--state-dir is required");
  if (!resumes(texts)) return check_daemon(texts, options, mistakes);
  options.join.emplace().node = options.node;
  refuse_of_strangers(app, mistakes);
}

}  // namespace

std::filesystem::path AgentOptions::memory_folder() const {
  const std::filesystem::path all = find_memory_folder();
  return all.empty() ? all : std::filesystem::path(all.string() + "-" + folder_key(state_dir));
}

std::filesystem::path AgentOptions::shared_memory_folder() const {
  return gpus.empty() ? find_memory_folder() : memory_folder();
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), HOST_NAME_MAX) == 0 && name[0] != '\0' ? name.data() : "localhost";
}

namespace {

// CLI11's own messages, except for unknown options.
int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError))
    return app.exit(error) == 0 ? 0 : kUsageError;
  std::vector<std::string> known;
  add_option_names(app, known);
  for (const CLI::App* command : app.get_subcommands()) add_option_names(*command, known);
  for (const auto& unknown : unknown_options(app.remaining(true), known)) {
    std::fprintf(stderr, "agentd: %s\n", unknown.c_str());
  }
  std::fprintf(stderr, "see: agentd %s--help\n", app.get_subcommands().empty() ? "" : "join ");
  return kUsageError;
}

}  // namespace

std::variant<AgentOptions, int> parse_options(int argc, const char* const* argv) {
  Texts texts;
  AgentOptions options;
  JoinOptions join;
  CLI::App app("Runs the workers of one node for a Tidepool daemon.", "agentd");
  app.set_version_flag("--version", std::string("agentd ") + kVersion);
  add_plain_options(app, texts, options);
  add_node_options(app, texts, options);
  const CLI::App* joining = add_join(app, texts, options, join);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error);
  }
  if (texts.slots > 0) options.cpu_slots = texts.slots;
  if (texts.lifeline >= 0) options.lifeline = texts.lifeline;
  if (options.lifeline) options.stop_workers = true;
  std::vector<std::string> mistakes;
  if (joining->parsed()) {
    check_join(join, texts, mistakes);
    refuse_of_strangers(app, mistakes);
    refuse_misplaced(app, mistakes);
    join.node_options = node_options_of(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
    options.join = join;
  } else {
    check_plain(app, texts, options, mistakes);
  }
  check_rest(texts, options, mistakes);
  check_isolation(texts, options, mistakes);
  check_addresses(texts, options, mistakes);
  check_notice(texts.notice, options.notice, mistakes);
  for (const auto& mistake : mistakes) std::fprintf(stderr, "agentd: %s\n", mistake.c_str());
  if (!mistakes.empty()) return kUsageError;
  return options;
}

Status take_up_identity(AgentOptions& options) {
  if (!options.join) return ok_status();
  auto identity = join_or_resume(options.state_dir, *options.join);
  if (!identity) return identity.error();
  auto address = parse_tcp_address(identity->daemon);
  if (!address) return address.error();
  auto context = context_of(*identity);
  if (!context) return context.error();
  address->tls = *std::move(context);
  options.daemon = *std::move(address);
  options.node = identity->node;
  options.identity = *std::move(identity);
  return ok_status();
}

Status settle_data_address(AgentOptions& options) {
  if (!options.data_address.empty()) {
    const auto chosen = choose_data_address(options.data_address, addresses_of_this_machine());
    if (!chosen) return chosen.error();
    options.data_address = chosen->host;
  }
  const bool by_socket =
      options.data_address.empty() && !options.join && std::holds_alternative<UnixAddress>(options.daemon);
  return check_not_denied(by_socket ? api::kLoopbackHost : options.data_address, options.isolation.denied);
}

Status secure_link(AgentOptions& options) {
  auto* address = std::get_if<TcpAddress>(&options.daemon);
  if (address == nullptr || (options.ca_file.empty() && options.ca_fingerprint.empty())) return ok_status();
  tls::Trust trust;
  if (!options.ca_fingerprint.empty()) trust.fingerprints = {options.ca_fingerprint};
  if (!options.ca_file.empty()) {
    auto text = read_whole_file(options.ca_file);
    if (!text) return Error{text.error().code, "--ca: " + text.error().message};
    trust.authorities = *std::move(text);
  }
  auto context = tls::client_context(trust);
  if (!context) return Error{context.error().code, "--ca " + options.ca_file.string() + ": " + context.error().message};
  address->tls = *std::move(context);
  return ok_status();
}

Result<std::string> read_token(const std::filesystem::path& file) {
  if (file.empty()) return std::string();
  struct stat info{};
  if (::stat(file.c_str(), &info) != 0) return errno_error("read the token file " + file.string());
  if (info.st_uid != ::geteuid() || (info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return invalid_argument("the token file " + file.string() +
                            " can be read by other users; whoever has the token can act as this node: chmod 600 it");
  }
  auto token = read_whole_file(file);
  if (!token) return token.error();
  while (!token->empty() && (token->back() == '\n' || token->back() == '\r' || token->back() == ' ')) token->pop_back();
  if (token->empty()) return invalid_argument("the token file " + file.string() + " is empty");
  return token;
}

}  // namespace tidepool::agent
