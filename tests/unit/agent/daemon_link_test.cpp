#include "workers/agent/daemon_link.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>
#include <string>

namespace tidepool::agent {

TEST_CASE("a link to the daemon's HTTP port says that it is that, and which port is needed") {
  namespace asio = boost::asio;
  asio::io_context io(1);
  asio::ip::tcp::acceptor server(io, {asio::ip::make_address("127.0.0.1"), 0});
  asio::ip::tcp::socket accepted(io);
  const std::string answer = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
  server.async_accept(accepted, [&](boost::system::error_code) { asio::write(accepted, asio::buffer(answer)); });
  std::string told;
  DaemonLink link(io, TcpAddress{.host = "127.0.0.1", .port = std::to_string(server.local_endpoint().port())},
                  {.on_opened = [] {},
                   .on_message = [](api::DaemonToAgent) {},
                   .on_closed =
                       [&](const std::string& why) {
                         told = why;
                         io.stop();
                       }});
  link.open();
  io.run();
  CHECK_THAT(told, Catch::Contains("the daemon's HTTP port") && Catch::Contains("agents.listen"));
}

}  // namespace tidepool::agent
