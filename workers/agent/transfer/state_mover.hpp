// What an agent does with saved states that go from node to node: it asks for them, fetches them and hands them over,
// in threads of their own. Which, when and for how long is decided elsewhere (state/state_waits.hpp).
//
// All calls come from the agent's thread, and so do all handlers: `post` takes them there.
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
    std::function<void(std::function<void()>)> post;  // runs it on the agent's thread; callable from any
    std::function<void(const api::AgentToDaemon&)> send;
    std::function<void(Fact)> feed;
    std::function<void(const std::string&)> say;  // a line for the log; from any thread
  };
  // `rate`: bytes a second of all that is sent; 0 = as fast as it goes.
  StateMover(StateFolders folders, std::int64_t rate, Handlers handlers);
  ~StateMover();
  StateMover(const StateMover&) = delete;
  StateMover& operator=(const StateMover&) = delete;

  // False: no key could be made, which the log has said; this agent moves no states.
  [[nodiscard]] bool ready() const { return key_.has_value(); }
  // Whose states these are.
  void join_cluster(const std::string& cluster);

  void ask(JobId job, std::int64_t step);
  void fetch(const api::FetchState& from);
  // What has come of it is deleted.
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
    std::atomic<bool> admitted{false};  // its ticket was good
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
  std::string host_;  // where it listens; empty = it does not yet
  int port_ = 0;

  std::mutex mutex_;  // of the three below
  Tickets tickets_;
  Pacer pacer_;
  std::condition_variable_any paced_;

  std::map<JobId, Fetching> fetches_;
  std::list<std::shared_ptr<Serving>> served_;  // of the accepting thread
  boost::asio::io_context listener_io_{1};
  std::optional<boost::asio::ip::tcp::acceptor> acceptor_;
  std::jthread listener_;  // last: it ends before what it uses
};

}  // namespace tidepool::agent
