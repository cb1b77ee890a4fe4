// How workers get onto this node: started by order of the daemon, started as a program of a generation
// (restart_files.hpp), or adopted from an earlier agent.
//
// A process runs only after the ledger has recorded it, and a program of a generation only after its seat is written:
// so the next agent finds everything that an agent has started.
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
  // What a worker gets from its node, and what is notified of its start. All of it must outlive this object.
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
    std::function<void()> before_start;  // called before the devices become the worker's
  };
  explicit WorkerStarts(Parts parts);

  // On an error the caller releases what the worker has: rooms and jobs already contain it.
  [[nodiscard]] Status start(const api::StartWorker& order);
  [[nodiscard]] Status start_program(const SpawnProgram& action);

  // The address of the worker's program in that generation, for the other ranks.
  [[nodiscard]] Result<std::string> offer(const OfferProgramAddress& action);
  void record(const RecordRestartable& action);
  // Call when the worker's end is confirmed, or when it never existed.
  void forget(WorkerId worker) { offers_.forget(worker); }

  // What was found of a worker of an earlier agent.
  struct Found {
    std::optional<RestartableWorker> restartable;  // set if it is restartable and continues, with or without a program
    std::string ended;                             // why nothing of it continues; empty: it continues
    bool nothing_started = false;                  // with `ended`: no program of it has run
    std::optional<Instant> kill_at{};              // its process was asked to end, and will be killed then
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
