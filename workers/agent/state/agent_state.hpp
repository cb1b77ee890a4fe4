// What an agent knows and decides, without a process, socket or clock: facts go in, actions come out. Safety: a worker
// id is spawned at most once in the life of a state directory (kOutcomesKept), and an exit is reported until the daemon
// has acknowledged it. The caller carries out the actions in order, so a Record action is durable before the action
// that relies on it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "api/worker_protocol.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"
#include "base/token_bucket.hpp"
#include "workers/agent/state/device_probe.hpp"
#include "workers/agent/state/link_state.hpp"
#include "workers/agent/state/outbox.hpp"
#include "workers/agent/state/restartable_worker.hpp"
#include "workers/agent/state/state_waits.hpp"

namespace tidepool::agent {

// Number of ended workers whose outcome an agent remembers, however long it runs.
inline constexpr std::size_t kOutcomesKept = 100'000;

// What the state directory contains from earlier runs.
struct RecordedWorkers {
  std::string cluster;                                // the cluster of these records; empty = none yet
  std::set<WorkerId> started;                         // ended or not
  std::map<WorkerId, std::int64_t> starts;            // StartWorker::started_at of workers whose order had it
  std::map<WorkerId, api::WorkerExitedReport> exits;  // of workers that have ended
  std::set<WorkerId> unacknowledged;                  // exits that the daemon has not confirmed
  std::uint64_t next_report = 1;

  // Started and not known to have ended.
  [[nodiscard]] std::set<WorkerId> open() const;
  // Removes the worker, as if it had never been here.
  void forget(WorkerId worker);
  // The daemon has recorded the worker's exit permanently. Only the outcome is kept, to answer a repeated `start`; the
  // oldest outcomes above `kept` are dropped, because no daemon goes that far back.
  void confirm(WorkerId worker, std::size_t kept = kOutcomesKept);
};

// --- facts --------------------------------------------------------------------------------------
struct LinkOpened {};
struct LinkClosed {
  std::string why;
};
struct DaemonMessageReceived {
  api::DaemonToAgent message;
};
struct WorkerMessageReceived {
  WorkerId worker;
  api::FromWorker message;
};
struct WorkerPulseReceived {
  WorkerId worker;
  api::PulseMessage pulse;
};
// The worker has closed its link: it sends no more pulses, and none are expected.
struct WorkerHungUp {
  WorkerId worker;
};
// A process has been reaped, or could not be started.
struct WorkerEnded {
  WorkerId worker;
  int exit_code = -1;
  int signal = 0;
  std::string detail;
  bool nothing_started = false;  // no program ran, because the agent lacked something, such as space on its disk
};
// The worker's process has ended, but its slots have not become free for so long that the daemon is notified.
struct SlotsStillHeld {
  WorkerEnded ended;
  std::string why;
  Duration lasted;  // since the process ended
};
// An earlier agent started the program of this restartable worker, and it is still running.
struct RestartableAdopted {
  RestartableWorker restartable;
};
// An earlier agent asked this worker's process to end, and it is still running: it will be killed at kill_at.
struct EndingAdopted {
  WorkerId worker;
  Instant kill_at;
};
// The node's devices have been measured, before the node joined or at the daemon's request.
struct DevicesProbed {
  api::ProbedReport report;
};
// The state of the node's source of notices; only an agent that has a source sends this fact.
struct ReclaimLooked {
  std::optional<Instant> at;  // when the machine is reclaimed; none: there is no notice
};
// For a state that workers of the job wait for: more of it has arrived, all of it is here, or an attempt has failed.
struct StateBytesCame {
  JobId job;
};
struct StateIsHere {
  JobId job;
  std::int64_t step = 0;
  std::int64_t bytes = 0;
};
struct StateFetchBroke {
  JobId job;
  std::string why;
};
struct TimePassed {};
// The operator's SIGTERM. A second one while workers are being stopped kills them.
struct QuitAsked {
  bool stop_workers = false;
};
using Fact = std::variant<LinkOpened, LinkClosed, DaemonMessageReceived, WorkerMessageReceived, WorkerPulseReceived,
                          WorkerHungUp, WorkerEnded, SlotsStillHeld, RestartableAdopted, EndingAdopted, DevicesProbed,
                          ReclaimLooked, StateBytesCame, StateIsHere, StateFetchBroke, TimePassed, QuitAsked>;

// --- actions ------------------------------------------------------------------------------------
struct OpenLink {};
struct CloseLink {
  std::string why;
};
struct SendHello {
  std::vector<WorkerId> running;
  std::vector<std::int64_t> starts;  // of each running worker; 0 = not reported
};
struct SendToDaemon {
  api::AgentToDaemon message;
};
struct SendToWorker {
  WorkerId worker;
  api::ToWorker message;
};
// Makes each worker reconnect and report its generation.
struct CloseWorkerLinks {};
struct SpawnWorker {
  api::StartWorker order;
};
// The program of a restartable worker, as one rank of a generation.
struct SpawnProgram {
  api::StartWorker order;
  RestartableWorker::StartProgram what;
};
// The state of a restartable worker whose program is not running, recorded for the next agent.
struct RecordRestartable {
  api::StartWorker order;
  std::optional<api::EndedMessage> ended;  // how its program ended on its own
};
// Sends the address of the restartable worker's program in that generation; rank 0 gets a port to listen on.
struct OfferProgramAddress {
  api::StartWorker order;
  RestartableWorker::OfferAddress what;
};
struct SignalWorker {
  WorkerId worker;
  int signal = 0;
};
// The worker's process was asked to end and will be killed at kill_at; recorded for the next agent.
struct RecordEnding {
  WorkerId worker;
  Instant kill_at;
};
// For the log, as TroubleLog::warn.
struct WarnOf {
  WorkerId worker;
  std::string sentence;
};
struct ReadLog {
  api::LogRead order;
};
// The job has ended permanently: what this agent keeps of its states is deleted once no worker of it lives here.
struct DropStates {
  JobId job;
};
// Produces StateIsHere if the state is already on this node, and sends `state_wanted` if not.
struct AskForState {
  JobId job;
  std::int64_t step = 0;
};
// Fetches the state in the background, from the offset at which an earlier attempt ended.
struct FetchSavedState {
  api::FetchState from;
};
struct AbandonFetch {
  JobId job;
};
// Looks for the state and sends `state_offered` or `state_refused`.
struct OfferSavedState {
  api::OfferState order;
};
// Reports which jobs have states here, if any.
struct TellKeptJobs {};
// Measures the devices in a thread of its own and produces DevicesProbed; only while no worker is here and no other
// measurement runs.
struct ProbeDevices {};
struct RecordStarted {
  WorkerId worker;
  std::int64_t started_at = 0;  // 0: its order did not have it
};
struct RecordExit {
  api::WorkerExitedReport report;
  bool was_program = true;  // false: a restartable worker left while it had no running program
};
[[nodiscard]] std::string to_text(const RecordExit& exit);
struct RecordAck {
  WorkerId worker;
};
// Removes the records and the log of a worker from a timeline that the daemon's journal does not contain.
struct ForgetWorker {
  WorkerId worker;
};
// The present daemon belongs to another cluster than the records, which are therefore invalid.
struct ForgetRecords {
  std::string cluster;
};
struct RecordCluster {
  std::string cluster;
};
struct Quit {
  std::string why;
};
using Action =
    std::variant<OpenLink, CloseLink, SendHello, SendToDaemon, SendToWorker, CloseWorkerLinks, SpawnWorker,
                 SpawnProgram, RecordRestartable, OfferProgramAddress, SignalWorker, RecordEnding, WarnOf, ReadLog,
                 ProbeDevices, DropStates, AskForState, FetchSavedState, AbandonFetch, OfferSavedState, TellKeptJobs,
                 RecordStarted, RecordExit, RecordAck, ForgetWorker, ForgetRecords, RecordCluster, Quit>;

class AgentState {
 public:
  // Every worker in history.open() counts as living until a WorkerEnded fact for it.
  AgentState(AgentTimes times, RecordedWorkers history, std::uint64_t seed, Instant now);

