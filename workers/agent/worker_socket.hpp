// The Unix socket on which workers talk to their agent. Only processes of a worker's own user are accepted under its
// id, and only while the worker lives here. Messages for a worker that is not connected wait for it, so that none is
// lost while it starts or reconnects.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "api/accept_loop.hpp"
#include "api/worker_protocol.hpp"
#include "base/result.hpp"
#include "workers/agent/line_stream.hpp"

namespace tidepool::agent {

// A connection must say within this time which worker it is; the runtime does so as soon as it has connected.
inline constexpr auto kHelloPatience = std::chrono::seconds(30);

class WorkerSocket {
 public:
  struct Handlers {
    // The user that the worker runs as; none: it does not live here.
    std::function<std::optional<uid_t>(WorkerId)> user_of;
    std::function<void(WorkerId, api::FromWorker)> on_message;
    std::function<void(WorkerId, api::PulseMessage)> on_pulse;
    std::function<void(WorkerId)> on_hung_up;  // the worker closed the link
    std::function<void(const std::string& source, const std::string& sentence)> on_trouble;  // as TroubleLog::warn
  };
  WorkerSocket(boost::asio::io_context& io, Handlers handlers,
               std::chrono::steady_clock::duration hello_patience = kHelloPatience);

  [[nodiscard]] Status listen(const std::filesystem::path& path);
  // Listens at sock/w.sock: each confined worker sees that folder, so it also finds the socket of the next agent. For
  // other workers the socket is at w.sock.
  [[nodiscard]] Status listen_in(const std::filesystem::path& state_dir);
  void send(WorkerId worker, const api::ToWorker& message);
  // Closes each link on the agent's side; what a worker still sends on it is read, and the worker reconnects on its
  // own.
  void close_links();
  // Calls `done` once everything that an ended worker sent has been read, or after two seconds.
  void when_drained(WorkerId worker, std::function<void()> done);
  // Drops the messages that wait for the worker.
  void forget(WorkerId worker);

 private:
  using Stream = std::shared_ptr<LineStream>;
  struct Drain;
  // A connection that has not said hello yet.
  struct Unknown {
    uid_t user;
    boost::asio::steady_timer deadline;
  };

  void accept_waiting();
  void admit(boost::asio::local::stream_protocol::socket socket);
  void expect_hello(const Stream& stream, uid_t user);
  void greet(const Stream& stream, const std::string& line);
  void on_message(const Stream& stream, const std::string& line);
  void retire(WorkerId worker);
  [[nodiscard]] WorkerId speaker(const Stream& stream) const;
  [[nodiscard]] bool connected(WorkerId worker) const;
  void lost(const Stream& stream);
  void look_at_drains();

  boost::asio::io_context& io_;
  Handlers handlers_;
  boost::asio::local::stream_protocol::acceptor acceptor_;
  api::AcceptLoop<boost::asio::local::stream_protocol::acceptor> arriving_;
  std::chrono::steady_clock::duration hello_patience_;
  std::map<Stream, Unknown> unknown_links_;
  std::map<WorkerId, Stream> links_;
  std::set<WorkerId> hearing_;          // workers whose library supports notices to leave
  std::map<Stream, WorkerId> leaving_;  // ended or replaced links, read to their end
  std::map<WorkerId, std::deque<std::string>> waiting_;
  std::map<WorkerId, std::shared_ptr<Drain>> drains_;
};

}  // namespace tidepool::agent
