#include "schedulerd/live/http/authenticator.hpp"

#include <catch2/catch.hpp>

#include <vector>

#include "tests/support/no_history.hpp"

namespace tidepool::live::http {
namespace {

struct Tokens final : test::NoHistory {
  [[nodiscard]] std::optional<TokenRecord> token(const std::string& id) override {
    for (const TokenRecord& each : all) {
      if (each.id == id) return each;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::vector<TokenRecord> tokens() override { return all; }
  std::vector<TokenRecord> all = {{.id = "one", .role = "admin"}, {.id = "two", .role = "admin"}};
};

}  // namespace

TEST_CASE("a caller's time ends with its token's, or with its revocation") {
  Tokens history;
  history.all[0].expires_unix_s = 2'000;
  std::int64_t now = 1'000;
  Authenticator authenticator(history, [&] { return now; });
  const Caller one{.token_id = "one", .role = Role::kAdmin, .tenant = "", .expires_unix_s = 2'000};
  const Caller two{.token_id = "two", .role = Role::kAdmin, .tenant = "", .expires_unix_s = {}};
  CHECK_FALSE(authenticator.ended(one));
  CHECK_FALSE(authenticator.ended(two));
  history.all[1].revoked = true;
  authenticator.forget_all();
  CHECK(authenticator.ended(two));
  now = 2'000;
  CHECK(authenticator.ended(one));
}

}  // namespace tidepool::live::http
