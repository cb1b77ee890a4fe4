// Certificates and contexts, agreed on in memory: two sessions joined back to back, and no socket.
#include <openssl/ssl.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "tls/handshake.hpp"
#include "tls/openssl.hpp"

namespace tidepool::tls {
namespace {

constexpr std::int64_t kDay = 24 * 3'600;

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Validity valid_for(std::int64_t from_days, std::int64_t until_days) {
  return {.from_unix_s = now() + from_days * kDay, .until_unix_s = now() + until_days * kDay};
}

Identity authority(const std::string& name = "Tidepool test") {
  return make_authority(name, valid_for(-1, 30)).value();
}

Context server(const Identity& authority, const Validity& validity = valid_for(-1, 30)) {
  return server_context(issue_server(authority, {"daemon.example", "10.1.2.3", "::1"}, validity).value()).value();
}

Context by_authority(const Identity& known) {
  return client_context({.authorities = known.chain, .fingerprints = {}}).value();
}

Context by_fingerprint(const std::string& known) {
  return client_context({.authorities = {}, .fingerprints = {known}}).value();
}

struct Agreement {
  bool agreed = false;
  std::string version;
  std::string verdict;  // of the client on the certificate
};

Agreement agree(const Context& server_side, const Context& client_side, const std::string& host,
                int newest = TLS1_3_VERSION) {
  const std::unique_ptr<SSL, Freed<SSL_free>> server(new_session(server_side));
  const std::unique_ptr<SSL, Freed<SSL_free>> client(new_session(client_side));
  SSL_set_min_proto_version(client.get(), TLS1_2_VERSION);  // so that only the server can refuse an old one
  SSL_set_max_proto_version(client.get(), newest);
  expect_host(client.get(), host);
  BIO* server_end = nullptr;
  BIO* client_end = nullptr;
  REQUIRE(BIO_new_bio_pair(&server_end, 0, &client_end, 0) == 1);
  SSL_set_bio(server.get(), server_end, server_end);
  SSL_set_bio(client.get(), client_end, client_end);
  SSL_set_accept_state(server.get());
  SSL_set_connect_state(client.get());
  bool agreed = false;
  for (int turn = 0; turn < 20 && !agreed; ++turn) {
    const int left = SSL_do_handshake(client.get());
    const int right = SSL_do_handshake(server.get());
    agreed = left == 1 && right == 1;
  }
  (void)newest_complaint();
  return {.agreed = agreed,
          .version = SSL_get_version(client.get()),
          .verdict = X509_verify_cert_error_string(SSL_get_verify_result(client.get()))};
}

}  // namespace

TEST_CASE("a client that knows the authority or its fingerprint agrees on TLS 1.3 with each name of the server") {
  const Identity own = authority();
  const Context daemon = server(own);
  for (const Context& client : {by_authority(own), by_fingerprint(fingerprint(own.chain).value())}) {
    for (const char* host : {"daemon.example", "10.1.2.3", "::1"}) {
      const Agreement got = agree(daemon, client, host);
      INFO(host << ": " << got.verdict);
      CHECK(got.agreed);
      CHECK(got.version == "TLSv1.3");
    }
  }
}

TEST_CASE("a client that speaks TLS 1.2 at most is refused") {
  const Identity own = authority();
  CHECK_FALSE(agree(server(own), by_authority(own), "daemon.example", TLS1_2_VERSION).agreed);
}

TEST_CASE("another authority of the same name, another fingerprint and another host are refused") {
  const Identity own = authority();
  const Identity stranger = authority();
  CHECK_FALSE(agree(server(own), by_authority(stranger), "daemon.example").agreed);
  const Agreement wrong = agree(server(stranger), by_fingerprint(fingerprint(own.chain).value()), "daemon.example");
  CHECK_FALSE(wrong.agreed);
  CHECK(wrong.verdict.find("self-signed") != std::string::npos);
  for (const Context& client : {by_authority(own), by_fingerprint(fingerprint(own.chain).value())}) {
    for (const char* host : {"other.example", "10.1.2.4", "127.0.0.1"})
      CHECK_FALSE(agree(server(own), client, host).agreed);
  }
}

TEST_CASE("a client that knows two authorities takes a server of either, and none of a third that is shown beside") {
  const Identity before = authority("before");
  const Identity after = authority("after");
  const Identity stranger = authority("stranger");
  const Context client =
      client_context(
          {.authorities = {}, .fingerprints = {fingerprint(before.chain).value(), fingerprint(after.chain).value()}})
          .value();
  for (const Identity* own : {&before, &after, &stranger}) {
    Identity shown = issue_server(*own, {"daemon.example"}, valid_for(-1, 30)).value();
    shown.chain += before.chain + after.chain;
    CHECK(agree(server_context(shown).value(), client, "daemon.example").agreed == (own != &stranger));
  }
  CHECK_FALSE(
      client_context({.authorities = {}, .fingerprints = {fingerprint(before.chain).value(), "sha256:12"}}).ok());
}

TEST_CASE("the authority of a certificate is found among others, and none that has not signed is taken") {
  const Identity before = authority();
  const Identity after = authority();  // of the same name
  const Identity past = make_authority("past", valid_for(-9, -1)).value();
  const auto leaf = [](const Identity& own) {
    const Identity made = issue_server(own, {"daemon.example"}, valid_for(-3, -2)).value();
    return made.chain.substr(0, made.chain.find("-----BEGIN", 1));
  };
  const std::string both = before.chain + after.chain;
  CHECK(authority_of(leaf(before), both).value() == fingerprint(before.chain).value());
  CHECK(authority_of(leaf(after), both).value() == fingerprint(after.chain).value());
  CHECK(authority_of(leaf(past), both + past.chain).value() == fingerprint(past.chain).value());
  CHECK_FALSE(authority_of(leaf(past), both).ok());
  CHECK_FALSE(authority_of(leaf(past) + past.chain, both).ok());
  CHECK(authority_of(before.chain, both).value() == fingerprint(before.chain).value());
  CHECK(fingerprints(both).value() == std::vector{fingerprint(before.chain).value(), fingerprint(after.chain).value()});
  CHECK_FALSE(fingerprints("no PEM").ok());
}

// Whoever copies the authority's certificate, which is public, has its fingerprint but not its key.
TEST_CASE("a server that shows a copied authority above a certificate that it did not sign is refused") {
  const Identity own = authority();
  Identity forged = issue_server(authority(), {"daemon.example"}, valid_for(-1, 30)).value();
  const std::size_t second = forged.chain.find("-----BEGIN", 1);
  forged.chain = forged.chain.substr(0, second) + own.chain;
  const Context impostor = server_context(forged).value();
  CHECK_FALSE(agree(impostor, by_fingerprint(fingerprint(own.chain).value()), "daemon.example").agreed);
}

TEST_CASE("the fingerprint of the server's own certificate stands for no authority") {
  const Identity own = authority();
  const Identity leaf = issue_server(own, {"daemon.example"}, valid_for(-1, 30)).value();
  const Context daemon = server_context(leaf).value();
  CHECK_FALSE(agree(daemon, by_fingerprint(fingerprint(leaf.chain).value()), "daemon.example").agreed);
}

TEST_CASE("a certificate that has expired or is not valid yet is refused") {
  const Identity own = authority();
  CHECK(agree(server(own, valid_for(-3, -1)), by_authority(own), "daemon.example").verdict.find("expired") !=
        std::string::npos);
  CHECK_FALSE(agree(server(own, valid_for(-3, -1)), by_authority(own), "daemon.example").agreed);
  CHECK_FALSE(agree(server(own, valid_for(1, 3)), by_authority(own), "daemon.example").agreed);
}

TEST_CASE("a certificate is not made for what is no name, and not shown with another's key") {
  const Identity own = authority();
  for (const char* name : {"", "a b", "a,DNS:evil.example", "bad_name\n", "*.example"}) {
    INFO(name);
    CHECK_FALSE(issue_server(own, {name}, valid_for(-1, 1)).ok());
  }
  CHECK_FALSE(issue_server(own, {}, valid_for(-1, 1)).ok());
  const auto one = issue_server(own, {"a.example"}, valid_for(-1, 1)).value();
  const auto other = issue_server(own, {"a.example"}, valid_for(-1, 1)).value();
  const auto mixed = server_context({.chain = one.chain, .key = other.key});
  REQUIRE_FALSE(mixed.ok());
  CHECK(mixed.error().message.find("do not belong together") != std::string::npos);
  CHECK_FALSE(server_context({.chain = "no PEM", .key = one.key}).ok());
  CHECK_FALSE(client_context({.authorities = "no PEM", .fingerprints = {}}).ok());
  CHECK_FALSE(client_context({.authorities = {}, .fingerprints = {"sha256:12"}}).ok());
}

TEST_CASE("a server shows another certificate from the next handshake on, and keeps the one before if that is none") {
  const Identity before = authority("before");
  const Identity after = authority("after");
  const Context daemon = server(before);
  REQUIRE(agree(daemon, by_authority(before), "daemon.example").agreed);
  const Identity renewed = issue_server(after, {"daemon.example"}, valid_for(-1, 30)).value();
  CHECK_FALSE(show_from_now_on(daemon, {.chain = renewed.chain, .key = before.key}).ok());
  CHECK(agree(daemon, by_authority(before), "daemon.example").agreed);
  REQUIRE(show_from_now_on(daemon, renewed).ok());
  CHECK(agree(daemon, by_authority(after), "daemon.example").agreed);
  CHECK(agree(daemon, by_fingerprint(fingerprint(after.chain).value()), "daemon.example").agreed);
  CHECK_FALSE(agree(daemon, by_authority(before), "daemon.example").agreed);
}

TEST_CASE("a fingerprint is 64 lower-case digits behind sha256, and the certificate's end can be read") {
  const Identity own = authority();
  const std::string known = fingerprint(own.chain).value();
  CHECK(is_fingerprint(known));
  CHECK(known != fingerprint(authority().chain).value());
  CHECK_FALSE(is_fingerprint(known + "0"));
  CHECK_FALSE(is_fingerprint("sha256:" + std::string(64, 'F')));
  const std::int64_t until = now() + 3 * kDay;
  const auto made = make_authority("a", {.from_unix_s = now(), .until_unix_s = until}).value();
  CHECK(expiry_unix_s(made.chain).value() == until);
}

}  // namespace tidepool::tls
