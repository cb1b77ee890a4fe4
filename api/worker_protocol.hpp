// The messages of worker_protocol.md as value types with strict codecs. One line of JSON each; no
// sockets here. The same types serve the daemon, the agent and the workers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/codec/unused_why.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace tidepool::api {

inline constexpr int kWorkerProtocol = 1;
inline constexpr std::size_t kLineBytesMax = 1U << 20U;
// Of a worker's lines: what the agent passes on lies in a longer one.
inline constexpr std::size_t kWorkerLineBytesMax = kLineBytesMax - 4096;
inline constexpr std::size_t kAddressBytesMax = 128U << 10U;  // of one rank, with an entry for each of the others
inline constexpr std::size_t kPathBytesMax = 4096;
inline constexpr std::int64_t kWorkMax = std::int64_t{1} << 52;  // steps or samples of a training; exact as a double

// --- worker -> daemon ---------------------------------------------------------------------------
// At most one of the lengths is given: of the whole training from its first step, as far as the program knows it.
struct ReadyMessage {
  GenerationNumber generation = 0;  // that it is in; 0 = none
  std::optional<std::int64_t> work_steps;
  std::optional<std::int64_t> work_samples;
};
struct AddressMessage {
  GenerationNumber generation = 0;
  int rank = 0;
  std::string blob;  // raw bytes here, base64 on the wire
};
// A saved one that workers had found and did not use.
struct UnusedState {
  std::int64_t step = 0;
  UnusedWhy why = UnusedWhy::kDamaged;
};
struct SwitchedMessage {
  GenerationNumber generation = 0;
  std::int64_t switch_step = 0;
  double stall_ms = 0;
  double build_ms = 0;
  std::int64_t steps_redone = 0;
  std::int64_t samples_repeated = 0;
  std::int64_t bytes_moved = 0;
  // The newest above switch_step that the members of a first generation had found; older libraries tell none.
  std::optional<UnusedState> unused;
};
// The job's state is in the node's memory tier or on its disk, complete; the writer exits next.
struct ParkedMessage {
  GenerationNumber generation = 0;
  std::int64_t step = 0;
  std::int64_t bytes = 0;
  double write_ms = 0;
};
// A checkpoint is on disk, complete.
struct CheckpointedMessage {
  GenerationNumber generation = 0;
  std::int64_t step = 0;
  std::int64_t bytes = 0;
  double write_ms = 0;
  std::string path;
};
// A checkpoint was due and is not on disk; the newest that was reported before stays.
struct CheckpointFailedMessage {
  GenerationNumber generation = 0;
  std::int64_t step = 0;
  std::string error;
};
// The first generation of these processes began from a checkpoint or a parked state.
struct RestoredMessage {
  GenerationNumber generation = 0;
  std::int64_t step = 0;
  std::int64_t bytes = 0;
  std::string path;
};
// A loss that is not a finite number, or that the program does not tell, is null on the wire and comes back as NaN.
struct StepsMessage {
  GenerationNumber generation = 0;
  std::int64_t last_step = 0;
  std::int64_t steps = 0;
  std::int64_t elapsed_us = 0;
  std::int64_t samples = 0;
  double loss = 0;
  std::int64_t epoch = 0;
  std::vector<std::int64_t> compute_us;
  std::int64_t global_batch = 0;      // samples a step at this generation
  std::optional<double> noise_scale;  // gradient noise scale B_simple in samples; none: not known yet
  std::int64_t samples_total = 0;     // of all committed steps since the training began, by any worker
  std::int64_t shares = 0;            // number of the share table that these steps went by; 0 = even shares
};
// All ranks have gone over to this share table of the generation.
struct RebalancedMessage {
  GenerationNumber generation = 0;
  std::int64_t number = 0;
  std::int64_t step = 0;  // steps committed before the first one by this table
  double stall_ms = 0;    // by how much that step was longer than the next
};
struct EpochAuditedMessage {
  std::int64_t epoch = 0;
  std::int64_t expected = 0;
  std::int64_t used = 0;
  bool checksum_ok = false;
};
struct FinishedMessage {
  std::int64_t last_step = 0;
  double loss = 0;
  std::int64_t samples_total = 0;  // as in StepsMessage
};
// From the agent, for a worker whose program knows nothing of generations: the program of this one runs.
struct StartedMessage {
  GenerationNumber generation = 0;
};
// Likewise: that program has ended without being asked to, or it was told to end for a newer generation and was killed.
// The worker keeps its slots.
struct EndedMessage {
  GenerationNumber generation = 0;
  int exit_code = -1;
  int signal = 0;
  std::string detail;
};
// What the program says to a notice that it is to end.
enum class NoticeAnswer { kSaving, kDone, kUntil, kRefuse };
[[nodiscard]] const char* to_text(NoticeAnswer answer);
[[nodiscard]] std::optional<NoticeAnswer> notice_answer_of(std::string_view text);
struct AnswerMessage {
  DecisionId decision;      // of the notice
  std::int64_t number = 1;  // counts the answers to it; one that has been heard changes nothing
  NoticeAnswer answer = NoticeAnswer::kSaving;
  std::int64_t needs_ms = 0;  // kUntil: from now on
};
using FromWorker = std::variant<ReadyMessage, AddressMessage, SwitchedMessage, StepsMessage, EpochAuditedMessage,
                                FinishedMessage, ParkedMessage, CheckpointedMessage, CheckpointFailedMessage,
                                RestoredMessage, StartedMessage, EndedMessage, RebalancedMessage, AnswerMessage>;

