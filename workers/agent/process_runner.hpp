// The worker processes of this agent: starts, signals and reaps them, and adopts those that an earlier agent started. A
// signal always goes to the whole group. When the leader has ended, the rest of its group is killed, so that no
// forgotten child keeps a GPU.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "workers/agent/system/child_process.hpp"
#include "workers/agent/worker_ledger.hpp"

namespace tidepool::agent {

struct ProcessEnd {
  WorkerId worker;
  int exit_code = -1;
  int signal = 0;
  bool known = true;          // false: it ended while adopted, and the kernel could not report how
  std::string detail{};       // why the process never became its program; empty if it did
  bool agent_failed = false;  // it never did because the agent lacked something, such as space on its disk
};

// The end of a worker whose program could not be started.
[[nodiscard]] ProcessEnd not_started(WorkerId worker, const Error& why);

class ProcessRunner {
 public:
  ProcessRunner(boost::asio::io_context& io, std::function<void(const ProcessEnd&)> on_end);

  // `record` receives the process before it runs and must make it durable; see start_child for the errors.
  [[nodiscard]] Status start(const ProcessRecord& identity, const ChildSpec& spec,
                             const std::function<Status(const ProcessRecord&)>& record);

  // Watches a process that an earlier agent started. Returns false if that process has ended; then the rest of its
  // group has been killed.
  [[nodiscard]] bool adopt(const ProcessRecord& record);

  void signal(WorkerId worker, int signal);
  [[nodiscard]] std::vector<WorkerId> workers() const;

 private:
  struct Running {
    ProcessRecord record;
    bool ours = true;  // a child of this agent: waitid can reap it
    std::unique_ptr<boost::asio::posix::stream_descriptor> pidfd;
    std::optional<OpenStart> start;
  };

  Running& watch(const ProcessRecord& record, UniqueFd pidfd, bool ours);
  void on_ended(WorkerId worker);
  [[nodiscard]] static ProcessEnd reap(const Running& running);

  boost::asio::io_context& io_;
  std::function<void(const ProcessEnd&)> on_end_;
  std::string boot_id_;
  std::map<WorkerId, Running> running_;
};

}  // namespace tidepool::agent
