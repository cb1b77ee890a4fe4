#include "schedulerd/live/agents/node_links.hpp"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace tidepool::live {
namespace {

constexpr std::int64_t kPatienceTicks = 2;

struct Names {
  boost::asio::io_context io{1};
  NodeLinks links{kPatienceTicks};
  std::vector<SessionNumber> closed;
  std::vector<std::string> lost;

  // As a gateway makes it once it has said hello.
  std::shared_ptr<AgentSession> session(SessionNumber number, const std::string& node, const std::string& instance) {
    auto made = std::make_shared<AgentSession>(
        tls::Stream(AgentSession::Socket(io), nullptr), number,
        AgentSession::Handlers{.on_message = {}, .on_closed = [this](AgentSession& one, const auto&) {
                                 closed.push_back(one.number());
                                 links.closed(one);
                               }});
    made->node_name = node;
    made->instance = instance;
    return made;
  }
  void beat() {
    links.tick([this](const std::string& node, std::int64_t ticks) { lost.push_back(node + std::to_string(ticks)); });
  }
};

}  // namespace

TEST_CASE("a newer session of a name closes the older one, while it joins and when it is admitted") {
  Names names;
  const auto first = names.session(1, "n", "a");
  const auto second = names.session(2, "n", "a");
  const auto third = names.session(3, "n", "a");
  names.links.join(first);
  CHECK(names.links.live("n") == nullptr);
  names.links.join(second);
  CHECK(names.closed == std::vector<SessionNumber>{1});

  names.links.admit(second);
  CHECK(names.links.live("n") == second);
  CHECK(names.links.joining("n") == nullptr);
  names.links.join(third);
  CHECK(names.links.live("n") == second);  // until the loop has answered
  names.links.admit(third);
  CHECK(names.closed == std::vector<SessionNumber>{1, 2});
  CHECK(names.links.live("n") == third);
}

TEST_CASE("a name that is held is taken for an agent with another state directory, and for no older one") {
  Names names;
  names.links.join(names.session(1, "n", "a"));
  CHECK_FALSE(names.links.why_taken({.node = "n", .instance = "a"}).has_value());
  CHECK_FALSE(names.links.why_taken({.node = "n"}).has_value());
  CHECK_FALSE(names.links.why_taken({.node = "m", .instance = "b"}).has_value());
  const auto why = names.links.why_taken({.node = "n", .instance = "b"});
  REQUIRE(why.has_value());
  CHECK_THAT(*why, Catch::Contains("under the name n;"));
}

TEST_CASE("a node is lost once, when it has been away for longer than the patience") {
  Names names;
  const auto session = names.session(1, "n", "a");
  names.links.join(session);
  names.links.admit(session);
  for (int beat = 0; beat < 5; ++beat) names.beat();
  CHECK(names.lost.empty());

  session->close("gone");
  CHECK(names.links.live("n") == nullptr);
  names.beat();
  names.beat();
  CHECK(names.lost.empty());
  names.beat();
  names.beat();
  CHECK(names.lost == std::vector<std::string>{"n2"});
}

TEST_CASE("a session that fell silent has been away since then") {
  Names names;
  const auto session = names.session(1, "n", "a");
  names.links.join(session);
  names.links.admit(session);
  session->silent_ticks = kPatienceTicks;
  session->close("no heartbeat");
  names.beat();
  CHECK(names.lost == std::vector<std::string>{"n2"});
}

TEST_CASE("a session that closes before the loop has answered is lost as well, each time") {
  Names names;
  for (const std::size_t number : {1U, 2U}) {
    const auto session = names.session(number, "n", "a");
    names.links.join(session);
    session->close("before the answer");
    names.beat();
    names.beat();
    CHECK(names.lost.size() == number - 1);
    names.beat();
    names.beat();
    CHECK(names.lost.size() == number);
  }
  CHECK(names.lost == std::vector<std::string>{"n2", "n2"});
}

TEST_CASE("a node that is expected may take its own time, also where it has come and gone before the answer") {
  Names names;
  names.links.expect("old", 4);
  const auto session = names.session(1, "old", "a");
  names.links.join(session);
  for (int beat = 0; beat < 5; ++beat) names.beat();
  session->close("before the answer");
  for (int beat = 0; beat < 4; ++beat) names.beat();
  CHECK(names.lost.empty());
  names.beat();
  CHECK(names.lost == std::vector<std::string>{"old4"});
}

}  // namespace tidepool::live
