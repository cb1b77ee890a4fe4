#include "workers/agent/agent_loop.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <deque>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "base/json.hpp"
#include "base/overloaded.hpp"
#include "workers/agent/daemon_link.hpp"
#include "workers/agent/memory_tier.hpp"
#include "workers/agent/process_runner.hpp"
#include "workers/agent/restart_files.hpp"
#include "workers/agent/state/agent_state.hpp"
#include "workers/agent/system/cpu_pool.hpp"
#include "workers/agent/system/state_files.hpp"
#include "workers/agent/torchrun.hpp"
#include "workers/agent/worker_launch.hpp"
#include "workers/agent/worker_ledger.hpp"
#include "workers/agent/worker_logs.hpp"
#include "workers/agent/worker_socket.hpp"

namespace tidepool::agent {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using boost::system::error_code;

constexpr int kSettingsAreWrong = 2;  // the protocol's exit code for "do not try again"
constexpr auto kLogCutPeriod = std::chrono::seconds(2);
constexpr auto kFarewellPatience = std::chrono::milliseconds(500);

Instant monotonic_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return Instant::from_micros(std::chrono::duration_cast<std::chrono::microseconds>(since).count());
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) result[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return result;
}

class Loop : public AgentLoop {
 public:
  struct Parts {
    const AgentOptions& options;
    const NodeSlots& slots;
    Measure measure;
  };
  Loop(Parts parts, WorkerLedger ledger, WorkerLogs logs);

  [[nodiscard]] Status prepare();
  [[nodiscard]] bool has_workers() const override { return !runner_.workers().empty(); }
  void tell_figures(const std::vector<DeviceFigures>& figures) override;
  void run() override;

 private:
  void feed(Fact fact);
  void arm_timer();
  void watch_signals();
  [[nodiscard]] Status watch_lifeline();
  void watch_logs();
  void adopt_workers();
  void adopt_empty_seat(SeatRecord record);
  void on_process_end(const ProcessEnd& end);
  void on_daemon_message(api::DaemonToAgent message);
  void on_link_closed(const std::string& why);

  void carry_out(const OpenLink&) { link_.open(); }
  void carry_out(const CloseLink& action) { link_.close(action.why); }
  void carry_out(const SendHello& action);
  void carry_out(const SendToDaemon& action) { link_.send(action.message); }
  void carry_out(const SendToWorker& action) { socket_.send(action.worker, action.message); }
  void carry_out(const CloseWorkerLinks&) { socket_.close_links(); }
  void carry_out(const SpawnWorker& action);
  void carry_out(const SpawnProgram& action);
  void carry_out(const RecordRestartable& action);
  void carry_out(const OfferProgramAddress& action);
  void carry_out(const SignalWorker& action) { runner_.signal(action.worker, action.signal); }
  void carry_out(const ReadLog& action);
  void carry_out(const ProbeDevices&);
  void carry_out(const DropStates& action);
  void carry_out(const TellKeptJobs&);
  void carry_out(const RecordStarted& action);
  void carry_out(const RecordExit& action);
  void carry_out(const RecordAck& action);
  void carry_out(const ForgetRecords& action);
  void carry_out(const RecordCluster& action);
  void carry_out(const Quit& action);

  [[nodiscard]] Status spawn(const api::StartWorker& order);
  // Those that the worker is to have to itself; none where too few are free or it asks for none.
  [[nodiscard]] std::vector<int> cpus_of(const api::StartWorker& order);
  void tell_start(const api::StartWorker& order, const Status& status);
  [[nodiscard]] Status spawn_rank(const SpawnProgram& action);
  [[nodiscard]] Result<std::string> offer_of(const OfferProgramAddress& action);
  [[nodiscard]] fs::path work_folder(WorkerId worker) const { return options_.state_dir / "work" / worker.text(); }
  void job_has_left(WorkerId worker);

