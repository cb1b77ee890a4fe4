// Regularly cuts the logs of living workers to their size limits.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "workers/agent/process_runner.hpp"
#include "workers/agent/worker_logs.hpp"

namespace tidepool::agent {

class LogCuts {
 public:
  // Both must outlive it.
  LogCuts(boost::asio::io_context& io, WorkerLogs& logs, const ProcessRunner& runner)
      : timer_(io), logs_(logs), runner_(runner) {}

  void start();

 private:
  void cut();

  boost::asio::steady_timer timer_;
  WorkerLogs& logs_;
  const ProcessRunner& runner_;
  bool trouble_told_ = false;
};

}  // namespace tidepool::agent
