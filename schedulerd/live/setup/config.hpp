// What schedulerd is told at its start: command line over configuration file over defaults. All
// errors are found at once; nothing is started with a configuration that has one.
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
  std::vector<std::string> names;  // beside those of this machine: under which clients and agents reach it
  // Files with PEM; empty = a certificate of the daemon's own authority.
  std::string certificate;
  std::string key;
  std::string ca;
};

// When nodes that fail again and again get no workers (core/state/node_faults.hpp).
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
  std::string local_metadata = "auto";      // the cloud's, for its agent's jobs: auto, deny or allow
  std::vector<IpNetwork> local_denied;      // that its agent's jobs may not reach, besides
  std::string local_data_address;           // where workers of other nodes meet those of its agent; empty = loopback
  std::string policy_file;                  // a file or folder that decides in its place; empty = none
  bool allow_native_policies = false;       // else files with a library are refused
  std::string
      policy;  // that decides, by name; empty = the one that did before in this state directory, else the default
  std::optional<Endpoint> agents_listen;   // TCP beside the Unix socket
  std::optional<TlsConfig> tls;            // without it both listeners are on loopback
  std::vector<std::string> allowed_hosts;  // that Host may say, too: "name" or "name:port", under which a proxy answers
  Duration node_certificate_lifetime = Duration::seconds(30 * 24 * 3600);
  Duration heartbeat = Duration::seconds(1);
  Duration patience = Duration::seconds(5);
  Duration switch_timeout = Duration::seconds(120);  // for a committed generation in which no member steps
  Duration start_timeout = Duration::seconds(120);
  Duration plan_every = Duration::seconds(60);  // a policy for the whole cluster plans again at the latest after this
  bool replace_stragglers = true;
  bool rebalance_stragglers = true;  // before that they get a smaller share of each step
  std::string detector;              // of stragglers, for jobs that name none; empty = the built-in default
  Duration retention = Duration::seconds(30 * 24 * 3600);  // of decisions, events and jobs that have ended
  std::int64_t retention_bytes = 0;  // beyond it the oldest go before their time; 0 = as much as there is
  bool accept_clock = false;         // however far it is from the journal's newest entry
  bool check_config = false;         // only say whether it is good
  PoolsConfig pools;                 // nodes that come and go by a provider
  UnsteadyNodes unsteady_nodes;
  std::string log_level = "info";
  std::string currency = "USD";  // of all amounts: a name for people, by which nothing is converted
};

struct ConfigReading {
  Config config;
  std::vector<std::string> errors;  // sentences; empty = config is good
  std::optional<std::string> help;  // text to print instead of starting
};

// `policies` are the names that --policy may take, `detectors` those of straggler detectors. `home` is the user's home
// directory.
struct ConfigInputs {
  std::vector<std::string> arguments;  // without the program's name
  std::vector<std::string> policies;
  std::vector<std::string> detectors;
  std::string home;
};
[[nodiscard]] ConfigReading read_config(const ConfigInputs& inputs);

}  // namespace tidepool::live