  AgentOptions options_;
  NodeSlots slots_;
  Measure measure_;
  WorkerLedger ledger_;
  WorkerLogs logs_;
  MemoryTier memory_;
  CpuPool cpus_{usable_cpus()};
  std::map<WorkerId, JobId> jobs_;  // of the living
  std::map<std::string, std::string> environment_ = own_environment();

  asio::io_context io_{1};
  asio::steady_timer timer_{io_};
  asio::steady_timer log_timer_{io_};
  asio::steady_timer farewell_{io_};
  asio::signal_set signals_{io_, SIGTERM, SIGINT};
  asio::posix::stream_descriptor lifeline_{io_};
  AgentState state_;
  DaemonLink link_;
  WorkerSocket socket_;
  ProcessRunner runner_;

  std::deque<Fact> facts_;
  bool feeding_ = false;
  std::map<WorkerId, SeatOffer> offers_;    // of seats, in their newest generation
  std::map<WorkerId, ReservedPort> ports_;  // kept until the program starts
  std::set<WorkerId> unrecorded_;           // the ledger could not take their start: they must not run
  std::set<JobId> to_drop_;                 // jobs that have ended and whose workers have not
  std::string last_loss_;
  bool log_trouble_told_ = false;
  bool ending_ = false;
  bool probing_ = false;
  std::jthread prober_;  // the last member: it ends before anything that it uses
};

AgentTimes times_of(const AgentOptions& options) {
  AgentTimes times;
  times.exit_when_idle = options.exit_when_idle;
  return times;
}

Loop::Loop(Parts parts, WorkerLedger ledger, WorkerLogs logs)
    : options_(parts.options),
      slots_(parts.slots),
      measure_(std::move(parts.measure)),
      ledger_(std::move(ledger)),
      logs_(std::move(logs)),
      memory_({.root = find_memory_folder(),
               .jobs = options_.state_dir / "jobs",
               .say = [](const std::string& line) { spdlog::info("{}", line); }}),
      state_(times_of(options_), ledger_.history(), std::random_device{}(), monotonic_now()),
      link_(io_, options_.daemon,
            {.on_opened = [this] { feed(LinkOpened{}); },
             .on_message = [this](api::DaemonToAgent message) { on_daemon_message(std::move(message)); },
             .on_closed = [this](const std::string& why) { on_link_closed(why); }}),
      socket_(io_, {.lives = [this](WorkerId worker) { return state_.lives(worker); },
                    .on_message = [this](WorkerId worker,
                                         api::FromWorker message) { feed(WorkerSaid{worker, std::move(message)}); },
                    .on_pulse = [this](WorkerId worker, api::PulseMessage pulse) { feed(WorkerPulsed{worker, pulse}); },
                    .on_hung_up = [this](WorkerId worker) { feed(WorkerHungUp{worker}); },
                    .on_trouble = [](const std::string& sentence) { spdlog::warn("worker socket: {}", sentence); }}),
      runner_(io_, [this](const ProcessEnd& end) { on_process_end(end); }) {}

Status Loop::prepare() {
  TP_TRY(make_private_folder(options_.state_dir / "work"));
  TP_TRY(socket_.listen(options_.state_dir / "w.sock"));
  adopt_workers();
  memory_.join_cluster(state_.cluster());
  return options_.lifeline ? watch_lifeline() : ok_status();
}

void Loop::adopt_workers() {
  for (const WorkerId worker : ledger_.history().open()) {
    const auto record = ledger_.process_of(worker);
    if (record && runner_.adopt(*record)) {
      jobs_[worker] = record->job;
      cpus_.adopt(worker, record->cpus);
      static_cast<void>(memory_.enter(record->job, {}));
      if (auto restartable = read_seat(work_folder(worker))) {
        offers_[worker] = restartable->offer;
        feed(RestartableAdopted{
            RestartableWorker(restartable->order, restartable->offer.generation, restartable->offer.rank)});
      }
      spdlog::info("{} (pid {}) of {} goes on; adopted", worker.text(), record->pid, record->job.text());
      continue;
    }
    if (auto restartable = read_seat(work_folder(worker))) {
      adopt_empty_seat(*std::move(restartable));
      continue;
    }
    feed(WorkerEnded{.worker = worker,
                     .detail = record ? "exited while no agent watched it; exit code unknown"
                                      : "the agent ended before this worker could start"});
  }
}

