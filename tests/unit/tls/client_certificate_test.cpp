// Certificates of clients: what is signed, and what is refused.
#include "tls/client_certificate.hpp"

#include <catch2/catch.hpp>
#include <string>

namespace tidepool::tls {
namespace {

constexpr std::int64_t kThen = 1'800'000'000;
constexpr Validity kLong{.from_unix_s = kThen - 1'000, .until_unix_s = kThen + 1'000'000};

Identity signer_of_clients() {
  return make_authority("Tidepool test", kLong).value();
}

struct AskedFor {
  std::string key = make_key().value();
  std::string request = signing_request(key).value();
};

std::string refusal_of(const Identity& signer, const std::string& certificate, std::int64_t now) {
  const auto checked = check_client(signer.chain, certificate, now);
  return checked.ok() ? "none" : checked.error().message;
}

}  // namespace

TEST_CASE("a client is known by the name and the key that the authority has signed") {
  const Identity signer = signer_of_clients();
  const AskedFor asked;
  const Validity day{.from_unix_s = kThen, .until_unix_s = kThen + 86'400};
  const std::string certificate = issue_client(signer, asked.request, "gpu-1", day).value();
  const Client client = check_client(signer.chain, certificate, kThen + 1).value();
  CHECK(client.name == "gpu-1");
  CHECK(client.key == requested_key(asked.request).value());
  CHECK(client.validity.until_unix_s == kThen + 86'400);
  // Signed anew for the same key it is the same client, and another key is another.
  const std::string renewed = issue_client(signer, asked.request, "gpu-1", kLong).value();
  CHECK(read_client(renewed).value().key == client.key);
  CHECK(requested_key(AskedFor().request).value() != client.key);
}

TEST_CASE("a certificate is good in its time only, and the words say which way the clocks differ") {
  const Identity signer = signer_of_clients();
  const std::string certificate =
      issue_client(signer, AskedFor().request, "n", {.from_unix_s = kThen, .until_unix_s = kThen + 60}).value();
  CHECK(refusal_of(signer, certificate, kThen) == "none");
  CHECK(refusal_of(signer, certificate, kThen + 59) == "none");
  CHECK(refusal_of(signer, certificate, kThen + 61) == "it has expired, at 2027-01-15T08:01:00Z by the daemon's clock");
  CHECK(refusal_of(signer, certificate, kLong.until_unix_s + 1) == "the authority that has signed it has expired");
  CHECK(refusal_of(signer, certificate, kThen - 61) == "it is not valid yet; look at the clocks of both machines");
}

TEST_CASE("what another authority has signed, or for a server, is no client of this one") {
  const Identity signer = signer_of_clients();
  const Identity stranger = signer_of_clients();  // of the same name
  CHECK(refusal_of(signer, issue_client(stranger, AskedFor().request, "n", kLong).value(), kThen) ==
        "another authority has signed it");
  CHECK(refusal_of(signer, issue_server(signer, {"daemon.example"}, kLong).value().chain, kThen) ==
        "it is no client's");
  CHECK(refusal_of(signer, signer.chain, kThen) != "none");
  CHECK(refusal_of(signer, "", kThen) != "none");
}

TEST_CASE("a signing request must be signed by the key that it is for") {
  const AskedFor asked;
  CHECK(requested_key(asked.request).value().starts_with("sha256:"));
  std::string broken = asked.request;
  const std::size_t place = broken.size() - 60;  // in the signature
  broken[place] = broken[place] == 'A' ? 'B' : 'A';
  CHECK_FALSE(requested_key(broken).ok());
  CHECK_FALSE(issue_client(signer_of_clients(), broken, "n", kLong).ok());
  CHECK_FALSE(requested_key(asked.key).ok());
  CHECK_FALSE(requested_key("").ok());
}

}  // namespace tidepool::tls
