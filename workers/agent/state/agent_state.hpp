// What an agent knows and decides, without a process, socket or clock: facts go in, actions come out.
// Its safety: a worker id is spawned at most once in the life of a state directory (kOutcomesKept), and an exit is
// reported until the daemon has acknowledged it. The caller carries the actions out in their order, so
// a Record action is durable before the action that relies on it.
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

// Workers that have ended whose outcome an agent knows, however long it runs.
inline constexpr std::size_t kOutcomesKept = 100'000;

// What the state directory remembers of earlier runs.
struct RecordedWorkers {
  std::string cluster;                                // whose records these are; empty = no cluster's yet
  std::set<WorkerId> started;                         // ended or not
  std::map<WorkerId, std::int64_t> starts;            // StartWorker::started_at of those whose order has told it
  std::map<WorkerId, api::WorkerExitedReport> exits;  // of those that have ended
  std::set<WorkerId> unacknowledged;                  // exits that the daemon has not confirmed
  std::uint64_t next_report = 1;

  // Started and not known to have ended.
  [[nodiscard]] std::set<WorkerId> open() const;
  // As if it had never been here.
  void forget(WorkerId worker);
  // The daemon has its exit for good. Of that stays the outcome, with which a `start` that comes again is answered, and
  // of the oldest beyond `kept` nothing: no daemon goes so far back.
  void confirm(WorkerId worker, std::size_t kept = kOutcomesKept);
};

// --- facts --------------------------------------------------------------------------------------
struct LinkOpened {};
struct LinkClosed {
  std::string why;
};
struct DaemonSaid {
  api::DaemonToAgent message;
};
struct WorkerSaid {
  WorkerId worker;
  api::FromWorker message;
};
struct WorkerPulsed {
  WorkerId worker;
  api::PulseMessage pulse;
};
// The worker has closed its link: it no longer gives a pulse, and need not.
struct WorkerHungUp {
  WorkerId worker;
};
// A process has been reaped, or could not be started.
struct WorkerEnded {
  WorkerId worker;
  int exit_code = -1;
  int signal = 0;
  std::string detail;
  bool nothing_started = false;  // no program ran: for want of what the agent needs, such as room on its disk
};
// Its process has ended, and what it held is not free, for so long that the daemon is told.
struct SlotsStillHeld {
  WorkerEnded ended;
  std::string why;
  Duration lasted;  // since it has ended
};
// An earlier agent had started this restartable worker's program, which goes on.
struct RestartableAdopted {
  RestartableWorker restartable;
};
// An earlier agent had told this worker's process to end, which goes on: it is ended by force then.
struct EndingAdopted {
  WorkerId worker;
  Instant kill_at;
};
// The node's devices have been measured, before it joined or as the daemon asked.
struct DevicesProbed {
  api::ProbedReport report;
};
// What the node's source of notices says; only an agent that has one says anything.
struct ReclaimLooked {
  std::optional<Instant> at;  // the machine is taken back then; none: no notice stands
};
// Of the state that workers of the job wait for: more of it has come, all of it is here, or an attempt has failed.
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
using Fact = std::variant<LinkOpened, LinkClosed, DaemonSaid, WorkerSaid, WorkerPulsed, WorkerHungUp, WorkerEnded,
                          SlotsStillHeld, RestartableAdopted, EndingAdopted, DevicesProbed, ReclaimLooked,
                          StateBytesCame, StateIsHere, StateFetchBroke, TimePassed, QuitAsked>;