// Its agent ended while no program of it lived, or the program has ended since.
void Loop::adopt_empty_seat(SeatRecord record) {
  const WorkerId worker = record.order.worker;
  spdlog::info("{} of {} holds its slots; adopted without a program", worker.text(), record.order.job.text());
  if (!record.started) return feed(RestartableAdopted{RestartableWorker(std::move(record.order))});
  if (!record.ended) {
    record.ended = api::EndedMessage{.generation = record.offer.generation,
                                     .detail = "exited while no agent watched it; exit code unknown"};
  }
  offers_[worker] = record.offer;
  feed(RestartableAdopted{RestartableWorker(std::move(record.order), record.offer.rank, *std::move(record.ended))});
}

void Loop::run() {
  watch_signals();
  watch_logs();
  arm_timer();
  io_.run();
}

// Facts that arise while actions are carried out wait their turn, so that actions keep their order.
void Loop::feed(Fact fact) {
  facts_.push_back(std::move(fact));
  if (std::exchange(feeding_, true)) return;
  while (!facts_.empty()) {
    Fact next = std::move(facts_.front());
    facts_.pop_front();
    for (const Action& action : state_.step(monotonic_now(), std::move(next))) {
      std::visit([this](const auto& body) { carry_out(body); }, action);
    }
  }
  feeding_ = false;
  arm_timer();
}

void Loop::arm_timer() {
  const auto deadline = state_.deadline();
  if (!deadline) {
    timer_.cancel();
    return;
  }
  timer_.expires_at(std::chrono::steady_clock::time_point(std::chrono::microseconds(deadline->count_us())));
  timer_.async_wait([this](error_code error) {
    if (!error) feed(TimePassed{});
  });
}

void Loop::watch_signals() {
  signals_.async_wait([this](error_code error, int) {
    if (error) return;
    watch_signals();
    feed(QuitAsked{.stop_workers = options_.stop_workers});
  });
}

// Nothing is ever written into it: it becomes readable when the process at the other end is gone, however that ended.
Status Loop::watch_lifeline() {
  if (::fcntl(*options_.lifeline, F_SETFD, FD_CLOEXEC) != 0) return errno_error("watch the descriptor of --lifeline");
  error_code failed;
  lifeline_.assign(*options_.lifeline, failed);
  if (failed) return io_error("cannot watch the descriptor of --lifeline: " + failed.message());
  lifeline_.async_wait(asio::posix::stream_descriptor::wait_read, [this](error_code error) {
    if (error) return;
    spdlog::info("the process that started this agent is gone: its workers are stopped");
    feed(QuitAsked{.stop_workers = true});
  });
  return ok_status();
}

void Loop::watch_logs() {
  log_timer_.expires_after(kLogCutPeriod);
  log_timer_.async_wait([this](error_code error) {
    if (error) return;
    for (const WorkerId worker : runner_.workers()) {
      const auto status = logs_.cut(worker);
      if (!status.ok() && !std::exchange(log_trouble_told_, true)) {
        spdlog::warn("logs of workers grow without bound: {}", status.error().message);
      }
    }
    watch_logs();
  });
}

void Loop::on_process_end(const ProcessEnd& end) {
  WorkerEnded fact{.worker = end.worker, .exit_code = end.exit_code, .signal = end.signal};
  fact.detail = end.known ? logs_.last_line(end.worker) : "exited while adopted; exit code unknown";
  // What it said before it ended comes first: `finished` before its exit.
  socket_.when_drained(end.worker, [this, fact] {
    socket_.forget(fact.worker);
    job_has_left(fact.worker);
    feed(fact);
  });
}

