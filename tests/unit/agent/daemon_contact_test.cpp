#include "workers/agent/loop/daemon_contact.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace tidepool::agent {

TEST_CASE("a node says hello with its name and address, and takes what is for its certificate itself") {
  namespace asio = boost::asio;
  asio::io_context io(1);
  asio::ip::tcp::acceptor server(io, {asio::ip::make_address("127.0.0.1"), 0});
  asio::ip::tcp::socket accepted(io);
  const std::string answer = api::encode(api::DaemonToAgent(api::TrustedAuthorities{{std::string(64, 'a')}})) +
                             api::encode(api::DaemonToAgent(api::AgentWelcome{.node = NodeId(4), .cluster = "c"}));
  std::string said;
  server.async_accept(accepted, [&](boost::system::error_code) {
    asio::async_read_until(accepted, asio::dynamic_buffer(said), '\n', [&](boost::system::error_code, std::size_t) {
      asio::write(accepted, asio::buffer(answer));
    });
  });

  AgentOptions options;
  options.node = "n1";
  options.daemon = TcpAddress{.host = "127.0.0.1", .port = std::to_string(server.local_endpoint().port())};
  std::vector<api::DaemonToAgent> heard;
  std::string why_closed;
  DaemonContact* here = nullptr;
  DaemonContact contact(io, options,
                        {.on_opened = [&] { here->send_hello_once({.slots = 2, .slot_type = "cpu"}); },
                         .on_message =
                             [&](api::DaemonToAgent message) {
                               heard.push_back(std::move(message));
                               CHECK(here->finish());
                             },
                         .on_closed = [&](const std::string& why) { why_closed = why; }});
  here = &contact;
  contact.open();
  io.run();

  const auto message = api::decode_agent_to_daemon(said.substr(0, said.find('\n')));
  REQUIRE(message.ok());
  const auto& hello = std::get<api::AgentHello>(*message);
  CHECK(hello.node == "n1");
  CHECK(hello.data_address == "127.0.0.1");
  CHECK_FALSE(hello.follows_authorities.has_value());
  REQUIRE(heard.size() == 1);
  CHECK(std::holds_alternative<api::AgentWelcome>(heard.front()));
  CHECK(why_closed == "this agent ends");
}

}  // namespace tidepool::agent
