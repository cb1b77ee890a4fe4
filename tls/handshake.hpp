// One handshake: its session, the expected host name, and a readable reason if it failed.
#pragma once

#include <boost/system/error_code.hpp>
#include <string>

#include "tls/context.hpp"

using SSL = struct ssl_st;

namespace tidepool::tls {

// The stream that receives the session owns it.
[[nodiscard]] SSL* new_session(const Context& context);

// The other side must prove that it is `host`, a name or an IP address. Call before the handshake.
void expect_host(SSL* session, const std::string& host);

// The certificate that the other side presented, as PEM; empty = none. Call after the handshake.
[[nodiscard]] std::string peer_certificate(const SSL* session);

// The reason of the failure and what to do about it, as part of a sentence.
[[nodiscard]] std::string explain_handshake(const boost::system::error_code& error, const SSL* session);

}  // namespace tidepool::tls
