// The worker's end of the Unix socket to the agent of its node, with a thread of its own. It receives
// generations and addresses for the Membership board, sends reports, and gives the agent a pulse.
//
// Losing the agent or the daemon never stops training: the link comes back by itself, says hello and
// `ready` again, and repeats what the daemon may have lost: an address, the newest audits and the end (it keeps the
// first of each). The link ends once the agent has read all of it, known by the agent's closing after ours; if an
// agent dies before, the next one is sent it again.
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

// Of the newest epochs: more than a short epoch leaves behind while a node is found to be lost.
inline constexpr std::size_t kAuditsRepeated = 64;

struct AgentLinkOptions {
  std::string socket_path;
  WorkerId worker;
  Millis backoff_first{20};
  Millis backoff_max{1'000};
  Millis flush_at_end{5'000};     // how long the destructor waits for the agent to read everything
  std::size_t queue_max = 1'024;  // messages kept while the agent is away; beyond it `steps` are dropped first
  // How long the training is, as `ready` tells it; at most one of them.
  std::optional<std::int64_t> work_steps = std::nullopt;
  std::optional<std::int64_t> work_samples = std::nullopt;
  bool hears_notices = false;  // the agent is of a version that knows them
};

class AgentLink {
 public:
  // What the link's thread tells the worker, and what it reads of it.
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

  // Sends where this rank listens; again after a reconnect, and when the daemon tells the generation again,
  // until all addresses have come.
  void send_address(api::AddressMessage message);

  // The generation that the worker is in, told with `ready` after each reconnect.
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
  TimePoint next_pulse_;  // of the link's thread
  int wake_fd_ = -1;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Outgoing> queue_;
  std::size_t written_ = 0;   // bytes of the first line that are out already
  std::size_t greeting_ = 0;  // lines at the front that belong to this connection only
  std::optional<api::AddressMessage> address_;
  std::deque<api::EpochAuditedMessage> audits_;  // the newest, oldest first
  std::optional<api::FinishedMessage> finished_;
  GenerationNumber generation_ = 0;
  bool connected_ = false;
  bool unread_ = false;    // the connection broke before the agent had read what was sent
  bool ending_ = false;    // nothing more will be sent
  bool stopping_ = false;  // whether what was sent is read or not
  std::thread thread_;
};

}  // namespace tidepool::runtime
