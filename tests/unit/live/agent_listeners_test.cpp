#include "schedulerd/live/agents/agent_listeners.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.hpp"

namespace tidepool::live {
namespace {

namespace asio = boost::asio;

void ignore(const tls::Stream<AgentSession::Socket>&, const std::string&) {}

}  // namespace

TEST_CASE("the agents' socket replaces one that was left, and is its owner's alone") {
  const test::TemporaryFolder folder;
  const auto path = folder / "agent.sock";
  std::ofstream(path) << "left";
  asio::io_context io(1);
  AgentListeners listeners(io, {.socket_path = path.string(), .tcp = {}, .tls = {}}, ignore);
  REQUIRE(listeners.bind().ok());
  const auto status = std::filesystem::status(path);
  CHECK(status.type() == std::filesystem::file_type::socket);
  using std::filesystem::perms;
  CHECK((status.permissions() & (perms::group_all | perms::others_all)) == perms::none);
  CHECK(listeners.tcp_port() == 0);
}

TEST_CASE("what cannot be listened on is refused with what to do") {
  const test::TemporaryFolder folder;
  asio::io_context io(1);
  const std::string long_path = (folder / std::string(200, 'x')).string();
  AgentListeners too_long(io, {.socket_path = long_path, .tcp = {}, .tls = {}}, ignore);
  CHECK_THAT(too_long.bind().error().message, Catch::Contains("choose a shorter --state-dir"));

  AgentListeners nowhere(io, {.socket_path = (folder / "a.sock").string(), .tcp = Endpoint{"no address", 1}, .tls = {}},
                         ignore);
  CHECK_THAT(nowhere.bind().error().message, Catch::Contains("cannot listen for agents on no address:1"));
}

TEST_CASE("a link over TCP says from where it comes, one over the Unix socket is of this machine") {
  const test::TemporaryFolder folder;
  asio::io_context io(1);
  std::vector<std::string> from;
  const auto path = (folder / "agent.sock").string();
  AgentListeners listeners(io, {.socket_path = path, .tcp = Endpoint{"127.0.0.1", 0}, .tls = {}},
                           [&](const tls::Stream<AgentSession::Socket>&, const std::string& group) {
                             from.push_back(group);
                             io.stop();
                           });
  REQUIRE(listeners.bind().ok());
  listeners.start();
  const auto knock = [&](auto endpoint) {
    typename decltype(endpoint)::protocol_type::socket link(io);
    link.connect(endpoint);
    io.restart();
    io.run();
  };
  knock(asio::local::stream_protocol::endpoint(path));
  knock(asio::ip::tcp::endpoint(asio::ip::make_address("127.0.0.1"), listeners.tcp_port()));
  REQUIRE(from.size() == 2);
  CHECK(from[0].empty());
  CHECK_FALSE(from[1].empty());
  listeners.stop();
}

}  // namespace tidepool::live
