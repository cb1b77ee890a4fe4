// Nodes whose workers are played: the agent's side of the worker protocol against a real daemon, with no process behind
// a worker. Each worker is ready at once and its job runs for as many milliseconds as its command's second word says,
// then all its workers exit; one that is ended early says so at once. One thread of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "api/worker_protocol.hpp"

namespace tidepool::bench {

class PlayedNodes {
 public:
  using Clock = std::chrono::steady_clock;
  struct Shape {
    int nodes = 1;
    int slots = 1;  // of each
  };
  // `begun`: the job with this number (its command's third word) has begun to step. Returns when all nodes are welcome.
  PlayedNodes(const std::filesystem::path& state_dir, Shape shape, std::function<void(std::size_t)> begun);
  ~PlayedNodes();
  PlayedNodes(const PlayedNodes&) = delete;
  PlayedNodes& operator=(const PlayedNodes&) = delete;

  [[nodiscard]] std::int64_t finished() const { return finished_; }        // jobs that ran to their end
  [[nodiscard]] std::int64_t ended_early() const { return ended_early_; }  // workers that were told to leave

 private:
  class Link;
  struct Worker {
    Link* link = nullptr;
    JobId job;
    GenerationNumber generation = 0;  // that it is joining or in
  };
  struct Run {
    std::chrono::milliseconds length{0};
    std::size_t number = 0;
    std::vector<WorkerId> members;  // empty: they have been told to leave, or have not met
    std::unique_ptr<boost::asio::steady_timer> timer;
  };

  void on(Link& link, const api::AgentWelcome& welcome);
  void on(Link& link, const api::StartWorker& order);
  void on(Link& link, const api::StopWorker& order);
  void on(Link& link, const api::ToWorkerOrder& order);
  void join(WorkerId worker, const api::GenerationMessage& generation);
  void park(WorkerId worker);
  void begin(WorkerId worker, const api::AddressesMessage& addresses);
  void finish(JobId job, GenerationNumber generation);
  void say(WorkerId worker, api::FromWorker message);
  void exit(WorkerId worker);

  boost::asio::io_context context_;
  std::function<void(std::size_t)> begun_;
  std::vector<std::unique_ptr<Link>> links_;
  std::map<WorkerId, Worker> workers_;
  std::map<JobId, Run> runs_;
  std::uint64_t reports_ = 0;
  int welcome_ = 0;
  std::atomic<std::int64_t> finished_ = 0;
  std::atomic<std::int64_t> ended_early_ = 0;
  std::thread thread_;
};

}  // namespace tidepool::bench
