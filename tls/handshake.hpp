// One handshake: its session, whose name it asks for, and why it failed in words.
#pragma once

#include <boost/system/error_code.hpp>
#include <string>

#include "tls/context.hpp"

using SSL = struct ssl_st;

namespace tidepool::tls {

// Owned by the stream that it is given to.
[[nodiscard]] SSL* new_session(const Context& context);

// The other side must prove that it is `host`, a name or an IP address. Before the handshake.
void expect_host(SSL* session, const std::string& host);

// What the other side has shown, as PEM; empty = no certificate. After the handshake.
[[nodiscard]] std::string peer_certificate(const SSL* session);

// What went wrong, and what to do about it, as a part of a sentence.
[[nodiscard]] std::string explain_handshake(const boost::system::error_code& error, const SSL* session);

}  // namespace tidepool::tls
