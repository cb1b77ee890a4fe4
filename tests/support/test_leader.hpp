// Plays the daemon's and the agent's side of the worker protocol for tests, over a real Unix socket and
// with real processes. One thread: the test calls run_until(), which moves everything forward.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/worker_protocol.hpp"
#include "base/ids.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::test {

// What a worker process needs to reach the leader.
struct WorkerPlace {
  WorkerId worker;
  std::string socket_path;
};

class TestLeader {
 public:
  // Runs in the child; its value is the exit code.
  using Program = std::function<int(const WorkerPlace&)>;

  explicit TestLeader(Program program);
  ~TestLeader();
  TestLeader(const TestLeader&) = delete;
  TestLeader& operator=(const TestLeader&) = delete;

  // Forks a worker. It is a member only after a commit() that names it.
  WorkerId spawn();
  // The next generation; sent to its members and to those of the one before.
  void commit(std::vector<WorkerId> members, bool after_failure = false);
  // The last generation: all members keep the state and leave.
  void park(bool after_failure = false);
  void order_checkpoint();
  // The next share table of the newest generation, by rank.
  void share(std::vector<std::int64_t> weights);
  // From now on deaths are only written down; the test says what follows.
  void leave_deaths_alone() { heals_ = false; }
  void kill(WorkerId worker);
  void signal(WorkerId worker, int signal_number);
  // Closes all links; while away, no worker is accepted again.
  void go_away();
  void come_back();
  // What a restart of the daemon does to a build: the addresses are lost, the generation is told again.
  void forget_addresses() { addresses_.clear(); }
  void repeat_generation();

  // Serves links and reaps processes until `done` holds; false after `timeout_ms`.
  [[nodiscard]] bool run_until(const std::function<bool()>& done, int timeout_ms = 20'000);

  [[nodiscard]] const std::vector<WorkerId>& members() const { return members_; }
  [[nodiscard]] GenerationNumber generation() const { return generation_; }
  [[nodiscard]] bool ready(WorkerId worker) const { return ready_.contains(worker); }
  [[nodiscard]] bool alive(WorkerId worker) const { return processes_.contains(worker); }
  [[nodiscard]] std::size_t living() const { return processes_.size(); }
  [[nodiscard]] std::size_t addresses_known() const { return addresses_.size(); }
  // Exit codes of those that ended by themselves; 128 + n for signal n.
  [[nodiscard]] const std::map<WorkerId, int>& exits() const { return exits_; }
  // The newest pulse of a worker, if one has come.
  [[nodiscard]] std::optional<api::PulseMessage> pulse(WorkerId worker) const;
  [[nodiscard]] pid_t pid(WorkerId worker) const { return processes_.at(worker); }

  // Everything that came, in order of arrival.
  template <class Message>
  [[nodiscard]] std::vector<Message> received() const {
    std::vector<Message> found;
    for (const auto& message : messages_) {
      if (const auto* wanted = std::get_if<Message>(&message)) found.push_back(*wanted);
    }
    return found;
  }

 private:
  struct Link {
    WorkerId worker;
    api::LineBuffer lines;
  };

  void announce(std::vector<WorkerId> members, bool after_failure, bool park);
  void listen();
  void pump(int wait_ms);
  void accept_link();
  void read_link(int fd);
  void handle(int fd, const std::string& line);
  void welcome_back(WorkerId worker);
  void collect(const api::AddressMessage& address);
  void reap();
  void send(WorkerId worker, const api::ToWorker& message);

  Program program_;
  TemporaryFolder folder_;
  int listener_ = -1;
  std::map<int, Link> links_;
  std::map<WorkerId, pid_t> processes_;
  std::map<WorkerId, int> exits_;
  std::set<WorkerId> ready_;
  std::map<WorkerId, api::PulseMessage> pulses_;
  std::vector<api::FromWorker> messages_;
  std::uint64_t last_worker_ = 0;
  GenerationNumber generation_ = 0;
  std::vector<WorkerId> members_;
  bool after_failure_ = false;
  bool park_ = false;
  bool heals_ = true;
  std::set<WorkerId> audience_;  // of the newest generation
  std::map<int, std::string> addresses_;
  std::optional<api::SharesMessage> shares_;  // newest of the generation
};

}  // namespace tidepool::test