// --- worker -> agent, not passed on ---------------------------------------------------------------
// What a worker is busy with.
enum class PulsePhase { kWaiting, kComputing, kReducing, kSwitching };
[[nodiscard]] const char* to_text(PulsePhase phase);

// Each second from the link's thread. An open link without a pulse is a stopped process.
struct PulseMessage {
  std::int64_t step = 0;
  PulsePhase phase = PulsePhase::kWaiting;
  std::int64_t stuck_after_ms = 0;  // computing longer than this at one step is being stuck
};

// --- daemon -> worker ---------------------------------------------------------------------------
struct GenerationMessage {
  GenerationNumber number = 0;
  std::vector<WorkerId> members;
  bool after_failure = false;
  bool park = false;  // with no members: the state is kept and all leave
};
// Take a checkpoint soon. Sent to all ranks, rank 0 acts.
struct CheckpointOrder {};
// Split the samples of a step in proportion to these weights, from a step on that all ranks agree on.
struct SharesMessage {
  GenerationNumber generation = 0;
  std::int64_t number = 0;            // counts the tables of a generation, from 1; an older one changes nothing
  std::vector<std::int64_t> weights;  // by rank, 1 to kShareWeightMax
};
inline constexpr std::int64_t kShareWeightMax = 1'000'000;
struct AddressesMessage {
  GenerationNumber generation = 0;
  std::vector<std::string> blobs;  // raw bytes here, base64 on the wire; rank order
};
// The worker, or its program, is to end. Told before the order by which it ends, and again with what its answers have
// changed. Only where the agent's and the worker's hello say that they know it.
struct NoticeMessage {
  DecisionId decision;
  std::string reason;            // the code of the decision's reason
  std::string sentence;          // the same in words
  std::int64_t in_ms = 0;        // from now on until it is ended by force
  std::int64_t extended_ms = 0;  // so much of that was granted to answers
  std::int64_t answers = 0;      // number of the newest answer that has been heard; 0 = none
  bool granted = false;          // that one got what it asked for
};
using ToWorker = std::variant<GenerationMessage, AddressesMessage, CheckpointOrder, SharesMessage, NoticeMessage>;

// --- agent -> daemon ----------------------------------------------------------------------------
inline constexpr int kNodeSlotsMax = 1'024;  // that a node may offer
// What a node can keep of its jobs, in the order in which it is told.
inline constexpr const char* kIsolationParts[] = {"uid",  "mounts", "processes", "devices", "memory",
                                                  "cpus", "pids",   "metadata",  "syscalls"};
