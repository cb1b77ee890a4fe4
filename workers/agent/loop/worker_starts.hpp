// How workers come to be on this node: started as the daemon orders, as a program of a generation (restart_files.hpp),
// or found as an earlier agent has left them.
//
// A process runs only once the ledger has it, and a program of a generation only once its seat is written: so whatever
// an agent has started, the one after it finds.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "api/worker_protocol.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "workers/agent/agent_options.hpp"
#include "workers/agent/data_address.hpp"
#include "workers/agent/loop/jobs_here.hpp"
#include "workers/agent/loop/worker_records.hpp"
#include "workers/agent/memory_tier.hpp"
#include "workers/agent/node_slots.hpp"
#include "workers/agent/process_runner.hpp"
#include "workers/agent/program_files/length_files.hpp"
#include "workers/agent/program_files/notice_files.hpp"
#include "workers/agent/program_offers.hpp"
#include "workers/agent/state/agent_state.hpp"
#include "workers/agent/state/restartable_worker.hpp"
#include "workers/agent/system/proc_info.hpp"
#include "workers/agent/transfer/state_mover.hpp"
#include "workers/agent/worker_launch.hpp"
#include "workers/agent/worker_ledger.hpp"
#include "workers/agent/worker_logs.hpp"
#include "workers/agent/worker_rooms.hpp"

namespace tidepool::agent {

class WorkerStarts {
 public:
  // What a worker gets of its node, and what is told of its start. All of it outlives this.
  struct Parts {
    const AgentOptions& options;
    const NodeSlots& slots;
    const AgentState& state;
    const NodeAddress& address;
    const WorkerLogs& logs;
    const StateMover& states;
    WorkerLedger& ledger;
    WorkerRecords& records;
    JobsHere& jobs;
    MemoryTier& memory;
    WorkerRooms& rooms;
    NoticeFiles& notices;
    LengthFiles& lengths;
    ProcessRunner& runner;
    std::function<void()> before_start;  // the devices are the worker's from now on
  };
  explicit WorkerStarts(Parts parts);

  // On an error the caller gives back what the worker has: rooms and jobs know it already.
  [[nodiscard]] Status start(const api::StartWorker& order);
  [[nodiscard]] Status start_program(const SpawnProgram& action);

  // Where the program of that generation will be, for the others of it.
  [[nodiscard]] Result<std::string> offer(const OfferProgramAddress& action);
  void record(const RecordRestartable& action);
  // Its end is confirmed, or it has never been.
  void forget(WorkerId worker) { offers_.forget(worker); }

  // What there is of a worker of an earlier agent.
  struct Found {
    std::optional<RestartableWorker> restartable;  // it is one, and goes on, with or without a program
    std::string ended;                             // why nothing of it goes on; empty: it does
    bool nothing_started = false;                  // with `ended`: no program of it has run
    std::optional<Instant> kill_at{};              // its process has been told to end, and is ended by force then
  };
  [[nodiscard]] Found adopt(WorkerId worker);

 private:
  [[nodiscard]] LaunchPlace place_of(const api::StartWorker& order);
  [[nodiscard]] std::optional<RestartableWorker> adopt_running(const ProcessRecord& record);

  Parts node_;
  std::map<std::string, std::string> environment_ = own_environment();
  ProgramOffers offers_;
};

}  // namespace tidepool::agent
