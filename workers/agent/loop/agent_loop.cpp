#include "workers/agent/loop/agent_loop.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <deque>
#include <random>
#include <thread>
#include <utility>

#include "workers/agent/data_address.hpp"
#include "workers/agent/lifeline.hpp"
#include "workers/agent/log_cuts.hpp"
#include "workers/agent/loop/daemon_contact.hpp"
#include "workers/agent/loop/jobs_here.hpp"
#include "workers/agent/loop/worker_records.hpp"
#include "workers/agent/loop/worker_starts.hpp"
#include "workers/agent/memory_tier.hpp"
#include "workers/agent/process_runner.hpp"
#include "workers/agent/program_files/length_files.hpp"
#include "workers/agent/program_files/notice_files.hpp"
#include "workers/agent/state/agent_state.hpp"
#include "workers/agent/system/monotonic.hpp"
#include "workers/agent/system/proc_info.hpp"
#include "workers/agent/system/state_files.hpp"
#include "workers/agent/system/trouble_log.hpp"
#include "workers/agent/transfer/state_mover.hpp"
#include "workers/agent/worker_ledger.hpp"
#include "workers/agent/worker_logs.hpp"
#include "workers/agent/worker_rooms.hpp"
#include "workers/agent/worker_socket.hpp"

namespace tidepool::agent {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr auto kFarewellPatience = std::chrono::milliseconds(500);

class Loop : public AgentLoop {
 public:
  struct Parts {
    const AgentOptions& options;
    const NodeSlots& slots;
    Measure measure;
    WorkerRooms::Parts rooms;
  };
  Loop(Parts parts, WorkerLedger ledger, WorkerLogs logs);

  [[nodiscard]] Status prepare();
  [[nodiscard]] bool has_workers() const override { return !runner_.workers().empty(); }
  void report_figures(const std::vector<DeviceFigures>& figures) override;
  void report_notice(std::optional<Instant> at) override {
    asio::post(io_, [this, at] { feed(ReclaimLooked{at}); });
  }
  void run() override;

 private:
  void feed(Fact fact);
  void arm_timer();
  void watch_signals();
  void adopt_workers();
  void on_process_end(const ProcessEnd& end);
  [[nodiscard]] WorkerRooms::Told end_of(const WorkerEnded& fact);
  void on_bad_line(WorkerId worker, const std::string& of, const std::string& sentence);
  void on_worker_message(WorkerId worker, api::FromWorker message);
  void on_daemon_message(api::DaemonToAgent message);
  void on_link_closed(const std::string& why);

  void carry_out(const OpenLink&) { daemon_.open(); }
  void carry_out(const CloseLink& action) { daemon_.close(action.why); }
  void carry_out(const SendHello& action);
  void carry_out(const SendToDaemon& action) { daemon_.send(action.message); }
  void carry_out(const SendToWorker& action);
  void carry_out(const CloseWorkerLinks&) { socket_.close_links(); }
  void carry_out(const SpawnWorker& action);
  void carry_out(const SpawnProgram& action) { tell_start(action.order, starts_.start_program(action)); }
  void carry_out(const RecordRestartable& action) { starts_.record(action); }
  void carry_out(const OfferProgramAddress& action);
  void carry_out(const SignalWorker& action) { runner_.signal(action.worker, action.signal); }
  void carry_out(const RecordEnding& action) { records_.take(action); }
  void carry_out(const WarnOf& action) { troubles_.warn(action.worker.text(), action.sentence); }
  void carry_out(const ReadLog& action) { daemon_.send(logs_.read(action.order, state_.lives(action.order.worker))); }
  void carry_out(const ProbeDevices&);
  void carry_out(const DropStates& action);
  void carry_out(const AskForState& action) { states_.ask(action.job, action.step); }
  void carry_out(const FetchSavedState& action) { states_.fetch(action.from); }
  void carry_out(const AbandonFetch& action) { states_.abandon(action.job); }
  void carry_out(const OfferSavedState& action) { states_.offer(action.order, daemon_.address().host()); }
  void carry_out(const TellKeptJobs&);
  void carry_out(const RecordStarted& action) { records_.take(action); }
  void carry_out(const RecordExit& action) { records_.take(action); }
  void carry_out(const RecordAck& action);
  void carry_out(const ForgetWorker& action);
  void carry_out(const ForgetRecords& action);
  void carry_out(const RecordCluster& action);
  void carry_out(const Quit& action);

  void tell_start(const api::StartWorker& order, const Status& status);
  void job_has_left(WorkerId worker);