void Loop::carry_out(const SendHello& action) {
  auto token = read_token(options_.token_file);
  if (!token) {
    link_.close(token.error().message);
    return;
  }
  link_.send(api::AgentHello{.token = std::move(*token),
                             .node = options_.node,
                             .slots = slots_.count,
                             .slot_type = slots_.type,
                             .price_per_slot_hour = options_.price_per_slot_hour,
                             .running = action.running});
}

void Loop::carry_out(const SpawnWorker& action) {
  const api::StartWorker& order = action.order;
  if (unrecorded_.erase(order.worker) > 0) {
    feed(WorkerEnded{.worker = order.worker,
                     .detail = "this node cannot write its state directory; nothing was started"});
    return;
  }
  tell_start(order, spawn(order));
}

void Loop::tell_start(const api::StartWorker& order, const Status& status) {
  if (status.ok()) {
    spdlog::info("{} of {} started: {}", order.worker.text(), order.job.text(), order.program);
    return;
  }
  job_has_left(order.worker);
  const bool settings =
      status.error().code == ErrorCode::kInvalidArgument || status.error().code == ErrorCode::kNotFound;
  feed(WorkerEnded{
      .worker = order.worker, .exit_code = settings ? kSettingsAreWrong : -1, .detail = status.error().message});
}

void Loop::carry_out(const SpawnProgram& action) {
  tell_start(action.order, spawn_rank(action));
}

Status Loop::spawn_rank(const SpawnProgram& action) {
  const auto around =
      surroundings_of({.generation = action.what.generation, .rank = action.what.rank, .blobs = action.what.addresses});
  if (!around) return around.error();
  api::StartWorker order = action.order;
  for (const auto& [name, value] : around->environment) order.env[name] = value;
  order.slots = around->slots;
  const fs::path checkpoints =
      order.env.emplace("TIDEPOOL_CHECKPOINT_DIR", memory_.disk_folder(order.job).string()).first->second;
  std::error_code error;
  fs::create_directories(fs::path(order.workdir) / checkpoints, error);
  if (error) return io_error("cannot make the checkpoint folder " + checkpoints.string() + ": " + error.message());
  const fs::path folder = work_folder(order.worker);
  TP_TRY(make_private_folder(folder));
  TP_TRY(write_seat(folder, {.order = action.order, .offer = offers_[order.worker], .started = true, .ended = {}}));
  ports_.erase(order.worker);
  return spawn(order);
}

void Loop::carry_out(const RecordRestartable& action) {
  const fs::path folder = work_folder(action.order.worker);
  Status status = make_private_folder(folder);
  if (status.ok()) {
    status = write_seat(folder, {.order = action.order,
                                 .offer = offers_[action.order.worker],
                                 .started = action.ended.has_value(),
                                 .ended = action.ended});
  }
  // Without the record the next agent would take the restartable worker for lost, and say so.
  if (!status.ok()) spdlog::error("{}: {}", action.order.worker.text(), status.error().message);
}

void Loop::carry_out(const OfferProgramAddress& action) {
  const WorkerId worker = action.order.worker;
  const auto blob = offer_of(action);
  if (!blob) {
    spdlog::error("{}: {}", worker.text(), blob.error().message);
    return;
  }
  feed(WorkerSaid{worker, api::AddressMessage{action.what.generation, action.what.rank, *blob}});
}