// --- actions ------------------------------------------------------------------------------------
struct OpenLink {};
struct CloseLink {
  std::string why;
};
struct SendHello {
  std::vector<WorkerId> running;
  std::vector<std::int64_t> starts;  // of each of them; 0 = not told
};
struct SendToDaemon {
  api::AgentToDaemon message;
};
struct SendToWorker {
  WorkerId worker;
  api::ToWorker message;
};
// So that each worker connects again and says in which generation it is.
struct CloseWorkerLinks {};
struct SpawnWorker {
  api::StartWorker order;
};
// The program of a restartable worker, as one rank of a generation.
struct SpawnProgram {
  api::StartWorker order;
  RestartableWorker::StartProgram what;
};
// Where the restartable worker stands while no program of it lives, for an agent that comes after this one.
struct RecordRestartable {
  api::StartWorker order;
  std::optional<api::EndedMessage> ended;  // how its program has ended by itself
};
// Says where the restartable worker's program of that generation will be; rank 0 gets a port to listen on.
struct OfferProgramAddress {
  api::StartWorker order;
  RestartableWorker::OfferAddress what;
};
struct SignalWorker {
  WorkerId worker;
  int signal = 0;
};
// The worker's process has been told to end and is ended by force then, for an agent that comes after this one.
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
// The job has ended for good: what this agent keeps of its states is deleted, once no worker of it lives here.
struct DropStates {
  JobId job;
};
// Brings StateIsHere if the state lies here already, and sends `state_wanted` if not.
struct AskForState {
  JobId job;
  std::int64_t step = 0;
};
// Fetches it beside everything else, from the offset at which an attempt before has ended.
struct FetchSavedState {
  api::FetchState from;
};
struct AbandonFetch {
  JobId job;
};
// Looks for the state, and sends `state_offered` or `state_refused`.
struct OfferSavedState {
  api::OfferState order;
};
// Says which jobs have states here, if any have.
struct TellKeptJobs {};
// Measures the devices in a thread of its own and brings DevicesProbed; only while no worker is here, one at a time.
struct ProbeDevices {};
struct RecordStarted {
  WorkerId worker;
  std::int64_t started_at = 0;  // 0: its order has not told it
};
struct RecordExit {
  api::WorkerExitedReport report;
  bool was_program = true;  // false: a restartable worker has left of which no program lived
};
[[nodiscard]] std::string to_text(const RecordExit& exit);
struct RecordAck {
  WorkerId worker;
};
// It is of a time that the daemon's journal does not know: its records and its log go.
struct ForgetWorker {
  WorkerId worker;
};
// The daemon that is here now is of another cluster than the records: they mean nothing any more.
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
  // Every worker in history.open() counts as living until a WorkerEnded says otherwise.
  AgentState(AgentTimes times, RecordedWorkers history, std::uint64_t seed, Instant now);

  [[nodiscard]] std::vector<Action> step(Instant now, Fact fact);

  // When the next TimePassed is due; nothing if only other facts can change anything. Looks at every worker, after each
  // fact: at a pulse a second that is 0.02 % of a core with 64 workers, and 2 % with 1,024.
  [[nodiscard]] std::optional<Instant> deadline() const;
  [[nodiscard]] bool lives(WorkerId worker) const { return living_.contains(worker); }
  [[nodiscard]] bool welcomed() const { return link_.welcomed(); }
  [[nodiscard]] const std::string& cluster() const { return history_.cluster; }

 private:
  struct Heartbeat {
    api::PulseMessage pulse;  // the newest
    Instant heard_at;
    Instant since;      // it has been in this phase at this step
    bool told = false;  // as stuck
  };
  struct Living {
    std::optional<Instant> kill_at;
    std::string ended_by_agent;                    // why, once it has killed the process
    std::optional<Instant> granted_until;          // by a notice: it is not ended by force before
    std::optional<Heartbeat> heart;                // once it has given a pulse
    std::optional<RestartableWorker> restartable;  // it is one: its program comes and goes
    std::optional<SlotsStillHeld> held;            // it will not come back
    Instant held_at;                               // when that was found
    TokenBucket figures;                           // of what it says, by kind
    TokenBucket news;
    TokenBucket replies;
    std::optional<api::CheckpointedMessage> newest_checkpoint;  // while it may not be told yet
  };

  // Of a lost timeline, with its process still to end.
  struct Lost {
    std::optional<api::StartWorker> next;  // the worker that has the id now, to be started after that
    bool stopped = false;                  // not to be started
  };

  void on(const LinkOpened& fact);
  void on(const LinkClosed& fact);
  void on(DaemonSaid& fact);
  void on(WorkerSaid& fact);
  void on(const WorkerPulsed& fact);
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
  void handle(api::CertificateIssued& /*issued*/) {}  // its keeper is beside this state
  void handle(api::TrustedAuthorities& /*told*/) {}   // likewise

  void handle(api::OfferState& order);
  void handle(api::FetchState& order);
  void handle(api::NoState& order);

  [[nodiscard]] bool may_say(WorkerId worker, const api::FromWorker& message);
  [[nodiscard]] static Instant checkpoint_due(const Living& living);
  void tell_newest_checkpoint(WorkerId worker, Living& living);
  void look_at_checkpoints();
  void forward(api::FromWorkerReport report);
  void hear_notice(WorkerId worker, api::NoticeMessage notice);
  void hear_answer(WorkerId worker, const api::AnswerMessage& answer);
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
  void end_by(WorkerId worker, Living& living, Instant kill_at);
  void kill(WorkerId worker, const std::string& why);
  void end(const WorkerEnded& outcome, bool was_program = true);
  void report_again(WorkerId worker);
  void send(api::AgentToDaemon message);
  void tell_reclaim();
  void tell_held(const Living& living);
  void look_at_idleness();
  void drop_states_due();
  void say_again();
  void act(Action action) { actions_.push_back(std::move(action)); }

  AgentTimes times_;
  RecordedWorkers history_;
  bool told_ended_ = false;  // the newest hello names workers that have ended
  Instant now_;
  std::map<WorkerId, Living> living_;
  Outbox outbox_;
  // Repeated after each reconnect until the worker's exit is acknowledged: a daemon that died before it
  // was durable would otherwise train the whole job again.
  std::map<WorkerId, api::FinishedMessage> finished_;
  // The newest that a daemon was sent, oldest first: repeated after each reconnect before anything newer, because what
  // the daemon that died had not made durable is lost, and an audit that comes after a later one no longer counts.
  std::deque<api::FromWorkerReport> audits_;
  std::map<WorkerId, Lost> lost_;
  StateWaits state_waits_;
  std::map<JobId, Instant> forget_at_;  // jobs that have ended: when their states here go
  DeviceProbe probe_;
  std::optional<ReclaimLooked> reclaim_;  // of the notice that stands, the earliest end; none: never looked
  bool workers_were_heard_ = false;       // by a daemon, on an earlier or this link
  bool quitting_ = false;

  LinkState link_;
  std::optional<Instant> idle_at_;
  std::vector<Action> actions_;
};

}  // namespace tidepool::agent
