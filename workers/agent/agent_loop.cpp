#include "workers/agent/agent_loop.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
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
#include "workers/agent/certificate_renewal.hpp"
#include "workers/agent/daemon_link.hpp"
#include "workers/agent/data_address.hpp"
#include "workers/agent/lifeline.hpp"
#include "workers/agent/log_cuts.hpp"
#include "workers/agent/memory_tier.hpp"
#include "workers/agent/node_isolation.hpp"
#include "workers/agent/process_runner.hpp"
#include "workers/agent/program_files/length_files.hpp"
#include "workers/agent/program_files/notice_files.hpp"
#include "workers/agent/program_offers.hpp"
#include "workers/agent/restart_files.hpp"
#include "workers/agent/state/agent_state.hpp"
#include "workers/agent/system/monotonic.hpp"
#include "workers/agent/system/proc_info.hpp"
#include "workers/agent/system/state_files.hpp"
#include "workers/agent/system/trouble_log.hpp"
#include "workers/agent/torchrun.hpp"
#include "workers/agent/transfer/state_mover.hpp"
#include "workers/agent/worker_launch.hpp"
#include "workers/agent/worker_ledger.hpp"
#include "workers/agent/worker_logs.hpp"
#include "workers/agent/worker_rooms.hpp"
#include "workers/agent/worker_socket.hpp"