// The same words each time in one generation.
Result<std::string> Loop::offer_of(const OfferProgramAddress& action) {
  SeatOffer& offer = offers_[action.order.worker];
  if (offer.generation == action.what.generation) return offer.blob;
  RankAddress address{.node = options_.node, .host = link_.own_host(), .slots = action.order.slots};
  ports_.erase(action.order.worker);
  if (action.what.rank == 0) {
    auto port = ReservedPort::take(std::random_device{}());
    if (!port) return port.error();
    address.port = port->number();
    ports_.emplace(action.order.worker, *std::move(port));
  }
  offer = {.generation = action.what.generation, .rank = action.what.rank, .blob = to_blob(address)};
  return offer.blob;
}

Status Loop::spawn(const api::StartWorker& order) {
  const fs::path folder = work_folder(order.worker);
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const auto named = order.env.find("TIDEPOOL_CHECKPOINT_DIR");
  const fs::path disk = named == order.env.end() ? memory_.disk_folder(order.job) : fs::path(named->second);
  const auto in_memory = memory_.enter(order.job, disk);
  jobs_[order.worker] = order.job;
  auto spec = plan_launch(order,
                          {.program_folder = self.parent_path(),
                           .agent_socket = order.restart_grace_ms ? fs::path() : options_.state_dir / "w.sock",
                           .job_file = folder / "job.json",
                           .cluster = state_.cluster(),
                           .checkpoint_folder = memory_.disk_folder(order.job),
                           .park_folder = in_memory,
                           .agent_environment = environment_},
                          slots_);
  if (!spec) return spec.error();
  TP_TRY(make_private_folder(folder));
  TP_TRY(replace_file(folder / "job.json", canonical_json(order.spec) + "\n"));
  auto output = logs_.writer(order.worker);
  if (!output) return output.error();
  spec->output = output->get();
  spec->cpus = cpus_of(order);
  return runner_.start({.worker = order.worker, .job = order.job, .cpus = spec->cpus}, *spec,
                       [this](const ProcessRecord& record) { return ledger_.record_process(record); });
}

std::vector<int> Loop::cpus_of(const api::StartWorker& order) {
  if (!order.cpus) return {};
  std::vector<int> cpus = cpus_.take(order.worker, *order.cpus);
  if (cpus.empty()) {
    spdlog::info("{} of {} asks for {} CPUs, and {} are free here: it shares all of them", order.worker.text(),
                 order.job.text(), *order.cpus, cpus_.free().size());
  }
  return cpus;
}

// A state that the job's last worker here has parked is moved to disk.
void Loop::job_has_left(WorkerId worker) {
  cpus_.release(worker);
  const auto ended = jobs_.extract(worker);
  if (ended.empty()) return;
  const JobId job = ended.mapped();
  if (std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& entry) { return entry.second == job; })) return;
  if (to_drop_.erase(job) > 0) {
    memory_.drop(job);
  } else {
    memory_.leave(job);
  }
}

void Loop::carry_out(const ReadLog& action) {
  link_.send(logs_.read(action.order, state_.lives(action.order.worker)));
}

void Loop::carry_out(const DropStates& action) {
  const bool lives =
      std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& entry) { return entry.second == action.job; });
  if (lives) {
    to_drop_.insert(action.job);
  } else {
    memory_.drop(action.job);
  }
}

void Loop::carry_out(const TellKeptJobs&) {
  api::KeptJobsReport report{.jobs = memory_.kept_jobs()};
  if (!report.jobs.empty()) link_.send(std::move(report));
}

void Loop::tell_figures(const std::vector<DeviceFigures>& figures) {
  api::ProbedReport report;
  for (const DeviceFigures& each : figures) {
    report.devices.push_back({each.device, each.matmul_gflops, each.copy_gbps});
  }
  feed(DevicesProbed{std::move(report)});
}

// In a thread of its own, since the probe is waited for; its figures come back through the loop.
void Loop::carry_out(const ProbeDevices&) {
  const bool in_use = !slots_.gpus.empty() && has_workers();
  if (probing_ || in_use || options_.probe == AgentOptions::Probe::kNever) return;
  probing_ = true;
  prober_ = std::jthread([this] {
    asio::post(io_, [this, figures = measure_()] {
      probing_ = false;
      tell_figures(figures);
    });
  });
}

