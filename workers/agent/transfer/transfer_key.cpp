#include "workers/agent/transfer/transfer_key.hpp"

namespace tidepool::agent {
namespace {

// The key lives as long as its process, so its validity must not depend on the clocks of the two nodes.
constexpr tls::Validity kAlways{.from_unix_s = 0, .until_unix_s = std::int64_t{130} * 365 * 86'400};

}  // namespace

Result<TransferKey> make_transfer_key() {
  const auto authority = tls::make_authority(kTransferHost, kAlways);
  if (!authority.ok()) return authority.error();
  auto identity = tls::issue_server(*authority, {kTransferHost}, kAlways);
  if (!identity.ok()) return identity.error();
  auto above = tls::fingerprint(authority->chain);
  if (!above.ok()) return above.error();
  auto own = tls::fingerprint(identity->chain);
  if (!own.ok()) return own.error();
  return TransferKey{.identity = *std::move(identity), .authority_print = *std::move(above), .print = *std::move(own)};
}

}  // namespace tidepool::agent