  AgentOptions options_;
  NodeSlots slots_;
  Measure measure_;
  WorkerLedger ledger_;
  WorkerLogs logs_;
  WorkerRecords records_;
  MemoryTier memory_;
  JobsHere jobs_;

  asio::io_context io_{1};
  WorkerRooms rooms_;
  asio::steady_timer timer_{io_};
  asio::steady_timer farewell_{io_};
  asio::signal_set signals_{io_, SIGTERM, SIGINT};
  Lifeline lifeline_{io_};
  AgentState state_;
  TroubleLog troubles_;
  DaemonContact daemon_;
  WorkerSocket socket_;
  ProcessRunner runner_;
  LogCuts log_cuts_;
  NoticeFiles notices_;
  LengthFiles lengths_;
  StateMover states_;
  WorkerStarts starts_;

  std::deque<Fact> facts_;
  bool feeding_ = false;
  bool ending_ = false;
  std::jthread prober_;  // the last member: it ends before anything that it uses
};

Loop::Loop(Parts parts, WorkerLedger ledger, WorkerLogs logs)
    : options_(parts.options),
      slots_(parts.slots),
      measure_(std::move(parts.measure)),
      ledger_(std::move(ledger)),
      logs_(std::move(logs)),
      records_(options_.state_dir / "work", ledger_, logs_),
      memory_({.root = options_.memory_folder(),
               .earlier = options_.shared_memory_folder(),
               .jobs = options_.state_dir / "jobs",
               .say = [](const std::string& line) { spdlog::info("{}", line); }}),
      rooms_(io_, std::move(parts.rooms)),
      state_({.exit_when_idle = options_.exit_when_idle}, ledger_.history(), std::random_device{}(), monotonic_now()),
      daemon_(io_, options_,
              {.on_opened = [this] { feed(LinkOpened{}); },
               .on_message = [this](api::DaemonToAgent message) { on_daemon_message(std::move(message)); },
               .on_closed = [this](const std::string& why) { on_link_closed(why); }}),
      socket_(io_, {.user_of =
                        [this](WorkerId worker) {
                          return state_.lives(worker) ? std::optional(rooms_.user_of(worker)) : std::nullopt;
                        },
                    .on_message = [this](WorkerId worker,
                                         api::FromWorker message) { on_worker_message(worker, std::move(message)); },
                    .on_pulse = [this](WorkerId worker,
                                       api::PulseMessage pulse) { feed(WorkerPulseReceived{worker, pulse}); },
                    .on_hung_up = [this](WorkerId worker) { feed(WorkerHungUp{worker}); },
                    .on_trouble = troubles_.as_handler()}),
      runner_(io_, [this](const ProcessEnd& end) { on_process_end(end); }),
      log_cuts_(io_, logs_, runner_),
      notices_(io_,
               {.on_answer = [this](WorkerId id, api::AnswerMessage said) { feed(WorkerMessageReceived{id, said}); },
                .on_bad_answer = [this](WorkerId id, const std::string& what) { on_bad_line(id, "answers", what); },
                .on_trouble = [this](WorkerId id,
                                     const std::string& what) { troubles_.warn("the notice of " + id.text(), what); }}),
      lengths_(io_,
               {.on_length = [this](WorkerId id, api::ReadyMessage told) { feed(WorkerMessageReceived{id, told}); },
                .on_trouble = [this](WorkerId id, const std::string& what) { on_bad_line(id, "length", what); }}),
      states_({.memory = options_.memory_folder(), .jobs = options_.state_dir / "jobs"}, options_.state_rate,
              {.post = [this](std::function<void()> what) { asio::post(io_, std::move(what)); },
               .send = [this](const api::AgentToDaemon& message) { daemon_.send(message); },
               .feed = [this](Fact fact) { feed(std::move(fact)); },
               .say = [](const std::string& line) { spdlog::info("{}", line); }}),
      starts_({.options = options_,
               .slots = slots_,
               .state = state_,
               .address = daemon_.address(),
               .logs = logs_,
               .states = states_,
               .ledger = ledger_,
               .records = records_,
               .jobs = jobs_,
               .memory = memory_,
               .rooms = rooms_,
               .notices = notices_,
               .lengths = lengths_,
               .runner = runner_,
               .before_start = [this] { prober_.request_stop(); }}) {}

Status Loop::prepare() {
  TP_TRY(make_private_folder(options_.state_dir / "work"));
  TP_TRY(socket_.listen_in(options_.state_dir));
  if (!ledger_.foreign().empty()) spdlog::warn(foreign_words(options_.state_dir, ledger_.foreign()));
  adopt_workers();
  memory_.join_cluster(state_.cluster());
  states_.join_cluster(state_.cluster());
  if (!options_.lifeline) return ok_status();
  return lifeline_.watch(*options_.lifeline, [this] {
    spdlog::info("the process that started this agent has ended: its workers are stopped");
    feed(QuitAsked{.stop_workers = true});
  });
}

void Loop::adopt_workers() {
  for (const WorkerId worker : ledger_.history().open()) {
    WorkerStarts::Found found = starts_.adopt(worker);
    if (found.restartable) feed(RestartableAdopted{*std::move(found.restartable)});
    if (found.kill_at) feed(EndingAdopted{worker, *found.kill_at});
    if (found.ended.empty()) continue;
    rooms_.close(worker, end_of({.worker = worker, .detail = found.ended, .nothing_started = found.nothing_started}));
  }
}

void Loop::run() {
  watch_signals();
  log_cuts_.start();
  arm_timer();
  io_.run();
}

// Facts that arise while actions are carried out are queued, so that actions keep their order.
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

WorkerRooms::Told Loop::end_of(const WorkerEnded& fact) {
  const auto done = [this, fact](const std::string& why) {
    WorkerEnded told = fact;
    if (!why.empty()) told.detail = why;
    socket_.forget(told.worker);
    notices_.forget(told.worker, records_.folder_of(told.worker));
    lengths_.forget(told.worker);
    job_has_left(told.worker);
    feed(std::move(told));
  };
  return {done, [this, fact](const std::string& what, Duration lasted) { feed(SlotsStillHeld{fact, what, lasted}); }};
}

void Loop::on_process_end(const ProcessEnd& end) {
  WorkerEnded fact{.worker = end.worker, .exit_code = end.exit_code, .signal = end.signal};
  fact.nothing_started = end.agent_failed;
  fact.detail = end.known ? logs_.last_output(end.worker) : "exited while adopted; exit code unknown";
  if (!end.detail.empty()) fact.detail = end.detail;
  // Its last messages come first: `finished` before its exit.
  socket_.when_drained(end.worker, [this, fact] { rooms_.close(fact.worker, end_of(fact)); });
}

void Loop::carry_out(const SendHello& action) {
  daemon_.send_hello_once({.slots = slots_.count,
                           .slot_type = slots_.type,
                           .price_per_slot_hour = options_.price_per_slot_hour,
                           .running = action.running,
                           .isolation = rooms_.kept(),
                           .moves_states = states_.ready() ? std::optional(true) : std::nullopt,
                           .gives_notice = true,
                           .memory_per_slot = rooms_.confinement().memory_per_slot(),
                           .starts = action.starts,
                           .instance = ledger_.instance()});
}

void Loop::carry_out(const SendToWorker& action) {
  const auto* notice = rooms_.confinement().on() ? nullptr : std::get_if<api::NoticeMessage>(&action.message);
  if (notice != nullptr) notices_.tell(action.worker, records_.folder_of(action.worker), *notice);
  socket_.send(action.worker, action.message);
}

void Loop::carry_out(const SpawnWorker& action) {
  const api::StartWorker& order = action.order;
  if (const auto why = records_.take_why_unrecorded(order.worker)) {
    return feed(WorkerEnded{.worker = order.worker,
                            .detail = "this node cannot write its state directory (" + *why + "); nothing was started",
                            .nothing_started = true});
  }
  tell_start(order, starts_.start(order));
}

void Loop::tell_start(const api::StartWorker& order, const Status& status) {
  if (status.ok()) {
    spdlog::info("{} of {} started: {}", order.worker.text(), order.job.text(), order.program);
    return;
  }
  job_has_left(order.worker);
  const ProcessEnd end = not_started(order.worker, status.error());
  if (end.agent_failed) lengths_.forget(order.worker);  // otherwise it may wait for its next program
  feed(WorkerEnded{
      .worker = end.worker, .exit_code = end.exit_code, .detail = end.detail, .nothing_started = end.agent_failed});
}

void Loop::carry_out(const OfferProgramAddress& action) {
  const WorkerId worker = action.order.worker;
  const auto blob = starts_.offer(action);
  if (!blob) return spdlog::error("{}: {}", worker.text(), blob.error().message);
  feed(WorkerMessageReceived{worker, api::AddressMessage{action.what.generation, action.what.rank, *blob}});
}

// Moves a state to disk that the job's last worker here has parked.
void Loop::job_has_left(WorkerId worker) {
  rooms_.release(worker);
  const auto left = jobs_.leave(worker);
  if (!left) return;
  rooms_.job_left(left->job);
  if (left->ended) {
    memory_.drop(left->job);
  } else {
    memory_.leave(left->job);
  }
}

void Loop::carry_out(const DropStates& action) {
  if (jobs_.end(action.job)) memory_.drop(action.job);
}

void Loop::carry_out(const TellKeptJobs&) {
  api::KeptJobsReport report{.jobs = memory_.kept_jobs()};
  if (!report.jobs.empty()) daemon_.send(std::move(report));
}

void Loop::report_figures(const std::vector<DeviceFigures>& figures) {
  api::ProbedReport report;
  for (const DeviceFigures& each : figures) {
    report.devices.push_back({each.device, each.matmul_gflops, each.copy_gbps});
  }
  feed(DevicesProbed{std::move(report)});
}

// In a thread of its own, because the loop must not wait for the probe; its figures return through the loop.
void Loop::carry_out(const ProbeDevices&) {
  if (options_.probe == AgentOptions::Probe::kNever) return;
  prober_ = std::jthread([this](const std::stop_token& stop) {
    asio::post(io_, [this, figures = measure_(stop)] { report_figures(figures); });
  });
}

void Loop::carry_out(const RecordAck& action) {
  records_.take(action, [this](WorkerId worker) { return state_.lives(worker); });
  starts_.forget(action.worker);
}

void Loop::carry_out(const ForgetWorker& action) {
  records_.take(action);
  starts_.forget(action.worker);
}

void Loop::carry_out(const ForgetRecords& action) {
  records_.take(action);
  memory_.forget_cluster(action.cluster);
}

void Loop::carry_out(const RecordCluster& action) {
  records_.take(action);
  memory_.join_cluster(action.cluster);
  states_.join_cluster(action.cluster);
}

void Loop::carry_out(const Quit& action) {
  if (std::exchange(ending_, true)) return;
  spdlog::info("agent ends: {}", action.why);
  // The last reports get a moment to be sent; the next agent sends the rest.
  if (!daemon_.finish()) {
    io_.stop();
    return;
  }
  farewell_.expires_after(kFarewellPatience);
  farewell_.async_wait([this](error_code) { io_.stop(); });
}

// Also into the job's log: the people who read it wrote that line, and cannot read the agent's log.
void Loop::on_bad_line(WorkerId worker, const std::string& of, const std::string& sentence) {
  if (troubles_.warn("the " + of + " of " + worker.text(), sentence)) logs_.note(worker, sentence);
}

void Loop::on_worker_message(WorkerId worker, api::FromWorker message) {
  const auto* said = std::get_if<api::AddressMessage>(&message);
  const auto why = said == nullptr ? std::nullopt : why_not_of_node(said->blob, daemon_.address().host());
  if (!why) return feed(WorkerMessageReceived{worker, std::move(message)});
  spdlog::error("{} is ended: it says where the other workers are to meet it, but {}", worker.text(), *why);
  runner_.signal(worker, SIGKILL);
}

void Loop::on_daemon_message(api::DaemonToAgent message) {
  if (std::holds_alternative<api::AgentWelcome>(message)) lengths_.report_again();
  feed(DaemonMessageReceived{std::move(message)});
}

void Loop::on_link_closed(const std::string& why) {
  if (ending_) {
    io_.stop();
    return;
  }
  feed(LinkClosed{why});
}

}  // namespace

Result<std::unique_ptr<AgentLoop>> AgentLoop::open(const AgentOptions& options, Node node, DeviceReaders senses) {
  auto ledger = WorkerLedger::open(options.state_dir);
  if (!ledger) return ledger.error();
  auto logs = WorkerLogs::open(options.state_dir / "logs");
  if (!logs) return logs.error();
  WorkerRooms::Parts rooms{.confinement = std::move(node.confinement),
                           .work = options.state_dir / "work",
                           .gpu_processes = std::move(senses.gpu_processes),
                           .cpus = cpus_of(node.slots, usable_cpus())};
  auto loop = std::make_unique<Loop>(Loop::Parts{options, node.slots, std::move(senses.measure), std::move(rooms)},
                                     std::move(*ledger), std::move(*logs));
  TP_TRY(loop->prepare());
  return std::unique_ptr<AgentLoop>(std::move(loop));
}

}  // namespace tidepool::agent
