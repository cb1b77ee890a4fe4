// Moves saved states between nodes: requests, fetches and sends them, in threads of its own. state/state_waits.hpp
// decides which, when and for how long.
//
// All calls come from the agent's thread; all handlers run there too, through `post`.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "api/worker_protocol.hpp"
#include "workers/agent/state/agent_state.hpp"
#include "workers/agent/transfer/pacing.hpp"
#include "workers/agent/transfer/saved_files.hpp"
#include "workers/agent/transfer/sending.hpp"
#include "workers/agent/transfer/tickets.hpp"
#include "workers/agent/transfer/transfer_key.hpp"

namespace tidepool::agent {

class StateMover {
 public:
  struct Handlers {
    std::function<void(std::function<void()>)> post;  // runs it on the agent's thread; callable from any thread
    std::function<void(const api::AgentToDaemon&)> send;
    std::function<void(Fact)> feed;
    std::function<void(const std::string&)> say;  // receives a line for the log; from any thread
  };
  // `rate`: bytes per second of everything that is sent; 0 = no limit.
  StateMover(StateFolders folders, std::int64_t rate, Handlers handlers);
  ~StateMover();
  StateMover(const StateMover&) = delete;
  StateMover& operator=(const StateMover&) = delete;

  // False: no key could be made, as the log says; this agent moves no states.
  [[nodiscard]] bool ready() const { return key_.has_value(); }
  // Sets the cluster that the states belong to.
  void join_cluster(const std::string& cluster);

  void ask(JobId job, std::int64_t step);
  void fetch(const api::FetchState& from);
  // Stops the fetch and deletes what it has received.
  void abandon(JobId job);
  // `host`: the address of this node at which the other agent can reach it.
  void offer(const api::OfferState& order, const std::string& host);
  [[nodiscard]] Status deliver(JobId job, const std::filesystem::path& folder, uid_t owner) const {
    return files().deliver(job, folder, owner);
  }

 private:
  struct Fetching {
    std::uint64_t number = 0;
    std::jthread thread;
  };
  struct Serving {
    std::atomic<bool> over{false};
    std::atomic<bool> admitted{false};  // its ticket was valid
    std::jthread thread;
  };

  [[nodiscard]] SavedFiles files() const { return {folders_, cluster_}; }
  [[nodiscard]] Result<std::int64_t> run_fetch(const api::FetchState& from, const SavedFiles& files,
                                               std::uint64_t number, const std::stop_token& stop);
  void end_fetch(JobId job, std::uint64_t number, std::int64_t step, const Result<std::int64_t>& outcome);
  [[nodiscard]] Status listen(const std::string& host);
  void accept(const std::stop_token& stop);
  void serve(int accepted, const std::string& cluster);
  [[nodiscard]] bool pace(std::int64_t bytes, const std::stop_token& stop);
  [[nodiscard]] bool is_current(JobId job, std::uint64_t number) const;

  StateFolders folders_;
  Handlers handlers_;
  std::string cluster_;
  std::optional<TransferKey> key_;
  std::uint64_t next_fetch_ = 1;
  std::string host_;  // on which it listens; empty = not listening yet
  int port_ = 0;

  std::mutex mutex_;  // guards the three members below
  Tickets tickets_;
  Pacer pacer_;
  std::condition_variable_any paced_;

  std::map<JobId, Fetching> fetches_;
  std::list<std::shared_ptr<Serving>> served_;  // used by the accepting thread
  boost::asio::io_context listener_io_{1};
  std::optional<boost::asio::ip::tcp::acceptor> acceptor_;
  std::jthread listener_;  // last: it ends before what it uses
};

}  // namespace tidepool::agent
