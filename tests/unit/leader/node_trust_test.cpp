// Node tokens, the certificates that they lead to, and their end.
#include "schedulerd/leader/node_trust.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/leader/turn_scene.hpp"

namespace tidepool::leader {
namespace {

const std::string kKey(64, 'k');

// What a turn has written is there for the next, as after a commit.
struct Scene : Daemon {
  template <class... Items>
  TurnResult take(Items... item) {
    TurnResult result = Daemon::take(std::move(item)...);
    for (const auto& row : all<NodeTokenRow>(result.rows)) stored.node_tokens[row.token.id] = row.token;
    for (const auto& row : all<NodeCredentialRow>(result.rows)) {
      stored.node_credentials[row.credential.node] = row.credential;
    }
    return result;
  }
  void make_token(const std::string& id, std::int64_t uses = 1, const std::string& prefix = "") {
    CreateNodeToken token{.id = id, .secret_sha256 = "s", .lifetime = Duration::seconds(60), .uses_max = uses};
    token.name_prefix = prefix;
    token.terms = {.labels = {{"rack", "r1"}}, .slot_type = "big", .price_per_slot_hour = Money::micros(2'500'000)};
    (void)take(command(token));
  }
  [[nodiscard]] std::int64_t uses(const std::string& id) const { return stored.node_tokens.at(id).uses; }
  TurnResult join(const std::string& token, const std::string& node, const std::string& key = kKey) {
    return take(NodeJoinItem{1, token, "s", node, key, Duration::seconds(100)});
  }
  TurnResult hello(const std::string& node, const std::string& key) {
    return take(AgentHelloItem{2, hello_of(node), key});
  }
};

// Why the agent was refused; empty: it was not.
std::string refusal(const TurnResult& result) {
  const auto refused = all<AgentRefusal>(result.orders);
  return refused.empty() ? "" : refused.front().why;
}

}  // namespace

TEST_CASE("a use is written in the turn that grants the certificate, and no token gives more than it has") {
  Scene scene;
  scene.make_token("t", 2);
  const TurnResult joined = scene.join("t", "a");
  REQUIRE(all<CertificateGrant>(joined.orders).size() == 1);
  REQUIRE(all<NodeTokenRow>(joined.rows).size() == 1);
  CHECK(all<NodeTokenRow>(joined.rows).front().token.uses == 1);
  CHECK(all<NodeCredentialRow>(joined.rows).front().credential.key_sha256 == kKey);
  // Two in one turn: the second sees the first.
  scene.make_token("one");
  const TurnResult both = scene.take(NodeJoinItem{1, "one", "s", "b", "b", Duration::seconds(9)},
                                     NodeJoinItem{2, "one", "s", "c", "c", Duration::seconds(9)});
  CHECK(all<CertificateGrant>(both.orders).size() == 1);
  CHECK_THAT(refusal(both), Catch::Contains("used up (uses: 1)"));
  CHECK(scene.uses("one") == 1);
}

TEST_CASE("a machine that has not heard of its certificate asks again without a second use") {
  Scene scene;
  scene.make_token("t");
  (void)scene.join("t", "a");
  const TurnResult again = scene.join("t", "a");
  CHECK(all<CertificateGrant>(again.orders).size() == 1);
  CHECK(scene.uses("t") == 1);
  CHECK_THAT(refusal(scene.join("t", "a", "other")), Catch::Contains("belongs to a node that has joined"));
}

TEST_CASE("tokens that are unknown, guessed, expired, revoked or for other names are refused and spend nothing") {
  Scene scene;
  scene.make_token("t", 5, "gpu-");
  CHECK_THAT(refusal(scene.join("u", "gpu-a")), Catch::Contains("no such node token"));
  const TurnResult guessed = scene.take(NodeJoinItem{1, "t", "x", "gpu-a", kKey, Duration::seconds(9)});
  CHECK_THAT(refusal(guessed), Catch::Contains("no such node token"));
  CHECK_THAT(refusal(scene.join("t", "a")), Catch::Contains("begin with \"gpu-\""));
  CHECK_THAT(refusal(scene.join("t", "gpu a")), Catch::Contains("a node's name has"));
  scene.make_token("gone");
  (void)scene.take(command(RevokeNodeToken{"gone"}));
  CHECK_THAT(refusal(scene.join("gone", "a")), Catch::Contains("was revoked"));
  scene.now = scene.now + Duration::seconds(60);
  CHECK_THAT(refusal(scene.join("t", "gpu-a")), Catch::Contains("has expired"));
  CHECK(scene.uses("t") == 0);
  CHECK(scene.stored.node_credentials.empty());
}

TEST_CASE("the operators' price and type count, whatever the agent says") {
  Scene scene;
  scene.make_token("t");
  (void)scene.join("t", "a");
  auto said = hello_of("a");
  said.price_per_slot_hour = "0.01";
  said.slot_type = "small";
  const TurnResult in = scene.take(AgentHelloItem{2, said, kKey});
  REQUIRE(facts<core::NodeJoined>(in).size() == 1);
  CHECK(facts<core::NodeJoined>(in).front().slot_type == "big");
  CHECK(facts<core::NodeJoined>(in).front().price_per_slot_hour == Money::micros(2'500'000));
  said.slot_type = "cpu";  // as workers are started there
  const TurnResult again = scene.take(AgentHelloItem{3, said, kKey});
  CHECK(facts<core::NodeJoined>(again).front().slot_type == "cpu");
}

TEST_CASE("a name that has joined is for its key alone") {
  Scene scene;
  scene.make_token("t", 5);
  (void)scene.join("t", "a");
  CHECK_THAT(refusal(scene.hello("a", "")), Catch::Contains("shared token is not taken"));
  CHECK_THAT(refusal(scene.hello("a", "other")), Catch::Contains("joined again since"));
  CHECK_THAT(refusal(scene.hello("b", kKey)), Catch::Contains("knows of no node b"));
  CHECK(refusal(scene.hello("a", kKey)).empty());
  CHECK(refusal(scene.hello("a", kKey)).empty());  // it is back
}

TEST_CASE("the next node of a pool joins under the name of one that is gone, and only while it is awaited") {
  Scene scene;
  scene.make_token("t", 9);
  (void)scene.join("t", "gpu-1", "first");
  CHECK_THAT(refusal(scene.join("t", "gpu-1", "second")), Catch::Contains("belongs to a node that has joined"));
  scene.now = scene.now + Duration::seconds(1);
  core::PoolSpec gpu{.name = "gpu", .min = 1, .max = 1, .lead_time = Duration::seconds(30)};
  (void)scene.take(PoolReportItem{core::PoolsConfigured{.spot_share = 1, .pools = {gpu}}});
  REQUIRE(scene.turn.state().pools.find_name("gpu-1") != nullptr);
  CHECK(refusal(scene.join("t", "gpu-1", "second")).empty());
  CHECK_THAT(refusal(scene.hello("gpu-1", "first")), Catch::Contains("has joined again since"));
  CHECK_THAT(refusal(scene.join("t", "gpu-1", "third")), Catch::Contains("belongs to a node that has joined"));
  CHECK(refusal(scene.hello("gpu-1", "second")).empty());
}

TEST_CASE("the name of a node that is up by the shared token cannot be joined under") {
  Scene scene;
  scene.make_token("t");
  CHECK(refusal(scene.hello("n1", "")).empty());
  CHECK_THAT(refusal(scene.join("t", "n1")), Catch::Contains("which is up"));
  (void)scene.take(AgentLostItem{"n1", "gone"});
  CHECK(refusal(scene.join("t", "n1")).empty());
}

TEST_CASE("a revoked node is lost and shut out, and joins again only with a new key and a later token") {
  Scene scene;
  scene.make_token("early", 5);
  (void)scene.join("early", "a");
  (void)scene.hello("a", kKey);
  const TurnResult revoked = scene.take(command(RevokeNode{"a", "stolen"}));
  REQUIRE(facts<core::NodeLost>(revoked).size() == 1);
  REQUIRE(all<NodeExpulsion>(revoked.orders).size() == 1);
  CHECK_THAT(all<NodeExpulsion>(revoked.orders).front().why, Catch::Contains("was revoked (stolen)"));
  CHECK_THAT(refusal(scene.hello("a", kKey)),
             Catch::Contains("was revoked (stolen)") &&
                 Catch::EndsWith("with its other options as before: agentd join --anew --token TOKEN --name a"));
  const TurnResult renewal = scene.take(NodeRenewalItem{2, "a", kKey, Duration::seconds(9)});
  CHECK_THAT(refusal(renewal), Catch::Contains("no longer valid"));
  CHECK(all<CertificateGrant>(renewal.orders).empty());
  CHECK_THAT(refusal(scene.join("early", "a", "new")), Catch::Contains("older than that"));
  scene.make_token("late", 5);
  CHECK_THAT(refusal(scene.join("late", "a")), Catch::Contains("older than that"));
  CHECK(refusal(scene.join("late", "a", "new")).empty());
  CHECK_THAT(refusal(scene.hello("a", kKey)), Catch::Contains("joined again since"));
  CHECK(refusal(scene.hello("a", "new")).empty());
}

TEST_CASE("a renewal moves the end of the certificate and nothing else") {
  Scene scene;
  scene.make_token("t");
  (void)scene.join("t", "a");
  const NodeCredential before = scene.stored.node_credentials.at("a");
  const TurnResult renewed = scene.take(NodeRenewalItem{2, "a", kKey, Duration::seconds(100)});
  CHECK(all<CertificateGrant>(renewed.orders).size() == 1);
  CHECK(scene.stored.node_credentials.at("a").valid_until > before.valid_until);
  CHECK(scene.uses("t") == 1);
  const TurnResult foreign = scene.take(NodeRenewalItem{2, "a", "other", Duration::seconds(100)});
  CHECK(all<CertificateGrant>(foreign.orders).empty());
}

TEST_CASE("a reason that was forgotten at a revocation is made up for by a second one, which changes nothing else") {
  Scene scene;
  scene.make_token("t");
  (void)scene.join("t", "a");
  (void)scene.take(command(RevokeNode{"a", ""}));
  const auto revoked_at = scene.stored.node_credentials.at("a").revoked_at;
  REQUIRE(revoked_at);
  scene.now = scene.now + Duration::seconds(5);
  (void)scene.take(command(RevokeNode{"a", "stolen"}));
  CHECK(scene.stored.node_credentials.at("a").revoke_reason == "stolen");
  CHECK(scene.stored.node_credentials.at("a").revoked_at == revoked_at);
  (void)scene.take(command(RevokeNode{"a", "sold"}));
  CHECK(scene.stored.node_credentials.at("a").revoke_reason == "stolen");
}

TEST_CASE("only what has joined can be revoked, and storage that fails lets no machine in") {
  Scene scene;
  (void)scene.hello("n1", "");
  const TurnResult none = scene.take(command(RevokeNode{"n1", ""}));
  CHECK_THAT(none.answers.front().receipt.error().message, Catch::Contains("new agent.token"));
  const TurnResult unknown = scene.take(command(RevokeNodeToken{"x"}));
  CHECK(unknown.answers.front().receipt.error().code == ErrorCode::kNotFound);
  scene.stored.fails = true;
  std::vector<TurnItem> items;
  items.emplace_back(NodeJoinItem{1, "t", "s", "a", kKey, Duration::seconds(9)});
  CHECK_FALSE(scene.turn.run(std::move(items), scene.now, scene.stored).ok());
}

}  // namespace tidepool::leader
