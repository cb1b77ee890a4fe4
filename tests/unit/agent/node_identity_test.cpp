// What a node keeps of its daemon, and how it follows the daemon from one authority to the next.
#include "workers/agent/node_identity.hpp"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "tests/support/temporary_folder.hpp"
#include "workers/agent/certificate_renewal.hpp"
#include "workers/agent/join.hpp"

namespace tidepool::agent {
namespace {

const std::string kBefore = "sha256:" + std::string(64, 'a');
const std::string kAfter = "sha256:" + std::string(64, 'b');

NodeIdentity joined() {
  const tls::Validity validity{.from_unix_s = unix_seconds() - 60, .until_unix_s = unix_seconds() + 3'600};
  const auto authority = tls::make_authority("nodes", validity).value();
  NodeIdentity identity{.daemon = "127.0.0.1:7481",
                        .node = "n",
                        .authorities = {kBefore},
                        .key = tls::make_key().value(),
                        .certificate = ""};
  const auto request = tls::signing_request(identity.key).value();
  identity.certificate = tls::issue_client(authority, request, "n", validity).value();
  return identity;
}

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// The agent's part that keeps the identity, and the contexts that it gives the next link.
struct Keeper {
  test::TemporaryFolder folder;
  boost::asio::io_context io;
  int contexts = 0;
  CertificateRenewal renewal;

  explicit Keeper(const std::optional<NodeIdentity>& identity)
      : renewal(io, folder.path(), identity,
                {.send = [](const api::CertificateRequest&) {}, .use = [this](const tls::Context&) { ++contexts; }}) {
    if (identity) REQUIRE(write_identity(folder.path(), *identity).ok());
  }
  [[nodiscard]] std::vector<std::string> kept() const { return read_identity(folder.path()).value()->authorities; }
};

}  // namespace

TEST_CASE("an identity with one authority is the file that it has always been, and one with two is read back") {
  const test::TemporaryFolder folder;
  NodeIdentity identity = joined();
  REQUIRE(write_identity(folder.path(), identity).ok());
  const std::string text = text_of(folder / "node-identity.json");
  CHECK(text.find("\"ca_fingerprint\":\"" + kBefore + "\"") != std::string::npos);
  CHECK(text.find("other_ca_fingerprints") == std::string::npos);
  CHECK(read_identity(folder.path()).value()->authorities == std::vector{kBefore});
  identity.authorities = {kBefore, kAfter};
  REQUIRE(write_identity(folder.path(), identity).ok());
  CHECK(read_identity(folder.path()).value()->authorities == std::vector{kBefore, kAfter});
  CHECK(context_of(identity).ok());
}

TEST_CASE("a folder of a node is not taken to another daemon by that one's token, unless the node is to join anew") {
  const test::TemporaryFolder folder;
  REQUIRE(write_identity(folder.path(), joined()).ok());
  const std::string begin = "tpn_0123456789ab_" + std::string(48, '1') + "_";
  const std::string own = begin + std::string(64, 'a');
  const std::string foreign = begin + std::string(64, 'b');

  const auto other = join_or_resume(folder.path(), {.daemon = "10.0.0.9:7481", .token = foreign});
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().message.find("is the folder of node n of the daemon at 127.0.0.1:7481, and this") !=
        std::string::npos);
  CHECK(other.error().message.find("add --anew") != std::string::npos);
  CHECK(read_identity(folder.path()).value()->daemon == "127.0.0.1:7481");
  // At the same address: its authority may have been followed since the token was made.
  CHECK(join_or_resume(folder.path(), {.daemon = "127.0.0.1:7481", .token = foreign}).ok());
  CHECK(join_or_resume(folder.path(), {.daemon = "10.0.0.9:7481", .token = own}).ok());
  CHECK(read_identity(folder.path()).value()->daemon == "10.0.0.9:7481");
}

TEST_CASE("a node that has joined needs the file of its token no more, and one that joins anew does") {
  const test::TemporaryFolder folder;
  const JoinOptions options{.daemon = "127.0.0.1:7481", .token_file = folder / "gone"};
  const auto first = join_or_resume(folder.path(), options);
  REQUIRE_FALSE(first.ok());
  CHECK(first.error().message.find("the token file " + (folder / "gone").string()) != std::string::npos);
  REQUIRE(write_identity(folder.path(), joined()).ok());
  CHECK(join_or_resume(folder.path(), options).ok());
  JoinOptions anew = options;
  anew.anew = true;
  CHECK_FALSE(join_or_resume(folder.path(), anew).ok());
}

TEST_CASE("a node that is told the next authority keeps it beside the one before, until it is told that one no more") {
  Keeper keeper(joined());
  keeper.renewal.take(api::TrustedAuthorities{{kBefore}});
  CHECK(keeper.contexts == 0);  // as it was
  keeper.renewal.take(api::TrustedAuthorities{{kBefore, kAfter}});
  CHECK(keeper.kept() == std::vector{kBefore, kAfter});
  CHECK(keeper.contexts == 1);
  keeper.renewal.take(api::TrustedAuthorities{{kAfter}});
  CHECK(keeper.kept() == std::vector{kAfter});
  CHECK(keeper.contexts == 2);
}

TEST_CASE("what a node cannot write for want of room is used all the same, and written at a later look") {
  Keeper keeper(joined());
  const auto folder = keeper.folder.path();
  const auto aside = folder.string() + ".aside";
  std::filesystem::rename(folder, aside);
  keeper.renewal.take(api::TrustedAuthorities{{kBefore, kAfter}});
  CHECK(keeper.contexts == 1);
  std::filesystem::rename(aside, folder);
  CHECK(keeper.kept() == std::vector{kBefore});
  keeper.renewal.welcomed();
  CHECK(keeper.kept() == std::vector{kBefore, kAfter});
  CHECK(keeper.contexts == 1);
}

TEST_CASE("what names no authority changes nothing, and a node that has not joined follows none") {
  Keeper keeper(joined());
  keeper.renewal.take(api::TrustedAuthorities{});
  keeper.renewal.take(api::TrustedAuthorities{{kAfter, "sha256:12"}});
  CHECK(keeper.kept() == std::vector{kBefore});
  CHECK(keeper.contexts == 0);
  Keeper without(std::nullopt);
  without.renewal.take(api::TrustedAuthorities{{kAfter}});
  CHECK(without.contexts == 0);
  CHECK_FALSE(has_identity(without.folder.path()));
}

}  // namespace tidepool::agent