void Loop::carry_out(const RecordStarted& action) {
  const auto status = ledger_.record_started(action.worker);
  if (status.ok()) return;
  spdlog::error("{}: {}", action.worker.text(), status.error().message);
  unrecorded_.insert(action.worker);
}

void Loop::carry_out(const RecordExit& action) {
  const auto& report = action.report;
  spdlog::info("{} ended: exit code {}, signal {}, \"{}\"", report.worker.text(), report.exit_code, report.signal,
               report.detail);
  // Reported all the same: without the record, the next agent would only report it less exactly.
  if (const auto status = ledger_.record_exit(report); !status.ok()) spdlog::error(status.error().message);
}

void Loop::carry_out(const RecordAck& action) {
  // Without the record, the next agent would report once more, and the daemon acknowledge once more.
  if (const auto status = ledger_.record_ack(action.worker); !status.ok()) spdlog::error(status.error().message);
  ledger_.forget_process(action.worker);
  offers_.erase(action.worker);
  ports_.erase(action.worker);
  std::error_code error;
  fs::remove_all(options_.state_dir / "work" / action.worker.text(), error);
  logs_.prune([this](WorkerId worker) { return state_.lives(worker); });
}

void Loop::carry_out(const ForgetRecords& action) {
  spdlog::warn(
      "the daemon is of another cluster than the records of this node: all that cluster {} had here is forgotten",
      action.cluster);
  if (const auto status = ledger_.forget_all(); !status.ok()) spdlog::error(status.error().message);
  logs_.clear();
  unrecorded_.clear();
  std::error_code error;
  fs::remove_all(options_.state_dir / "work", error);
  if (const auto status = make_private_folder(options_.state_dir / "work"); !status.ok()) {
    spdlog::error(status.error().message);
  }
  memory_.forget_cluster(action.cluster);
}

void Loop::carry_out(const RecordCluster& action) {
  if (const auto status = ledger_.record_cluster(action.cluster); !status.ok()) spdlog::error(status.error().message);
  memory_.join_cluster(action.cluster);
}

void Loop::carry_out(const Quit& action) {
  if (std::exchange(ending_, true)) return;
  spdlog::info("agent ends: {}", action.why);
  if (!link_.is_open()) {
    io_.stop();
    return;
  }
  // The last reports get a moment to leave; what does not is reported by the next agent.
  link_.finish();
  farewell_.expires_after(kFarewellPatience);
  farewell_.async_wait([this](error_code) { io_.stop(); });
}

void Loop::on_daemon_message(api::DaemonToAgent message) {
  if (const auto* welcome = std::get_if<api::AgentWelcome>(&message)) {
    spdlog::info("the daemon knows this node as {}", welcome->node.text());
    last_loss_.clear();
  }
  feed(DaemonSaid{std::move(message)});
}

void Loop::on_link_closed(const std::string& why) {
  if (ending_) {
    io_.stop();
    return;
  }
  // Said once, not at every attempt.
  if (std::exchange(last_loss_, why) != why) spdlog::warn("no link to the daemon: {}; trying again", why);
  feed(LinkClosed{why});
}

}  // namespace

Result<std::unique_ptr<AgentLoop>> AgentLoop::open(const AgentOptions& options, const NodeSlots& slots,
                                                   Measure measure) {
  auto ledger = WorkerLedger::open(options.state_dir);
  if (!ledger) return ledger.error();
  auto logs = WorkerLogs::open(options.state_dir / "logs");
  if (!logs) return logs.error();
  auto loop =
      std::make_unique<Loop>(Loop::Parts{options, slots, std::move(measure)}, std::move(*ledger), std::move(*logs));
  TP_TRY(loop->prepare());
  return std::unique_ptr<AgentLoop>(std::move(loop));
}

}  // namespace tidepool::agent
