// The worker's end of the Unix socket to the agent of its node. It runs a thread of its own, which receives generations
// and addresses for the Membership board, sends reports and sends the agent pulses.
//
// Losing the agent or the daemon never stops training. The link reconnects on its own, says hello and `ready` again,
// and repeats what the daemon may have lost: an address, the newest audits and the end (the daemon keeps the first of
// each). The link ends once the agent has read everything; it knows this because the agent closes its end after the
// worker does. If an agent dies before that, the link sends all of it to the next agent.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "api/worker_protocol.hpp"
#include "base/ids.hpp"
#include "workers/runtime/comm/clock.hpp"
#include "workers/runtime/membership.hpp"
#include "workers/runtime/notice_board.hpp"
#include "workers/runtime/pulse_board.hpp"

namespace tidepool::runtime {

// How many of the newest epochs' audits are repeated: more than a job of short epochs completes while the loss of a
// node is being detected.
inline constexpr std::size_t kAuditsRepeated = 64;

struct AgentLinkOptions {
  std::string socket_path;
  WorkerId worker;
  Millis backoff_first{20};
  Millis backoff_max{1'000};
  Millis flush_at_end{5'000};  // how long the destructor waits for the agent to read everything
  // Messages kept while the agent is away; above that the oldest `steps` are dropped first.
  std::size_t queue_max = 1'024;
  // How long the training is, as `ready` reports it; at most one of the two is set.
  std::optional<std::int64_t> work_steps = std::nullopt;
  std::optional<std::int64_t> work_samples = std::nullopt;
  bool hears_notices = false;  // the agent's version supports notices
};

class AgentLink {
 public:
  // The boards that the link's thread writes for the worker, and the one that it reads.
  struct Boards {
    Membership& membership;
    const PulseBoard& pulse;
    NoticeBoard& notices;
  };
  // Starts connecting; the boards must outlive the link.
  AgentLink(AgentLinkOptions options, Boards boards);
  ~AgentLink();
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;

  // From any thread; never blocks.
  void send(const api::FromWorker& message);

  // Sends the address on which this rank listens. Sends it again after a reconnect, and when the daemon repeats the
  // generation, until all addresses have arrived.
  void send_address(api::AddressMessage message);

  // The generation that the worker is in; `ready` reports it after each reconnect.
  void set_generation(GenerationNumber generation);

 private:
  void run();
  void serve(int fd);
  [[nodiscard]] int connect_once() const;
  [[nodiscard]] bool pause(Millis backoff);
  void queue_greeting();
  [[nodiscard]] bool reconnects();
  [[nodiscard]] bool has_said_all();
  [[nodiscard]] bool is_over() const { return ending_ && queue_.empty() && !connected_ && !unread_; }
  void drop_oldest_steps();
  [[nodiscard]] bool write_some(int fd);
  [[nodiscard]] bool read_some(int fd, api::LineBuffer& lines);
  void repeat_address(GenerationNumber generation);
  [[nodiscard]] bool handle(const std::string& line);
  void queue_pulse();
  void wake() const;

  enum class Kind { kOther, kSteps, kPulse };
  struct Outgoing {
    std::string line;
    Kind kind = Kind::kOther;
  };

  AgentLinkOptions options_;
  Membership& membership_;
  const PulseBoard& pulse_;
  NoticeBoard& notices_;
  TimePoint next_pulse_;  // used by the link's thread only
  int wake_fd_ = -1;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Outgoing> queue_;
  std::size_t written_ = 0;   // bytes of the first line that are already written
  std::size_t greeting_ = 0;  // lines at the front that belong to this connection only
  std::optional<api::AddressMessage> address_;
  std::deque<api::EpochAuditedMessage> audits_;  // the newest, oldest first
  std::optional<api::FinishedMessage> finished_;
  GenerationNumber generation_ = 0;
  bool connected_ = false;
  bool unread_ = false;    // the connection broke before the agent had read what was sent
  bool ending_ = false;    // nothing more will be sent
  bool stopping_ = false;  // ends the thread even if the agent has not read everything
  std::thread thread_;
};

}  // namespace tidepool::runtime
