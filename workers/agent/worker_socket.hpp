// The Unix socket where workers speak to their agent. Only processes of the agent's own user get in, and
// only under the id of a worker that lives here. Messages for a worker that is not connected yet wait
// for it, so that none is lost while it boots or connects again.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "api/accept_loop.hpp"
#include "api/worker_protocol.hpp"
#include "base/result.hpp"
#include "workers/agent/line_stream.hpp"

namespace tidepool::agent {

class WorkerSocket {
 public:
  struct Handlers {
    std::function<bool(WorkerId)> lives;
    std::function<void(WorkerId, api::FromWorker)> on_message;
    std::function<void(WorkerId, api::PulseMessage)> on_pulse;
    std::function<void(WorkerId)> on_hung_up;                     // by the worker itself
    std::function<void(const std::string& sentence)> on_trouble;  // for the log
  };
  WorkerSocket(boost::asio::io_context& io, Handlers handlers);

  [[nodiscard]] Status listen(const std::filesystem::path& path);
  void send(WorkerId worker, const api::ToWorker& message);
  // Ends each link on our side; what a worker still sends on it is read, and it connects again by itself.
  void close_links();
  // Calls `done` once everything that an ended worker had said has been read, or after two seconds.
  void when_drained(WorkerId worker, std::function<void()> done);
  // Drops what waits for it.
  void forget(WorkerId worker);

 private:
  using Stream = std::shared_ptr<LineStream>;
  struct Drain;

  void accept_waiting();
  void admit(boost::asio::local::stream_protocol::socket socket);
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
  std::set<Stream> unknown_links_;  // have not said hello yet
  std::map<WorkerId, Stream> links_;
  std::map<Stream, WorkerId> leaving_;  // ended or replaced links, read to their end
  std::map<WorkerId, std::deque<std::string>> waiting_;
  std::map<WorkerId, std::shared_ptr<Drain>> drains_;
};

}  // namespace tidepool::agent
