#include "schedulerd/live/setup/server_tls.hpp"

#include <ifaddrs.h>
#include <limits.h>
#include <netdb.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "schedulerd/live/setup/secrets.hpp"

namespace tidepool::live {
namespace {

constexpr std::int64_t kHour = 3'600;
constexpr std::int64_t kAuthorityLife = 20 * 365 * 24 * kHour;

Result<std::string> read_text(const std::string& what, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file.is_open() || text.bad()) return invalid_argument(what + ": " + path + " cannot be read");
  return text.str();
}

// One that has a certificate without its key, or the other way round, is not mended by a new one: all who trust it
// would be cut off.
Result<tls::Identity> stored_authority(const std::string& certificate, const std::string& key) {
  auto chain = read_secret_file(certificate);
  if (!chain.ok()) return chain.error();
  auto secret = read_secret_file(key);
  if (!secret.ok()) {
    return invalid_argument(secret.error().message + "; it is the key of the authority in " + certificate +
                            ": bring it back, or remove both to have a new authority made, which all clients and "
                            "agents must then be told");
  }
  return tls::Identity{.chain = *std::move(chain) + "\n", .key = *std::move(secret) + "\n"};
}

Result<tls::Identity> own_authority(const StateDir& state_dir, std::int64_t now) {
  const std::string folder = state_dir.file("tls");
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return io_error("cannot make " + folder + ": " + std::strerror(errno));
  }
  const std::string certificate = folder + "/ca.pem";
  const std::string key = folder + "/ca.key";
  if (::access(certificate.c_str(), F_OK) == 0) return stored_authority(certificate, key);
  const auto cluster = state_dir.cluster_id();
  if (!cluster.ok()) return cluster.error();
  auto made =
      tls::make_authority("Tidepool " + *cluster, {.from_unix_s = now - kHour, .until_unix_s = now + kAuthorityLife});
  if (!made.ok()) return made;
  TP_TRY(write_secret_file(key, made->key));  // first: a certificate without its key would be a broken authority
  TP_TRY(write_secret_file(certificate, made->chain));
  return made;
}

Status make_contexts(const tls::Identity& shown, ServerTls& made) {
  auto context = tls::server_context(shown);
  if (!context.ok()) return context.error();
  auto agents = tls::server_context_asking(shown);
  if (!agents.ok()) return agents.error();
  made.context = *std::move(context);
  made.agents = *std::move(agents);
  return ok_status();
}

Result<ServerTls> from_own_authority(const Config& config, const StateDir& state_dir, std::int64_t now) {
  const auto authority = own_authority(state_dir, now);
  if (!authority.ok()) return authority.error();
  const auto until = tls::expiry_unix_s(authority->chain);
  if (!until.ok()) return until.error();
  ServerTls made{.names = server_names(config), .ca_file = state_dir.file("tls/ca.pem")};
  made.node_authority = *authority;
  const auto identity = tls::issue_server(*authority, made.names, {.from_unix_s = now - kHour, .until_unix_s = *until});
  if (!identity.ok()) return invalid_argument("tls.names: " + identity.error().message);
  TP_TRY(make_contexts(*identity, made));
  made.ca_fingerprint = tls::fingerprint(authority->chain).value();
  return made;
}

// A certificate that clients cannot accept is refused here, where the file is known; one for other names may be meant
// for a proxy.
Status check_given(const TlsConfig& given, const std::string& chain, const std::vector<std::string>& names,
                   std::int64_t now) {
  const auto validity = tls::validity_of(chain);
  if (!validity.ok()) return invalid_argument("tls.certificate: " + validity.error().message);
  if (now >= validity->until_unix_s) {
    return invalid_argument("tls.certificate: " + given.certificate + " has expired; put a renewed one in its place");
  }
  if (now < validity->from_unix_s) {
    return invalid_argument("tls.certificate: " + given.certificate +
                            " is not valid yet; look at the clock of this machine, or wait");
  }
  const auto covered = tls::covered_names(chain, names);
  if (!covered.ok() || !covered->empty()) return ok_status();
  std::string listed;
  for (const std::string& name : names) listed += (listed.empty() ? "" : ", ") + name;
  spdlog::warn(
      "event=certificate_names file={} why=\"it covers none of the names under which this daemon answers: {}\"",
      given.certificate, listed);
  return ok_status();
}

Result<ServerTls> from_given(const Config& config, const StateDir& state_dir, std::int64_t now) {
  const TlsConfig& given = *config.tls;
  auto chain = read_text("tls.certificate", given.certificate);
  if (!chain.ok()) return chain.error();
  auto key = read_secret_file(given.key);
  if (!key.ok()) return invalid_argument("tls.key: " + key.error().message);
  ServerTls made{.names = server_names(config), .ca_file = given.ca};
  TP_TRY(check_given(given, *chain, made.names, now));
  auto of_nodes = own_authority(state_dir, now);
  if (!of_nodes.ok()) return of_nodes.error();
  made.node_authority = *std::move(of_nodes);
  if (!given.ca.empty()) {
    const auto authority = read_text("tls.ca", given.ca);
    if (!authority.ok()) return authority.error();
    const auto known = tls::fingerprint(*authority);
    if (!known.ok()) return invalid_argument("tls.ca: " + known.error().message);
    made.ca_fingerprint = *known;
    *chain += "\n" + *authority;
  }
  const Status good = make_contexts({.chain = *std::move(chain), .key = *std::move(key) + "\n"}, made);
  if (!good.ok()) return invalid_argument("tls.certificate and tls.key: " + good.error().message);
  return made;
}

// The addresses of this machine's interfaces, without those that are good on one link only.
std::vector<std::string> own_addresses() {
  std::vector<std::string> found;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return found;
  for (const ifaddrs* at = first; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr) continue;
    const int family = at->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(at->ifa_addr, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) continue;
    if (std::strchr(text.data(), '%') == nullptr) found.emplace_back(text.data());
  }
  ::freeifaddrs(first);
  return found;
}

}  // namespace

std::vector<std::string> server_names(const Config& config) {
  std::vector<std::string> names = config.tls ? config.tls->names : std::vector<std::string>{};
  std::array<char, HOST_NAME_MAX + 1> host{};
  if (::gethostname(host.data(), HOST_NAME_MAX) == 0 && host[0] != '\0') names.emplace_back(host.data());
  std::vector<Endpoint> listened = {config.listen};
  if (config.agents_listen) listened.push_back(*config.agents_listen);
  for (const Endpoint& endpoint : listened) {
    if (endpoint.host != "0.0.0.0" && endpoint.host != "::") {
      names.push_back(endpoint.host);
      continue;
    }
    for (std::string& address : own_addresses()) names.push_back(std::move(address));
  }
  names.insert(names.end(), {"localhost", "127.0.0.1", "::1"});
  std::vector<std::string> once;
  for (std::string& name : names) {
    if (std::find(once.begin(), once.end(), name) == once.end()) once.push_back(std::move(name));
  }
  return once;
}

Result<ServerTls> prepare_tls(const Config& config, const StateDir& state_dir, std::int64_t now_unix_s) {
  if (!config.tls) return ServerTls{};
  if (!config.tls->certificate.empty()) return from_given(config, state_dir, now_unix_s);
  return from_own_authority(config, state_dir, now_unix_s);
}

}  // namespace tidepool::live
