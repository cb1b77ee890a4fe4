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
#include <utility>

#include "base/timestamp.hpp"
#include "schedulerd/live/setup/secrets.hpp"

namespace tidepool::live {
namespace {

constexpr std::int64_t kHour = 3'600;
constexpr std::int64_t kAuthorityLife = 20 * 365 * 24 * kHour;
constexpr std::int64_t kAuthorityWarning = 180 * 24 * kHour;

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
  tls::Identity stored{.chain = *std::move(chain) + "\n", .key = *std::move(secret) + "\n"};
  const auto together = tls::server_context(stored);
  if (!together.ok()) return invalid_argument(certificate + " and " + key + ": " + together.error().message);
  return stored;
}

// What it signs is of no use from its end on, and nodes join another one machine by machine.
void warn_of_end(const std::string& file, const tls::Identity& authority, std::int64_t now) {
  const auto end = tls::expiry_unix_s(authority.chain);
  if (!end.ok() || *end - now > kAuthorityWarning) return;
  spdlog::warn("event=authority_ends file={} expires={} next=\"replace it before that day (docs/security.md)\"", file,
               timestamp_text(*end));
}

// One that cannot be looked for is not missing: a new authority would be made in its place.
Result<bool> authority_file_exists(const std::string& path) {
  if (::access(path.c_str(), F_OK) == 0) return true;
  if (errno == ENOENT) return false;
  return invalid_argument("cannot read " + path + ": " + std::strerror(errno) + "; mend its owner or its mode");
}

Result<tls::Identity> own_authority(const StateDir& state_dir, std::int64_t now) {
  const std::string folder = state_dir.file("tls");
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return io_error("cannot make " + folder + ": " + std::strerror(errno));
  }
  const std::string certificate = folder + "/ca.pem";
  const std::string key = folder + "/ca.key";
  const auto has_certificate = authority_file_exists(certificate);
  if (!has_certificate.ok()) return has_certificate.error();
  if (*has_certificate) {
    auto stored = stored_authority(certificate, key);
    if (stored.ok()) warn_of_end(certificate, *stored, now);
    return stored;
  }
  const auto has_key = authority_file_exists(key);
  if (!has_key.ok()) return has_key.error();
  if (*has_key) {
    return invalid_argument(certificate + " is missing, and " + key +
                            " is the key of the authority in it: bring it back, or remove the key to have a new "
                            "authority made, which all clients and agents must then be told");
  }
  const auto cluster = state_dir.cluster_id();
  if (!cluster.ok()) return cluster.error();
  auto made =
      tls::make_authority("Tidepool " + *cluster, {.from_unix_s = now - kHour, .until_unix_s = now + kAuthorityLife});
  if (!made.ok()) return made;
  TP_TRY(write_secret_file(key, made->key));  // first: a certificate without its key would be a broken authority
  TP_TRY(write_secret_file(certificate, made->chain));
  spdlog::info(
      "event=authority_made file={} fingerprint={} next=\"clients and nodes that knew another one have to be told "
      "(docs/security.md)\"",
      certificate, tls::fingerprint(made->chain).value());
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
  made.authorities = {made.ca_fingerprint};
  return made;
}

// What the given files hold, once `made` can show it.
Result<GivenFiles> shown_files(const TlsConfig& given, std::int64_t now, ServerTls& made) {
  auto files = read_given_certificate(given, now);
  if (!files.ok()) return files;
  const Status good = make_contexts(files->identity, made);
  if (!good.ok()) return invalid_argument("tls.certificate and tls.key: " + good.error().message);
  return files;
}

Result<ServerTls> from_given(const Config& config, const StateDir& state_dir, std::int64_t now) {
  const TlsConfig& given = *config.tls;
  ServerTls made{.names = server_names(config), .ca_file = given.ca};
  auto files = shown_files(given, now, made);
  if (!files.ok()) return files.error();
  warn_of_other_names(given, files->identity, made.names);
  auto of_nodes = own_authority(state_dir, now);
  if (!of_nodes.ok()) return of_nodes.error();
  made.node_authority = *std::move(of_nodes);
  made.ca_fingerprint = files->ca_fingerprint;
  made.authorities = files->authorities;
  made.given = *std::move(files);
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

Status check_given_files(const Config& config, std::int64_t now_unix_s) {
  if (!config.tls || config.tls->certificate.empty()) return ok_status();
  ServerTls unused;
  const auto files = shown_files(*config.tls, now_unix_s, unused);
  return files.ok() ? ok_status() : Status(files.error());
}

}  // namespace tidepool::live
