#include "tls/context.hpp"

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "tls/openssl.hpp"

namespace tidepool::tls {
namespace {

// For both sides. No session tickets: the handshake of a client that never reads must not wait for tickets that nothing
// uses.
bool only_tls_13(SSL_CTX* context) {
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  return SSL_CTX_set_num_tickets(context, 0) == 1 && SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1;
}

// Trusts only those authorities presented by the server that have these fingerprints; OpenSSL then makes all checks of
// signature, time, use and name.
int verify_by_fingerprint(X509_STORE_CTX* checks, void* expected) {
  const auto& known = *static_cast<const std::vector<std::string>*>(expected);
  STACK_OF(X509)* shown = X509_STORE_CTX_get0_untrusted(checks);
  const std::unique_ptr<STACK_OF(X509), void (*)(STACK_OF(X509)*)> trusted(
      sk_X509_new_null(), [](STACK_OF(X509) * stack) { sk_X509_free(stack); });
  for (int at = 0; at < sk_X509_num(shown); ++at) {
    X509* one = sk_X509_value(shown, at);
    const bool is_known = std::find(known.begin(), known.end(), fingerprint_of(*one)) != known.end();
    if (is_known && X509_check_ca(one) == 1) sk_X509_push(trusted.get(), one);
  }
  X509_STORE_CTX_set0_trusted_stack(checks, trusted.get());
  const int good = X509_verify_cert(checks);
  X509_STORE_CTX_set0_trusted_stack(checks, nullptr);
  return good;
}

// Trust is decided after the handshake (server_context_asking).
int verify_later(X509_STORE_CTX* /*checks*/, void* /*unused*/) {
  return 1;
}

struct Loaded {
  std::vector<CertificateHandle> chain;
  KeyHandle key;
};

// The identity that the handshakes of one server context present.
class Shown {
 public:
  void put(std::shared_ptr<const Loaded> loaded) {
    const std::lock_guard lock(mutex_);
    loaded_ = std::move(loaded);
  }
  [[nodiscard]] std::shared_ptr<const Loaded> get() const {
    const std::lock_guard lock(mutex_);
    return loaded_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Loaded> loaded_;
};

Result<std::shared_ptr<const Loaded>> load(const Identity& identity) {
  auto chain = read_certificates(identity.chain);
  if (!chain.ok()) return chain.error();
  auto key = read_key(identity.key);
  if (!key.ok()) return key.error();
  if (X509_check_private_key(chain->front().get(), key->get()) != 1) {
    return invalid_argument("certificate and key do not belong together: " + newest_complaint());
  }
  return std::make_shared<const Loaded>(Loaded{*std::move(chain), *std::move(key)});
}

int show_newest(SSL* session, void* shown) {
  const auto loaded = static_cast<const Shown*>(shown)->get();
  if (SSL_use_certificate(session, loaded->chain.front().get()) != 1) return 0;
  if (SSL_use_PrivateKey(session, loaded->key.get()) != 1 || SSL_clear_chain_certs(session) != 1) return 0;
  for (auto above = loaded->chain.begin() + 1; above != loaded->chain.end(); ++above) {
    if (SSL_add1_chain_cert(session, above->get()) != 1) return 0;
  }
  return 1;
}

// The identity that a client presents, which never changes.
Status show(SSL_CTX* context, const Identity& identity) {
  const auto loaded = load(identity);
  if (!loaded.ok()) return loaded.error();
  const auto& [chain, key] = **loaded;
  if (SSL_CTX_use_certificate(context, chain.front().get()) != 1 || SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    return io_error(newest_complaint());
  }
  for (auto above = chain.begin() + 1; above != chain.end(); ++above) {
    if (SSL_CTX_add1_chain_cert(context, above->get()) != 1) return io_error(newest_complaint());
  }
  return ok_status();
}

}  // namespace

Result<Context> server_context(const Identity& identity) {
  // Outlives the context: the deleter releases it after the context.
  const auto shown = std::make_shared<Shown>();
  const Context context(SSL_CTX_new(TLS_server_method()), [shown](SSL_CTX* made) { SSL_CTX_free(made); });
  if (context == nullptr || !only_tls_13(context.get())) return io_error("TLS cannot be used: " + newest_complaint());
  SSL_CTX_set_app_data(context.get(), shown.get());
  SSL_CTX_set_cert_cb(context.get(), show_newest, shown.get());
  TP_TRY(show_from_now_on(context, identity));
  return context;
}

Status show_from_now_on(const Context& server, const Identity& identity) {
  auto loaded = load(identity);
  if (!loaded.ok()) return loaded.error();
  static_cast<Shown*>(SSL_CTX_get_app_data(server.get()))->put(*std::move(loaded));
  return ok_status();
}

Result<Context> server_context_asking(const Identity& identity) {
  auto context = server_context(identity);
  if (!context.ok()) return context;
  SSL_CTX_set_verify(context->get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(context->get(), verify_later, nullptr);
  return context;
}

Result<Context> client_context(const Trust& trust, const Identity* own) {
  // Outlives the context: the deleter releases it after the context.
  const auto known = std::make_shared<std::vector<std::string>>(trust.fingerprints);
  const Context context(SSL_CTX_new(TLS_client_method()), [known](SSL_CTX* made) { SSL_CTX_free(made); });
  if (context == nullptr || !only_tls_13(context.get())) return io_error("TLS cannot be used: " + newest_complaint());
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  if (own != nullptr) TP_TRY(show(context.get(), *own));
  if (!known->empty()) {
    for (const std::string& one : *known) {
      if (is_fingerprint(one)) continue;
      return invalid_argument("\"" + one + "\" is no fingerprint; it is sha256: and 64 digits of 0-9a-f");
    }
    SSL_CTX_set_cert_verify_callback(context.get(), verify_by_fingerprint, known.get());
    return context;
  }
  const auto authorities = read_certificates(trust.authorities);
  if (!authorities.ok()) return authorities.error();
  for (const auto& one : *authorities) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), one.get()) != 1) return io_error(newest_complaint());
  }
  return context;
}

}  // namespace tidepool::tls