struct AgentHello {
  int protocol = kWorkerProtocol;
  std::string token;
  std::string node;
  int slots = 0;
  std::string slot_type;
  std::string price_per_slot_hour;
  std::vector<WorkerId> running;
  std::optional<std::string> data_address;  // at which its workers meet those of other nodes; older agents tell none
  std::optional<std::vector<std::string>> isolation;  // which of kIsolationParts it keeps; older agents tell none
  std::optional<bool> moves_states;  // it brings and hands over saved states; older agents tell nothing
  std::optional<bool> gives_notice;  // it tells programs that they are to end; older agents tell nothing
  // Bytes that a slot's share of the node's memory is; 0: workers are bounded by none. Older agents tell nothing.
  std::optional<std::int64_t> memory_per_slot;
  // When each of `running` was ordered to start, in its order (StartWorker::started_at; 0: not told). Older agents tell
  // none, and know neither StartWorker::started_at nor AgentWelcome::lost.
  std::optional<std::vector<std::int64_t>> starts;
  std::optional<std::string> instance;      // of the agent's state directory; older agents tell none
  std::optional<bool> follows_authorities;  // it takes TrustedAuthorities; told by agents that have joined
};
struct AgentHeartbeat {};
struct WorkerExitedReport {
  std::uint64_t report = 0;
  WorkerId worker;
  int exit_code = -1;
  int signal = 0;
  std::string detail;
  // Of an end without code and signal: whether its node has started nothing, or a program has ended unseen. None of any
  // other end; older agents tell none.
  std::optional<bool> nothing_started;
};
struct FromWorkerReport {
  WorkerId worker;
  FromWorker message;
};
struct LogChunk {
  std::uint64_t request = 0;
  WorkerId worker;
  std::int64_t offset = 0;
  std::string data;
  std::int64_t next_offset = 0;
  bool eof = false;
};
// Told once for each time that a worker hangs: no progress in its computation, or no pulse.
struct WorkerStuckReport {
  WorkerId worker;
  std::int64_t step = 0;
  PulsePhase phase = PulsePhase::kWaiting;
  std::int64_t for_ms = 0;
};
// The worker's program has ended, and its slots are not free yet: told once, after seconds of waiting, and after each
// welcome while it lasts. worker_exited follows when they are.
struct SlotsHeldReport {
  WorkerId worker;
  std::int64_t for_ms = 0;
  std::string why;  // what holds them
  int exit_code = -1;
  int signal = 0;
  std::string detail;
};
// What the node's devices really do: after each welcome, if they have been measured, and after a `probe`.
struct DeviceFigure {
  std::string device;  // "cpu", or the GPU's id
  double matmul_gflops = 0;
  double copy_gbps = 0;
};
struct ProbedReport {
  std::vector<DeviceFigure> devices;
};
// States of these jobs lie on this node, in folders of the agent's own: after each welcome, if there are any.
struct KeptJobsReport {
  std::vector<JobId> jobs;
};
// Asks for a certificate of this node, over TLS only. In the place of a hello: to join, with a node token. On a link
// that has been welcomed by certificate: to renew it, without a token and for the same key.
inline constexpr std::size_t kSigningRequestMax = 4'096;  // bytes
struct CertificateRequest {
  int protocol = kWorkerProtocol;
  std::string token;
  std::string node;
  std::string request;  // a signing request as PEM
};
// The longest time to leave that an order gives a worker.
inline constexpr Duration kGraceMax = Duration::seconds(7LL * 86'400);
// The node's machine is taken back by its provider: told when a notice is seen or has gone, and after each welcome by
// an agent that looks for notices.
inline constexpr Duration kReclaimNoticeMax = Duration::seconds(30LL * 86'400);
struct ReclaimReport {
  std::optional<std::int64_t> in_ms;  // until then; none: no notice stands
};
// The agent ends and takes its workers with it: it starts no others, and the exits of these follow. After each welcome
// until it has ended.
struct StoppingReport {};
// The agent that is to start a worker asks for the saved state that the worker waits for. Again after each attempt that
// broke. `key` is the fingerprint of the key that it shows the agent which has the state.
struct StateWantedReport {
  JobId job;
  std::int64_t step = 0;
  std::string key;
};
// Answers `offer_state`: the state can be fetched here, once, with this ticket.
struct StateOfferedReport {
  std::uint64_t request = 0;
  std::string ticket;  // a secret
  std::string host;
  int port = 0;
  std::string key;  // fingerprint of the authority whose certificate is shown there
};
struct StateRefusedReport {
  std::uint64_t request = 0;
  std::string why;
};
// The awaited state is here, whole, and the workers that waited for it are started with it. Repeated after each welcome
// while one of them lives, as state_left is.
struct StateBroughtReport {
  JobId job;
  std::int64_t step = 0;
  std::int64_t bytes = 0;
  std::int64_t took_ms = 0;
};
// The awaited state has not come: the workers that waited for it are started without it.
struct StateLeftReport {
  JobId job;
  std::int64_t step = 0;
  std::string why;
};
using AgentToDaemon =
    std::variant<AgentHello, AgentHeartbeat, WorkerExitedReport, FromWorkerReport, LogChunk, WorkerStuckReport,
                 SlotsHeldReport, ProbedReport, KeptJobsReport, CertificateRequest, ReclaimReport, StoppingReport,
                 StateWantedReport, StateOfferedReport, StateRefusedReport, StateBroughtReport, StateLeftReport>;

// --- daemon -> agent ----------------------------------------------------------------------------
struct AgentWelcome {
  int protocol = kWorkerProtocol;
  NodeId node;
  std::int64_t heartbeat_ms = 1'000;
  std::int64_t patience_ms = 5'000;
  std::string cluster;  // the daemon's identity, made once per state directory
  // Of the hello's workers, those that this daemon has never started: of a time that its journal does not know.
  std::optional<std::vector<WorkerId>> lost;
};
struct AgentRefuse {
  std::string why;
};
struct StartWorker {
  WorkerId worker;
  JobId job;
  std::vector<int> slots;
  bool gpus = false;
  std::string program;
  std::vector<std::string> argv;  // without the program itself
  std::map<std::string, std::string> env;
  std::string workdir;
  std::string spec = "{}";  // the job's document: canonical JSON, an object
  std::optional<int> cpus;  // CPUs that the worker is to have to itself; none = it asks for none
  // Bytes that bound it, in the place of its slots' shares. Only to agents whose hello tells their memory.
  std::optional<std::int64_t> memory;
  // None: starts the program now. Else it is restartable: its agent starts the program anew for each generation, and
  // ends that of the one before within this time.
  std::optional<std::int64_t> restart_grace_ms;
  // The job's saved state of this step lies on another node and is to be brought here before the worker starts; none:
  // it starts at once. Only to agents whose hello says that they move states.
  std::optional<std::int64_t> state_step;
  // When the daemon decided to start it, in microseconds of its journal's time: with the id, which a daemon whose
  // journal was restored hands out again, it says which worker this is. Only to agents that tell their starts.
  std::optional<std::int64_t> started_at;
  std::optional<std::int64_t> submitted_at;  // of the job, likewise
};
struct StopWorker {
  WorkerId worker;
  std::int64_t grace_ms = 0;
};
struct ReportAck {
  std::uint64_t report = 0;
};
struct ToWorkerOrder {
  WorkerId worker;
  ToWorker message;
};
struct LogRead {
  std::uint64_t request = 0;
  WorkerId worker;
  std::int64_t offset = 0;
  std::int64_t limit = 65'536;
};
// Measure the devices again, as soon as no worker runs there.
struct ProbeNode {};
// The job has ended: what the agent keeps of its states in folders of its own may go after so long.
struct ForgetJob {
  JobId job;
  std::int64_t after_s = 0;
};
struct CertificateIssued {
  std::string node;
  std::string certificate;  // PEM
};
// By the fingerprints of these a node that has joined knows the daemon from its next link on, and by no others: after
// each welcome, and when they change. Only to agents whose hello says that they follow.
struct TrustedAuthorities {
  std::vector<std::string> fingerprints;
};
// The agent whose key has this fingerprint may fetch the job's state of this step here, once.
struct OfferState {
  std::uint64_t request = 0;
  JobId job;
  std::int64_t step = 0;
  std::string key;
};
// Answers `state_wanted`: where the state can be fetched.
struct FetchState {
  JobId job;
  std::int64_t step = 0;
  std::string ticket;
  std::string host;
  int port = 0;
  std::string key;
};
// Answers `state_wanted`, or ends the wait by itself.
struct NoState {
  JobId job;
  std::int64_t step = 0;
  std::string why;
  bool final = false;  // asking again is of no use
};
using DaemonToAgent =
    std::variant<AgentWelcome, AgentRefuse, StartWorker, StopWorker, ReportAck, ToWorkerOrder, LogRead, ProbeNode,
                 ForgetJob, CertificateIssued, OfferState, FetchState, NoState, TrustedAuthorities>;

// The worker's side of the worker <-> agent link: a hello, then pulses and FromWorker messages.
struct WorkerHello {
  int protocol = kWorkerProtocol;
  WorkerId worker;
  std::int64_t pid = 0;
  std::optional<bool> hears_notices;  // older libraries tell nothing
};
using WorkerToAgent = std::variant<WorkerHello, PulseMessage, FromWorker>;

// One line with its newline. decode_x(encode(x)) gives x back; a bad line is an error in words.
[[nodiscard]] std::string encode(const AgentToDaemon& message);
[[nodiscard]] std::string encode(const DaemonToAgent& message);
[[nodiscard]] std::string encode(const WorkerToAgent& message);
[[nodiscard]] std::string encode(const ToWorker& message);
[[nodiscard]] Result<AgentToDaemon> decode_agent_to_daemon(std::string_view line);
[[nodiscard]] Result<DaemonToAgent> decode_daemon_to_agent(std::string_view line);
[[nodiscard]] Result<WorkerToAgent> decode_worker_to_agent(std::string_view line);
[[nodiscard]] Result<ToWorker> decode_to_worker(std::string_view line);

// Cuts a byte stream into lines. A line that is longer than allowed is an error: the link must close.
class LineBuffer {
 public:
  LineBuffer() = default;
  explicit LineBuffer(std::size_t line_max) : line_max_(line_max) {}

  [[nodiscard]] Status append(std::string_view bytes);
  // The next whole line without its newline; false if there is none yet.
  [[nodiscard]] bool next(std::string& line);

 private:
  std::size_t line_max_ = kLineBytesMax;
  std::string bytes_;
  std::size_t begin_ = 0;        // of the first line not yet taken
  std::size_t partial_ = 0;      // length of the last line, which has no newline yet
  std::size_t whole_lines_ = 0;  // lines that next() can still give
};

}  // namespace tidepool::api