namespace tidepool::agent {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
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
  void tell_figures(const std::vector<DeviceFigures>& figures) override;
  void tell_notice(std::optional<Instant> at) override {
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
  void on_worker_message(WorkerId worker, api::FromWorker message);
  void on_daemon_message(api::DaemonToAgent message);
  void on_link_opened();
  void on_link_closed(const std::string& why);

  void carry_out(const OpenLink&) { link_.open(); }
  void carry_out(const CloseLink& action) { link_.close(action.why); }
  void carry_out(const SendHello& action);
  void carry_out(const SendToDaemon& action) { link_.send(action.message); }
  void carry_out(const SendToWorker& action);
  void carry_out(const CloseWorkerLinks&) { socket_.close_links(); }
  void carry_out(const SpawnWorker& action);
  void carry_out(const SpawnProgram& action) { tell_start(action.order, spawn_rank(action)); }
  void carry_out(const RecordRestartable& action);
  void carry_out(const OfferProgramAddress& action);
  void carry_out(const SignalWorker& action) { runner_.signal(action.worker, action.signal); }
  void carry_out(const WarnOf& action) { troubles_.warn(action.worker.text(), action.sentence); }
  void carry_out(const ReadLog& action) { link_.send(logs_.read(action.order, state_.lives(action.order.worker))); }
  void carry_out(const ProbeDevices&);
  void carry_out(const DropStates& action);
  void carry_out(const AskForState& action) { states_.ask(action.job, action.step); }
  void carry_out(const FetchSavedState& action) { states_.fetch(action.from); }
  void carry_out(const AbandonFetch& action) { states_.abandon(action.job); }
  void carry_out(const OfferSavedState& action) { states_.offer(action.order, address_.host()); }
  void carry_out(const TellKeptJobs&);
  void carry_out(const RecordStarted& action);
  void carry_out(const RecordExit& action);
  void carry_out(const RecordAck& action);
  void carry_out(const ForgetWorker& action);
  void carry_out(const ForgetRecords& action);
  void forget_work(WorkerId worker);
  void carry_out(const RecordCluster& action);
  void carry_out(const Quit& action);

  [[nodiscard]] Status spawn(const api::StartWorker& order);
  void tell_start(const api::StartWorker& order, const Status& status);
  [[nodiscard]] Status spawn_rank(const SpawnProgram& action);
  [[nodiscard]] fs::path work_folder(WorkerId worker) const { return options_.state_dir / "work" / worker.text(); }
  void job_has_left(WorkerId worker);

  AgentOptions options_;
  NodeSlots slots_;
  Measure measure_;
  WorkerLedger ledger_;
  WorkerLogs logs_;
  MemoryTier memory_;
  std::map<WorkerId, JobId> jobs_;  // of the living
  std::map<std::string, std::string> environment_ = own_environment();

  asio::io_context io_{1};
  WorkerRooms rooms_;
  asio::steady_timer timer_{io_};
  asio::steady_timer farewell_{io_};
  asio::signal_set signals_{io_, SIGTERM, SIGINT};
  Lifeline lifeline_{io_};
  AgentState state_;
  TroubleLog troubles_;
  NodeAddress address_;
  DaemonLink link_;
  CertificateRenewal renewal_;
  WorkerSocket socket_;
  ProcessRunner runner_;
  LogCuts log_cuts_;
  NoticeFiles notices_;
  LengthFiles lengths_;
  StateMover states_;

  std::deque<Fact> facts_;
  bool feeding_ = false;
  ProgramOffers offers_;
  std::map<WorkerId, std::string> unrecorded_;  // why the ledger could not take their start: they must not run
  std::set<JobId> to_drop_;                     // jobs that have ended and whose workers have not
  std::string last_loss_;
  bool ending_ = false;
  std::jthread prober_;  // the last member: it ends before anything that it uses
};

Loop::Loop(Parts parts, WorkerLedger ledger, WorkerLogs logs)
    : options_(parts.options),
      slots_(parts.slots),
      measure_(std::move(parts.measure)),
      ledger_(std::move(ledger)),
      logs_(std::move(logs)),
      memory_({.root = options_.memory_folder(),
               .earlier = options_.shared_memory_folder(),
               .jobs = options_.state_dir / "jobs",
               .say = [](const std::string& line) { spdlog::info("{}", line); }}),
      rooms_(io_, std::move(parts.rooms)),
      state_({.exit_when_idle = options_.exit_when_idle}, ledger_.history(), std::random_device{}(), monotonic_now()),
      address_(options_.data_address, options_.isolation.denied),
      link_(io_, options_.daemon,
            {.on_opened = [this] { on_link_opened(); },
             .on_message = [this](api::DaemonToAgent message) { on_daemon_message(std::move(message)); },
             .on_closed = [this](const std::string& why) { on_link_closed(why); }}),
      renewal_(io_, options_.state_dir, options_.identity,
               {.send = [this](const api::CertificateRequest& request) { link_.send(request); },
                .use = [this](tls::Context context) { link_.secure(std::move(context)); }}),
      socket_(io_, {.user_of =
                        [this](WorkerId worker) {
                          return state_.lives(worker) ? std::optional(rooms_.user_of(worker)) : std::nullopt;
                        },
                    .on_message = [this](WorkerId worker,
                                         api::FromWorker message) { on_worker_message(worker, std::move(message)); },
                    .on_pulse = [this](WorkerId worker, api::PulseMessage pulse) { feed(WorkerPulsed{worker, pulse}); },
                    .on_hung_up = [this](WorkerId worker) { feed(WorkerHungUp{worker}); },
                    .on_trouble = troubles_.as_handler()}),
      runner_(io_, [this](const ProcessEnd& end) { on_process_end(end); }),
      log_cuts_(io_, logs_, runner_),
      notices_(io_, {.on_answer = [this](WorkerId id, api::AnswerMessage said) { feed(WorkerSaid{id, said}); },
                     .on_trouble = troubles_.as_handler()}),
      lengths_(io_, {.on_length = [this](WorkerId id, api::ReadyMessage told) { feed(WorkerSaid{id, told}); },
                     .on_trouble = troubles_.as_handler()}),
      states_({.memory = options_.memory_folder(), .jobs = options_.state_dir / "jobs"}, options_.state_rate,
              {.post = [this](std::function<void()> what) { asio::post(io_, std::move(what)); },
               .send = [this](const api::AgentToDaemon& message) { link_.send(message); },
               .feed = [this](Fact fact) { feed(std::move(fact)); },
               .say = [](const std::string& line) { spdlog::info("{}", line); }}) {}

Status Loop::prepare() {
  TP_TRY(make_private_folder(options_.state_dir / "work"));
  TP_TRY(socket_.listen_in(options_.state_dir));
  if (!ledger_.foreign().empty()) spdlog::warn(foreign_words(options_.state_dir, ledger_.foreign()));
  adopt_workers();
  memory_.join_cluster(state_.cluster());
  states_.join_cluster(state_.cluster());
  if (!options_.lifeline) return ok_status();
  return lifeline_.watch(*options_.lifeline, [this] {
    spdlog::info("the process that started this agent is gone: its workers are stopped");
    feed(QuitAsked{.stop_workers = true});
  });
}

void Loop::adopt_workers() {
  for (const WorkerId worker : ledger_.history().open()) {
    const auto record = ledger_.process_of(worker);
    if (record && runner_.adopt(*record)) {
      jobs_[worker] = record->job;
      rooms_.adopt(*record);
      rooms_.deny_addresses_to(worker);
      static_cast<void>(memory_.enter(record->job, {}));
      if (auto restartable = read_seat(work_folder(worker))) {
        offers_.adopt(worker, restartable->offer);
        lengths_.adopt(worker, rooms_.length_file_of(worker, record->job));
        feed(RestartableAdopted{
            RestartableWorker(restartable->order, restartable->offer.generation, restartable->offer.rank)});
      }
      spdlog::info("{} (pid {}) of {} goes on; adopted", worker.text(), record->pid, record->job.text());
      continue;
    }
    if (auto restartable = read_seat(work_folder(worker))) {
      // Its agent ended while no program of it lived, or the program has ended since.
      spdlog::info("{} of {} holds its slots; adopted without a program", worker.text(), restartable->order.job.text());
      if (restartable->started) offers_.adopt(worker, restartable->offer);
      feed(RestartableAdopted{without_program(*std::move(restartable))});
      continue;
    }
    if (record) rooms_.adopt(*record);
    const char* why = record ? "exited while no agent watched it; exit code unknown"
                             : "the agent ended before this worker could start";
    rooms_.close(worker, end_of({.worker = worker, .detail = why}));
  }
}

void Loop::run() {
  watch_signals();
  log_cuts_.start();
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

WorkerRooms::Told Loop::end_of(const WorkerEnded& fact) {
  const auto done = [this, fact](const std::string& why) {
    WorkerEnded told = fact;
    if (!why.empty()) told.detail = why;
    socket_.forget(told.worker);
    notices_.forget(told.worker, work_folder(told.worker));
    lengths_.forget(told.worker);
    job_has_left(told.worker);
    feed(std::move(told));
  };
  return {done, [this, fact](const std::string& what, Duration lasted) { feed(SlotsStillHeld{fact, what, lasted}); }};
}

void Loop::on_process_end(const ProcessEnd& end) {
  WorkerEnded fact{.worker = end.worker, .exit_code = end.exit_code, .signal = end.signal};
  fact.detail = end.known ? logs_.last_output(end.worker) : "exited while adopted; exit code unknown";
  if (!end.detail.empty()) fact.detail = end.detail;
  // What it said before it ended comes first: `finished` before its exit.
  socket_.when_drained(end.worker, [this, fact] { rooms_.close(fact.worker, end_of(fact)); });
}

void Loop::carry_out(const SendHello& action) {
  auto token = read_token(options_.token_file);
  if (!token) return link_.close(token.error().message);
  link_.send(api::AgentHello{.token = std::move(*token),
                             .node = options_.node,
                             .slots = slots_.count,
                             .slot_type = slots_.type,
                             .price_per_slot_hour = options_.price_per_slot_hour,
                             .running = action.running,
                             .data_address = address_.host(),
                             .isolation = rooms_.kept(),
                             .moves_states = states_.ready() ? std::optional(true) : std::nullopt,
                             .gives_notice = true,
                             .memory_per_slot = rooms_.confinement().memory_per_slot(),
                             .starts = action.starts,
                             .instance = ledger_.instance(),
                             .follows_authorities = options_.identity ? std::optional(true) : std::nullopt});
}

void Loop::carry_out(const SendToWorker& action) {
  const auto* notice = rooms_.confinement().on() ? nullptr : std::get_if<api::NoticeMessage>(&action.message);
  if (notice != nullptr) notices_.tell(action.worker, work_folder(action.worker), *notice);
  socket_.send(action.worker, action.message);
}

void Loop::carry_out(const SpawnWorker& action) {
  const api::StartWorker& order = action.order;
  if (const auto why = unrecorded_.extract(order.worker)) {
    return feed(WorkerEnded{
        .worker = order.worker,
        .detail = "this node cannot write its state directory (" + why.mapped() + "); nothing was started"});
  }
  tell_start(order, spawn(order));
}

void Loop::tell_start(const api::StartWorker& order, const Status& status) {
  if (status.ok()) {
    spdlog::info("{} of {} started: {}", order.worker.text(), order.job.text(), order.program);
    return;
  }
  job_has_left(order.worker);
  const ProcessEnd end = not_started(order.worker, status.error());
  feed(WorkerEnded{.worker = end.worker, .exit_code = end.exit_code, .detail = end.detail});
}

Status Loop::spawn_rank(const SpawnProgram& action) {
  if (unrecorded_.contains(action.order.worker)) {  // the next agent would not know its program
    TP_TRY(ledger_.record_started(action.order.worker, action.order.started_at.value_or(0)));
    unrecorded_.erase(action.order.worker);
  }
  const auto around =
      surroundings_of({.generation = action.what.generation, .rank = action.what.rank, .blobs = action.what.addresses});
  if (!around) return around.error();
  api::StartWorker order = action.order;
  for (const auto& [name, value] : around->environment) order.env[name] = value;
  order.slots = around->slots;
  memory_.know_job(order.job, order.submitted_at.value_or(0));
  const fs::path folder = work_folder(order.worker);
  TP_TRY(write_seat(folder, {.order = action.order, .offer = offers_.of(order.worker), .started = true, .ended = {}}));
  offers_.let_go_of_port(order.worker);
  return spawn(order);
}

void Loop::carry_out(const RecordRestartable& action) {
  const fs::path folder = work_folder(action.order.worker);
  const Status status = write_seat(folder, {.order = action.order,
                                            .offer = offers_.of(action.order.worker),
                                            .started = action.ended.has_value(),
                                            .ended = action.ended});
  if (!status.ok()) spdlog::error("{}: {}", action.order.worker.text(), status.error().message);
}

void Loop::carry_out(const OfferProgramAddress& action) {
  const WorkerId worker = action.order.worker;
  const auto blob =
      offers_.offer(worker, action.what, {.node = options_.node, .host = address_.host(), .slots = action.order.slots});
  if (!blob) return spdlog::error("{}: {}", worker.text(), blob.error().message);
  feed(WorkerSaid{worker, api::AddressMessage{action.what.generation, action.what.rank, *blob}});
}

Status Loop::spawn(const api::StartWorker& order) {
  prober_.request_stop();  // the devices are the worker's
  const fs::path folder = work_folder(order.worker);
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const auto named = order.env.find("TIDEPOOL_CHECKPOINT_DIR");
  const fs::path disk = named == order.env.end() ? memory_.disk_folder(order.job) : fs::path(named->second);
  memory_.know_job(order.job, order.submitted_at.value_or(0));
  const auto in_memory = memory_.enter(order.job, disk);
  jobs_[order.worker] = order.job;
  LaunchPlace place{.program_folder = self.parent_path(),
                    .agent_socket = order.restart_grace_ms ? fs::path() : options_.state_dir / "w.sock",
                    .job_file = folder / "job.json",
                    .cluster = state_.cluster(),
                    .checkpoint_folder = memory_.disk_folder(order.job),
                    .park_folder = in_memory,
                    .data = address_.now(),
                    .agent_environment = environment_};
  if (order.restart_grace_ms) place.length_file = rooms_.length_file_of(order.worker, order.job);
  rooms_.name_places(place);
  notices_.forget(order.worker, folder);
  auto spec = plan_launch(order, place, slots_);
  if (!spec) return spec.error();
  TP_TRY(make_private_folder(folder));
  TP_TRY(replace_file(folder / "job.json", order.spec + "\n"));
  auto output = logs_.writer(order.worker);
  if (!output) return output.error();
  spec->output = output->get();
  const auto uid = rooms_.open({.order = order,
                                .node = slots_,
                                .cluster = state_.cluster(),
                                .states = memory_.disk_folder(order.job),
                                .log = output->get()},
                               *spec);
  if (!uid) return uid.error();
  if (order.restart_grace_ms) lengths_.start(order.worker, rooms_.length_file_of(order.worker, order.job));
  if (order.state_step) TP_TRY(states_.deliver(order.job, memory_.disk_folder(order.job), *uid));
  return runner_.start({.worker = order.worker,
                        .job = order.job,
                        .cpus = spec->cpus,
                        .gpus = rooms_.gpus_of_worker(order.worker),
                        .uid = *uid},
                       *spec, [this](const ProcessRecord& record) { return ledger_.record_process(record); });
}

// A state that the job's last worker here has parked is moved to disk.
void Loop::job_has_left(WorkerId worker) {
  rooms_.release(worker);
  const auto ended = jobs_.extract(worker);
  if (ended.empty()) return;
  const JobId job = ended.mapped();
  if (std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& entry) { return entry.second == job; })) return;
  rooms_.job_left(job);
  if (to_drop_.erase(job) > 0) {
    memory_.drop(job);
  } else {
    memory_.leave(job);
  }
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
  if (options_.probe == AgentOptions::Probe::kNever) return;
  prober_ = std::jthread([this](const std::stop_token& stop) {
    asio::post(io_, [this, figures = measure_(stop)] { tell_figures(figures); });
  });
}

