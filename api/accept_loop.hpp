// Accepts links on a listening socket until it is stopped. After a failure it pauses: most likely the process is out of
// descriptors, and until others are closed it would fail again at once, and as fast as the machine can.
// Everything happens on the acceptor's executor. The loop's owner outlives its callbacks, or the io_context that would
// run them.
#pragma once

#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <functional>
#include <utility>

namespace tidepool::api {

inline constexpr std::chrono::milliseconds kAcceptPause{100};

// `Acceptor`: of Boost.Asio, for TCP or local sockets. It is opened, bound and listening before start().
template <class Acceptor>
class AcceptLoop {
 public:
  using Socket = typename Acceptor::protocol_type::socket;
  struct Handlers {
    std::function<void(Socket)> on_link;
    std::function<void(const boost::system::error_code&)> on_failure;  // for the log; the loop goes on by itself
  };

  AcceptLoop(Acceptor& acceptor, Handlers handlers)
      : acceptor_(acceptor), pause_(acceptor.get_executor()), handlers_(std::move(handlers)) {}

  void start() {
    acceptor_.async_accept([this](boost::system::error_code failed, Socket socket) {
      if (failed == boost::asio::error::operation_aborted || !acceptor_.is_open()) return;
      if (!failed) {
        handlers_.on_link(std::move(socket));
        return start();
      }
      handlers_.on_failure(failed);
      pause_.expires_after(kAcceptPause);
      pause_.async_wait([this](boost::system::error_code cancelled) {
        if (!cancelled && acceptor_.is_open()) start();
      });
    });
  }

  // Closes the acceptor; nothing is called after this but for what is under way.
  void stop() {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
  }

 private:
  Acceptor& acceptor_;
  boost::asio::steady_timer pause_;  // after a failure
  Handlers handlers_;
};

}  // namespace tidepool::api
