// The configuration of schedulerd: command line over configuration file over defaults. All errors are reported at once;
// nothing is started with an invalid configuration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/comm_address.hpp"
#include "base/ip_network.hpp"
#include "base/money.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "schedulerd/live/setup/pool_config.hpp"

namespace tidepool::live {

struct Endpoint {
  std::string host;
  std::uint16_t port = 0;  // 0 = any free one
};
// "127.0.0.1:7480", "localhost:0", "[::1]:7480".
[[nodiscard]] Result<Endpoint> parse_endpoint(const std::string& text);
[[nodiscard]] bool is_loopback(const Endpoint& endpoint);

// Given = both listeners speak TLS 1.3.
struct TlsConfig {
  std::vector<std::string> names;  // names of the daemon for clients and agents, in addition to those of this machine
  // Files with PEM; empty = a certificate of the daemon's own authority.
  std::string certificate;
  std::string key;
  std::string ca;
};

// When nodes that fail repeatedly get no workers (core/state/node_faults.hpp).
struct UnsteadyNodes {
  Duration half_life = Duration::seconds(600);  // zero = never
  double suppress = 2;
  double reuse = 0.75;
  Duration longest = Duration::seconds(3600);
  bool operator==(const UnsteadyNodes&) const = default;
};

struct Config {
  Endpoint listen{api::kLoopbackHost, 7480};
  std::string state_dir;  // empty with --dev = a fresh temporary one
  bool dev = false;
  int local_slots = 0;  // 0 = no agent of its own
  Money local_price = Money::micros(1'000'000);
  std::string local_isolation = "none";     // of its agent's jobs: none, auto or required
  std::string local_syscall_filter = "on";  // of its agent's jobs: on or off
  std::string local_metadata = "auto";      // of the cloud, for its agent's jobs: auto, deny or allow
  std::vector<IpNetwork> local_denied;      // further addresses that its agent's jobs may not reach
  std::string local_data_address;      // on which workers of other nodes reach those of its agent; empty = loopback
  std::string policy_file;             // a policy file or folder that decides instead; empty = none
  bool allow_native_policies = false;  // false: policy files with a library are refused
  std::string policy;  // name of the policy; empty = the previous one of this state directory, else the default
  std::optional<Endpoint> agents_listen;  // TCP, in addition to the Unix socket
  std::optional<TlsConfig> tls;           // without it both listeners are on loopback
  std::vector<std::string>
      allowed_hosts;  // further valid values of Host, such as those of a proxy: "name" or "name:port"
  Duration node_certificate_lifetime = Duration::seconds(30 * 24 * 3600);
  Duration heartbeat = Duration::seconds(1);
  Duration patience = Duration::seconds(5);
  Duration switch_timeout = Duration::seconds(120);  // for a committed generation in which no member steps
  Duration start_timeout = Duration::seconds(120);
  Duration plan_every = Duration::seconds(60);  // longest time between two plans of a policy for the whole cluster
  bool replace_stragglers = true;
  bool rebalance_stragglers = true;  // before a replacement they get a smaller share of each step
  std::string detector;              // straggler detector for jobs that name none; empty = the built-in default
  Duration retention = Duration::seconds(30 * 24 * 3600);  // of decisions, events and ended jobs
  std::int64_t retention_bytes = 0;                        // above it the oldest data are removed early; 0 = no limit
  bool accept_clock = false;                               // at any distance from the journal's newest entry
  bool check_config = false;                               // only check the configuration
  PoolsConfig pools;                                       // of nodes from providers
  UnsteadyNodes unsteady_nodes;
  std::string log_level = "info";
  std::string currency = "USD";  // of all amounts: shown to users, nothing is converted
};

struct ConfigReading {
  Config config;
  std::vector<std::string> errors;  // sentences; empty = config is valid
  std::optional<std::string> help;  // text to print instead of starting
};

// `policies` are the valid names for --policy, `detectors` those of straggler detectors. `home` is the user's home
// directory.
struct ConfigInputs {
  std::vector<std::string> arguments;  // without the program's name
  std::vector<std::string> policies;
  std::vector<std::string> detectors;
  std::string home;
};
[[nodiscard]] ConfigReading read_config(const ConfigInputs& inputs);

}  // namespace tidepool::live