void Loop::carry_out(const RecordStarted& action) {
  const auto status = ledger_.record_started(action.worker, action.started_at);
  if (status.ok()) return;
  spdlog::error("{}: {}", action.worker.text(), status.error().message);
  unrecorded_[action.worker] = status.error().message;
}

void Loop::carry_out(const RecordExit& action) {
  spdlog::info(to_text(action));
  // Reported all the same: without the record, the next agent would only report it less exactly.
  if (const auto status = ledger_.record_exit(action.report); !status.ok()) spdlog::error(status.error().message);
}

void Loop::carry_out(const RecordAck& action) {
  // Without the record, the next agent would report once more, and the daemon acknowledge once more.
  if (const auto status = ledger_.record_ack(action.worker); !status.ok()) spdlog::error(status.error().message);
  ledger_.forget_process(action.worker);
  forget_work(action.worker);
  logs_.prune([this](WorkerId worker) { return state_.lives(worker); });
}

void Loop::forget_work(WorkerId worker) {
  unrecorded_.erase(worker);
  offers_.forget(worker);
  std::error_code error;
  fs::remove_all(work_folder(worker), error);
}

void Loop::carry_out(const ForgetWorker& action) {
  spdlog::warn("event=worker_of_lost_timeline worker={} why=\"the daemon's journal went back and does not know it\"",
               action.worker.text());
  if (const auto status = ledger_.record_forgotten(action.worker); !status.ok()) spdlog::error(status.error().message);
  forget_work(action.worker);
  logs_.remove(action.worker);
}

