// The TLS settings of one side. TLS 1.3 only: no older version, no renegotiation, no compression. A context is shared
// by all links of a listener or a client and never changes, except for the identity that a server presents.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "tls/certificate.hpp"

using SSL_CTX = struct ssl_ctx_st;

namespace tidepool::tls {

using Context = std::shared_ptr<SSL_CTX>;  // null: the link is plain

// Presents `identity` with its whole chain, including the authority: a client that knows only its fingerprint needs it.
[[nodiscard]] Result<Context> server_context(const Identity& identity);
// The same, and requests a certificate from the client. A client without one is accepted, and the handshake proves only
// that the client has the key of the certificate it presents: the server must check Stream::peer_certificate() against
// its authority (check_client), so that it can send the client a readable reason.
[[nodiscard]] Result<Context> server_context_asking(const Identity& identity);
// Presents this identity in later handshakes; open links continue. If the identity cannot be used, the previous one
// stays in effect. Thread-safe.
[[nodiscard]] Status show_from_now_on(const Context& server, const Identity& identity);

// How a client verifies the daemon: exactly one of the two is set.
struct Trust {
  std::string authorities;  // PEM
  // Of authorities; the daemon must present one of them, and a certificate issued by it.
  std::vector<std::string> fingerprints;
};
// `own` is the identity that the client presents to a server that requests one; null = none.
[[nodiscard]] Result<Context> client_context(const Trust& trust, const Identity* own = nullptr);

}  // namespace tidepool::tls
