// What a side brings to every handshake. TLS 1.3 only: no older version, no renegotiation, no compression. A context is
// shared by all links of a listener or a client and never changes, but for the identity that a server shows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "tls/certificate.hpp"

using SSL_CTX = struct ssl_ctx_st;

namespace tidepool::tls {

using Context = std::shared_ptr<SSL_CTX>;  // null: the link is plain

// Shows `identity` with its whole chain, the authority included: a client that knows only its fingerprint needs it.
[[nodiscard]] Result<Context> server_context(const Identity& identity);
// The same, and asks the client for a certificate. One without is let through, and of what is shown the handshake
// proves no more than that the client has its key: a server must hold Stream::peer_certificate() against its
// authority (check_client), so that it can tell the client in words what is wrong.
[[nodiscard]] Result<Context> server_context_asking(const Identity& identity);
// Shows this identity from the next handshake on; links that are open stay. If it cannot be shown, the one before
// stays. Thread-safe.
[[nodiscard]] Status show_from_now_on(const Context& server, const Identity& identity);

// By what a client knows the daemon: exactly one of the two.
struct Trust {
  std::string authorities;  // PEM
  // Of authorities, one of which the daemon must show and have its certificate from.
  std::vector<std::string> fingerprints;
};
// `own` is what the client shows a server that asks; null = nothing.
[[nodiscard]] Result<Context> client_context(const Trust& trust, const Identity* own = nullptr);

}  // namespace tidepool::tls
