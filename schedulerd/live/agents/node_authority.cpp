#include "schedulerd/live/agents/node_authority.hpp"

#include <chrono>

namespace tidepool::live {
namespace {

constexpr std::int64_t kBackdatedShare = 30;  // of the lifetime: a clock that is set back a little does no harm

std::int64_t unix_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

Result<tls::Client> NodeAuthority::check(const std::string& certificate) const {
  if (!signs()) return invalid_argument("this daemon has no certificate authority; start it with --tls");
  auto client = tls::check_client(authority_.chain, certificate, unix_now());
  if (client.ok()) return client;
  const auto said = tls::read_client(certificate);
  return invalid_argument("the certificate of " + (said.ok() ? said->name : "this node") +
                          " is not good here: " + client.error().message +
                          "; join anew with a token of this daemon (schedctl node token create), then: agentd join "
                          "--anew --token TOKEN");
}

bool NodeAuthority::has_expired(const tls::Client& client) const {
  return unix_now() >= client.validity.until_unix_s;
}

Result<std::string> NodeAuthority::sign(const std::string& request, const std::string& node) const {
  const std::int64_t now = unix_now();
  const std::int64_t life = lifetime_.count_ms() / 1'000;
  return tls::issue_client(authority_, request, node,
                           {.from_unix_s = now - life / kBackdatedShare, .until_unix_s = now + life});
}

}  // namespace tidepool::live
