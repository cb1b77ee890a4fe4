#include "schedulerd/live/agents/agent_listeners.hpp"

#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <type_traits>
#include <utility>

#include "api/connection_cap.hpp"

namespace tidepool::live {
namespace {

Status cannot_listen(const std::string& where, const boost::system::error_code& failed) {
  const bool elsewhere = failed == boost::system::errc::address_not_available;
  return invalid_argument("cannot listen for agents on " + where + ": " +
                          (elsewhere ? "this machine has no such address; see: ip address" : failed.message()));
}

std::string group_of(const boost::asio::ip::tcp::socket& socket) {
  boost::system::error_code failed;
  const auto remote = socket.remote_endpoint(failed);
  const auto own = failed ? boost::asio::ip::tcp::endpoint() : socket.local_endpoint(failed);
  return failed ? std::string() : api::peer_of(remote.address(), own.address()).group;
}

}  // namespace

AgentListeners::AgentListeners(boost::asio::io_context& io, Places places, OnLink on_link)
    : places_(std::move(places)),
      on_link_(std::move(on_link)),
      local_(io),
      tcp_(io),
      local_links_(local_, accept_handlers<Local::acceptor>()),
      tcp_links_(tcp_, accept_handlers<Tcp::acceptor>()) {}

template <class Acceptor>
typename api::AcceptLoop<Acceptor>::Handlers AgentListeners::accept_handlers() {
  constexpr bool kFromOutside = std::is_same_v<Acceptor, Tcp::acceptor>;
  return {.on_link =
              [this](auto socket) {
                std::string from;
                if constexpr (kFromOutside) from = group_of(socket);
                on_link_(tls::Stream(AgentSession::Socket(std::move(socket)), kFromOutside ? places_.tls : nullptr),
                         std::move(from));
              },
          .on_failure =
              [](const boost::system::error_code& failed) {
                spdlog::warn("event=agent_accept_failed why={:?}", failed.message());
              }};
}

Status AgentListeners::bind() {
  TP_TRY(bind_local());
  return places_.tcp ? bind_tcp(*places_.tcp) : ok_status();
}

Status AgentListeners::bind_local() {
  const std::string& path = places_.socket_path;
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    return invalid_argument("the agents' socket " + path + " has " + std::to_string(path.size()) + " characters, " +
                            std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
                            " are possible; choose a shorter --state-dir");
  }
  ::unlink(path.c_str());  // left by a daemon that was killed; the directory's lock is ours
  boost::system::error_code failed;
  const mode_t before = ::umask(0177);  // the socket is private from the start
  local_.open({}, failed);
  if (!failed) local_.bind(Local::endpoint(path), failed);
  ::umask(before);
  if (!failed) local_.listen(boost::asio::socket_base::max_listen_connections, failed);
  return failed ? cannot_listen(path, failed) : ok_status();
}

Status AgentListeners::bind_tcp(const Endpoint& wanted) {
  boost::system::error_code failed;
  const std::string where = wanted.host + ":" + std::to_string(wanted.port);
  const auto address = boost::asio::ip::make_address(wanted.host, failed);
  if (failed) return cannot_listen(where, failed);
  const Tcp::endpoint endpoint(address, wanted.port);
  tcp_.open(endpoint.protocol(), failed);
  if (!failed) tcp_.set_option(boost::asio::socket_base::reuse_address(true), failed);
  if (!failed) tcp_.bind(endpoint, failed);
  if (!failed) tcp_.listen(boost::asio::socket_base::max_listen_connections, failed);
  if (failed) return cannot_listen(where, failed);
  tcp_port_ = tcp_.local_endpoint().port();
  return ok_status();
}

void AgentListeners::start() {
  local_links_.start();
  if (places_.tcp) tcp_links_.start();
}

void AgentListeners::stop() {
  local_links_.stop();
  tcp_links_.stop();
}

}  // namespace tidepool::live