  [[nodiscard]] std::vector<Action> step(Instant now, Fact fact);

  // When the next TimePassed is due; nothing if only other facts can change anything. It scans every worker after each
  // fact: at one pulse per second that is 0.02 % of a core with 64 workers, and 2 % with 1,024.
  [[nodiscard]] std::optional<Instant> deadline() const;
  [[nodiscard]] bool lives(WorkerId worker) const { return live_workers_.contains(worker); }
  [[nodiscard]] bool welcomed() const { return link_.welcomed(); }
  [[nodiscard]] const std::string& cluster() const { return history_.cluster; }

 private:
  struct Heartbeat {
    api::PulseMessage pulse;  // the newest
    Instant heard_at;
    Instant since;      // when it entered this phase at this step
    bool told = false;  // reported as stuck
  };
  struct LiveWorker {
    std::optional<Instant> kill_at;
    std::string ended_by_agent;                    // the reason, once the agent has killed the process
    std::optional<Instant> granted_until;          // by a notice: the process is not killed before
    std::optional<Heartbeat> heart;                // set once it has sent a pulse
    std::optional<RestartableWorker> restartable;  // set if it is restartable: its program can end and start again
    std::optional<SlotsStillHeld> held;            // set if its slots are still held; the worker will not come back
    Instant held_at;                               // when that was detected
    TokenBucket figures;                           // limits for its messages, by kind
    TokenBucket news;
    TokenBucket replies;
    std::optional<api::CheckpointedMessage> newest_checkpoint;  // while it must not be sent yet
  };

