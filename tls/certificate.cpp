#include "tls/certificate.hpp"

#include <arpa/inet.h>
#include <openssl/ec.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>

#include "tls/openssl.hpp"
#include "tls/signing.hpp"

namespace tidepool::tls {
namespace {

bool is_address(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return inet_pton(AF_INET, name.c_str(), bytes.data()) == 1 || inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
}

// Letters, digits, dots and hyphens: any other character in a name would be read as syntax of the extension.
bool is_host_name(const std::string& name) {
  return !name.empty() && name.size() <= 253 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

Result<std::string> alternative_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    const bool address = is_address(name);
    if (!address && !is_host_name(name)) {
      return invalid_argument("\"" + name + "\" is neither a host name nor an IP address");
    }
    text += (text.empty() ? "" : ",") + std::string(address ? "IP:" : "DNS:") + name;
  }
  if (text.empty()) return invalid_argument("a server's certificate needs at least one name");
  return text;
}

}  // namespace

Result<Identity> make_authority(const std::string& name, const Validity& validity) {
  const KeyHandle key(EVP_EC_gen("P-256"));
  if (key == nullptr) return cannot_make("a key");
  auto made = unsigned_certificate({.name = name, .issuer = nullptr, .validity = validity}, *key);
  if (!made.ok()) return made.error();
  const std::vector<Extension> extensions = {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                                             {NID_key_usage, "critical,keyCertSign,cRLSign"},
                                             {NID_subject_key_identifier, "hash"}};
  if (!add_extensions(**made, nullptr, extensions) || X509_sign(made->get(), key.get(), EVP_sha256()) == 0) {
    return cannot_make("the authority's certificate");
  }
  return Identity{.chain = to_pem(**made), .key = to_pem(*key)};
}

Result<Identity> issue_server(const Identity& authority, const std::vector<std::string>& names,
                              const Validity& validity) {
  const auto issuers = read_certificates(authority.chain);
  if (!issuers.ok()) return issuers.error();
  const auto issuer_key = read_key(authority.key);
  if (!issuer_key.ok()) return issuer_key.error();
  const auto alternatives = alternative_names(names);
  if (!alternatives.ok()) return alternatives.error();
  const KeyHandle key(EVP_EC_gen("P-256"));
  if (key == nullptr) return cannot_make("a key");
  const X509* issuer = issuers->front().get();
  auto made = unsigned_certificate({.name = names.front(), .issuer = issuer, .validity = validity}, *key);
  if (!made.ok()) return made.error();
  const std::vector<Extension> extensions = {{NID_basic_constraints, "critical,CA:FALSE"},
                                             {NID_key_usage, "critical,digitalSignature"},
                                             {NID_ext_key_usage, "serverAuth"},
                                             {NID_subject_alt_name, *alternatives},
                                             {NID_subject_key_identifier, "hash"},
                                             {NID_authority_key_identifier, "keyid:always"}};
  if (!add_extensions(**made, issuer, extensions) || X509_sign(made->get(), issuer_key->get(), EVP_sha256()) == 0) {
    return cannot_make("the server's certificate");
  }
  return Identity{.chain = to_pem(**made) + authority.chain, .key = to_pem(*key)};
}

Result<std::string> fingerprint(const std::string& pem) {
  const auto read = read_certificates(pem);
  if (!read.ok()) return read.error();
  return fingerprint_of(*read->front());
}

Result<std::vector<std::string>> fingerprints(const std::string& pem) {
  const auto read = read_certificates(pem);
  if (!read.ok()) return read.error();
  std::vector<std::string> found;
  for (const auto& one : *read) found.push_back(fingerprint_of(*one));
  return found;
}

Result<std::string> authority_of(const std::string& chain, const std::string& authorities) {
  const auto shown = read_certificates(chain);
  if (!shown.ok()) return shown.error();
  const auto known = read_certificates(authorities);
  if (!known.ok()) return known.error();
  const std::unique_ptr<X509_STORE, Freed<X509_STORE_free>> trusted(X509_STORE_new());
  const std::unique_ptr<X509_STORE_CTX, Freed<X509_STORE_CTX_free>> checks(X509_STORE_CTX_new());
  const std::unique_ptr<STACK_OF(X509), void (*)(STACK_OF(X509)*)> between(
      sk_X509_new_null(), [](STACK_OF(X509) * stack) { sk_X509_free(stack); });
  for (const auto& one : *shown) sk_X509_push(between.get(), one.get());
  for (const auto& one : *known) X509_STORE_add_cert(trusted.get(), one.get());
  if (X509_STORE_CTX_init(checks.get(), trusted.get(), shown->front().get(), between.get()) != 1) {
    return cannot_make("a check of a certificate");
  }
  X509_STORE_CTX_set_flags(checks.get(), X509_V_FLAG_NO_CHECK_TIME);
  if (X509_verify_cert(checks.get()) != 1) {
    (void)newest_complaint();
    return invalid_argument(X509_verify_cert_error_string(X509_STORE_CTX_get_error(checks.get())));
  }
  const STACK_OF(X509)* verified = X509_STORE_CTX_get0_chain(checks.get());
  return fingerprint_of(*sk_X509_value(verified, sk_X509_num(verified) - 1));
}

bool is_fingerprint(const std::string& text) {
  constexpr std::size_t kPrefix = 7;  // "sha256:"
  return text.starts_with("sha256:") && text.size() == kPrefix + 64 &&
         text.find_first_not_of("0123456789abcdef", kPrefix) == std::string::npos;
}

Result<Validity> validity_of(const std::string& pem) {
  const auto read = read_certificates(pem);
  if (!read.ok()) return read.error();
  return validity_of(*read->front());
}

Result<std::int64_t> expiry_unix_s(const std::string& pem) {
  const auto validity = validity_of(pem);
  if (!validity.ok()) return validity.error();
  return validity->until_unix_s;
}

Result<std::vector<std::string>> covered_names(const std::string& pem, const std::vector<std::string>& names) {
  const auto read = read_certificates(pem);
  if (!read.ok()) return read.error();
  std::vector<std::string> covered;
  for (const std::string& name : names) {
    const bool good = is_address(name)
                          ? X509_check_ip_asc(read->front().get(), name.c_str(), 0) == 1
                          : X509_check_host(read->front().get(), name.c_str(), name.size(), 0, nullptr) == 1;
    if (good) covered.push_back(name);
  }
  return covered;
}

}  // namespace tidepool::tls