void Loop::carry_out(const ForgetRecords& action) {
  spdlog::warn(
      "the daemon is of another cluster than the records of this node: all that cluster {} had here is forgotten",
      action.cluster);
  if (const auto status = ledger_.forget_all(); !status.ok()) spdlog::error(status.error().message);
  logs_.clear();
  unrecorded_.clear();
  if (const auto status = empty_folder(options_.state_dir / "work"); !status.ok()) {
    spdlog::error(status.error().message);
  }
  memory_.forget_cluster(action.cluster);
}

void Loop::carry_out(const RecordCluster& action) {
  if (const auto status = ledger_.record_cluster(action.cluster); !status.ok()) spdlog::error(status.error().message);
  memory_.join_cluster(action.cluster);
  states_.join_cluster(action.cluster);
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

void Loop::on_worker_message(WorkerId worker, api::FromWorker message) {
  const auto* said = std::get_if<api::AddressMessage>(&message);
  const auto why = said == nullptr ? std::nullopt : why_not_of_node(said->blob, address_.host());
  if (!why) return feed(WorkerSaid{worker, std::move(message)});
  spdlog::error("{} is ended: it says where the other workers are to meet it, but {}", worker.text(), *why);
  runner_.signal(worker, SIGKILL);
}

void Loop::on_link_opened() {
  if (const Status known = address_.learn(link_.own_host()); !known.ok()) return link_.close(known.error().message);
  feed(LinkOpened{});
}

void Loop::on_daemon_message(api::DaemonToAgent message) {
  if (const auto* issued = std::get_if<api::CertificateIssued>(&message)) return renewal_.take(*issued);
  if (const auto* told = std::get_if<api::TrustedAuthorities>(&message)) return renewal_.take(*told);
  if (const auto* welcome = std::get_if<api::AgentWelcome>(&message)) {
    spdlog::info("the daemon knows this node as {}", welcome->node.text());
    last_loss_.clear();
    renewal_.welcomed();
    lengths_.tell_again();
  }
  feed(DaemonSaid{std::move(message)});
}

void Loop::on_link_closed(const std::string& why) {
  renewal_.link_closed();
  if (ending_) {
    io_.stop();
    return;
  }
  // Said once, not at every attempt.
  if (std::exchange(last_loss_, why) != why) spdlog::warn("no link to the daemon: {}; trying again", why);
  feed(LinkClosed{why});
}

}  // namespace

Result<std::unique_ptr<AgentLoop>> AgentLoop::open(const AgentOptions& options, const NodeSlots& slots, Senses senses) {
  auto ledger = WorkerLedger::open(options.state_dir);
  if (!ledger) return ledger.error();
  auto logs = WorkerLogs::open(options.state_dir / "logs");
  if (!logs) return logs.error();
  auto confinement = isolate(options, slots);
  if (!confinement) return confinement.error();
  WorkerRooms::Parts rooms{.confinement = std::move(*confinement),
                           .work = options.state_dir / "work",
                           .gpu_processes = std::move(senses.gpu_processes),
                           .cpus = cpus_of(slots, usable_cpus())};
  auto loop = std::make_unique<Loop>(Loop::Parts{options, slots, std::move(senses.measure), std::move(rooms)},
                                     std::move(*ledger), std::move(*logs));
  TP_TRY(loop->prepare());
  return std::unique_ptr<AgentLoop>(std::move(loop));
}

}  // namespace tidepool::agent