  // A worker of a lost timeline whose process must still end.
  struct Lost {
    std::optional<api::StartWorker> next;  // the worker that now has the id, to be started after that
    bool stopped = false;                  // must not be started
  };

  void on(const LinkOpened& fact);
  void on(const LinkClosed& fact);
  void on(DaemonMessageReceived& fact);
  void on(WorkerMessageReceived& fact);
  void on(const WorkerPulseReceived& fact);
  void on(const WorkerHungUp& fact);
  void on(WorkerEnded& fact);
  void on(const SlotsStillHeld& fact);
  void on(const RestartableAdopted& fact);
  void on(const EndingAdopted& fact);
  void on(DevicesProbed& fact);
  void on(const ReclaimLooked& fact);
  void on(const StateBytesCame& fact);
  void on(const StateIsHere& fact);
  void on(const StateFetchBroke& fact);
  void on(const TimePassed& fact);
  void on(const QuitAsked& fact);

  void handle(api::AgentWelcome& order);
  void handle(api::AgentRefuse& order);
  void handle(api::StartWorker& order);
  void handle(api::StopWorker& order);
  void handle(api::ReportAck& order);
  void handle(api::ToWorkerOrder& order);
  void handle(api::LogRead& order);
  void handle(api::ProbeNode& order);
  void handle(api::ForgetJob& order);
  void handle(api::CertificateIssued& /*issued*/) {}  // handled outside this state
  void handle(api::TrustedAuthorities& /*told*/) {}   // likewise

  void handle(api::OfferState& order);
  void handle(api::FetchState& order);
  void handle(api::NoState& order);

  [[nodiscard]] bool may_say(WorkerId worker, const api::FromWorker& message);
  [[nodiscard]] static Instant checkpoint_due(const LiveWorker& living);
  void report_newest_checkpoint(WorkerId worker, LiveWorker& living);
  void look_at_checkpoints();
  void forward(api::FromWorkerReport report);
  void on_notice(WorkerId worker, api::NoticeMessage notice);
  void on_answer(WorkerId worker, const api::AnswerMessage& answer);
  [[nodiscard]] bool belongs_to(const std::string& cluster);
  [[nodiscard]] Instant stuck_at(const Heartbeat& heart) const;
  void look_at_heart(WorkerId worker, Heartbeat& heart);
  void forgive_own_pause(Instant now);
  void take_steps(WorkerId worker, const RestartableWorker::Steps& steps);
  void take_steps(StateWaits::Steps steps);
  void start(api::StartWorker order);
  void refuse_start(WorkerId worker, std::string detail, std::int64_t started_at = 0);
  [[nodiscard]] bool names_another(const api::StartWorker& order) const;
  void lose(WorkerId worker);
  void forget(WorkerId worker);
  void lost_has_ended(WorkerId worker);
  void say(WorkerId worker, api::FromWorker message);
  void pass_on(api::FromWorkerReport report);
  void stop(WorkerId worker, Duration grace);
  void end_process(WorkerId worker, Duration grace);
  void end_by(WorkerId worker, LiveWorker& living, Instant kill_at);
  void kill(WorkerId worker, const std::string& why);
  void end(const WorkerEnded& outcome, bool was_program = true);
  void report_again(WorkerId worker);
  void send(api::AgentToDaemon message);
  void report_reclaim();
  void report_held(const LiveWorker& living);
  void look_at_idleness();
  void drop_states_due();
  void resend();
  void act(Action action) { actions_.push_back(std::move(action)); }

  AgentTimes times_;
  RecordedWorkers history_;
  bool told_ended_ = false;  // the newest hello contained workers that have ended
  Instant now_;
  std::map<WorkerId, LiveWorker> live_workers_;
  Outbox outbox_;
  // Repeated after each reconnect until the worker's exit is acknowledged. Otherwise a daemon that died before it made
  // the message durable would train the whole job again.
  std::map<WorkerId, api::FinishedMessage> finished_;
  // The newest audits sent to a daemon, oldest first. They are repeated after each reconnect before anything newer:
  // what a daemon had not made durable when it died is lost, and an audit that arrives after a later one does not
  // count.
  std::deque<api::FromWorkerReport> audits_;
  std::map<WorkerId, Lost> lost_;
  StateWaits state_waits_;
  std::map<JobId, Instant> forget_at_;  // when the states of ended jobs are deleted here
  DeviceProbe probe_;
  std::optional<ReclaimLooked> reclaim_;  // of the present notice, with its earliest end; none: never checked
  bool workers_were_heard_ = false;       // a daemon has received messages of workers, on this link or an earlier one
  bool quitting_ = false;

  LinkState link_;
  std::optional<Instant> idle_at_;
  std::vector<Action> actions_;
};

}  // namespace tidepool::agent
