#include "sim/fleet.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/check.hpp"
#include "base/digest.hpp"
#include "base/overloaded.hpp"
#include "core/state/membership.hpp"
#include "sim/daemon.hpp"

namespace tidepool::sim {
namespace {

using core::contains;

}  // namespace

// The machine of one node, as its agent gets at it at one moment.
class Fleet::Hands final : public Machine {
 public:
  Hands(Fleet& fleet, int node, Instant now) : fleet_(fleet), node_(node), now_(now) {}

  void begin_worker(const api::StartWorker& order) override { fleet_.begin_worker(node_, order, now_); }
  void begin_program(WorkerId worker, const agent::RestartableWorker::StartProgram& what) override {
    fleet_.begin_program(worker, what, now_);
  }
  void signal(WorkerId worker, int number) override { fleet_.signal(worker, number, now_); }
  void end_worker(WorkerId worker) override { fleet_.release(worker, now_); }
  void on_message(WorkerId worker, const api::ToWorker& message) override { fleet_.on_message(worker, message, now_); }
  void relink_workers() override { fleet_.relink(node_, now_); }
  void ask_for_state(JobId job, std::int64_t step) override { fleet_.ask_for_state(node_, job, step, now_); }
  void fetch_state(const api::FetchState& from) override { fleet_.fetch_state(node_, from, now_); }
  void abandon_fetch(JobId job) override { fleet_.abandon_fetch(node_, job); }
  void offer_state(const api::OfferState& order) override { fleet_.offer_state(node_, order); }
  void open_link() override { fleet_.setup_.open_link(node_); }
  void close_link() override { fleet_.setup_.close_link(node_); }
  void greet(std::vector<WorkerId> running) override { fleet_.greet(node_, std::move(running)); }
  void send(api::AgentToDaemon message) override {
    if (const auto* said = std::get_if<api::StateBroughtReport>(&message))
      fleet_.brought_[said->job] = {said->step, node_};
    fleet_.setup_.to_daemon(node_, FromNode{node_, std::move(message)});
  }
  void wake_at(Instant at) override { fleet_.setup_.later(at, NodeWakes{node_}); }

 private:
  Fleet& fleet_;
  int node_;
  Instant now_;
};

Fleet::Fleet(Setup setup) : setup_(std::move(setup)), rng_(setup_.seed) {
  const ClusterShape& cluster = setup_.cluster;
  for (int node = 0; node < cluster.nodes; ++node) {
    add_machine(node_name(node), setup_.kinds.empty()
                                     ? NodeKind{.slots = cluster.slots_per_node, .slot_type = cluster.slot_type}
                                     : setup_.kinds[static_cast<std::size_t>(node)]);
  }
}

void Fleet::boot(Instant now) {
  for (int node = 0; node < nodes(); ++node) switch_on(node, now);
}

int Fleet::add(const std::string& name, const NodeKind& kind, Instant now) {
  add_machine(name, kind);
  switch_on(nodes() - 1, now);
  return nodes() - 1;
}

void Fleet::add_machine(const std::string& name, const NodeKind& kind) {
  const auto seed = Digest().mix(setup_.seed).mix(static_cast<std::uint64_t>(nodes())).value();
  nodes_.push_back({.name = name, .kind = kind, .agent = NodeAgent(seed), .pace = usual_pace(kind)});
}

void Fleet::switch_on(int node, Instant now) {
  Hands hands(*this, node, now);
  at(node).agent.boot(hands, now);
}

void Fleet::on(const NodeWakes& event, Instant now) {
  Hands hands(*this, event.node, now);
  at(event.node).agent.wake(hands, now);
}

void Fleet::feed(int node, agent::Fact fact, Instant now) {
  Hands hands(*this, node, now);
  at(node).agent.feed(std::move(fact), hands, now);
}

void Fleet::say(WorkerId worker, api::FromWorker message, Instant now) {
  feed(where_.at(worker), agent::WorkerMessageReceived{worker, std::move(message)}, now);
}

void Fleet::receive(int node, api::DaemonToAgent message, Instant now) {
  feed(node, agent::DaemonMessageReceived{std::move(message)}, now);
}

void Fleet::happen(const FleetEvent& event, Instant now) {
  std::visit([&](const auto& any) { on(any, now); }, event);
}

// --- links --------------------------------------------------------------------------------------

void Fleet::link_opened(int node, Instant now) {
  feed(node, agent::LinkOpened{}, now);
}

void Fleet::link_closed(int node, Instant now) {
  feed(node, agent::LinkClosed{"lost"}, now);
}

void Fleet::greet(int node, std::vector<WorkerId> running) {
  const NodeKind& kind = at(node).kind;
  const std::string price = to_text(setup_.cluster.price_per_slot_hour);
  setup_.to_daemon(
      node, FromNode{node, api::AgentHello{.node = at(node).name,
                                           .slots = kind.slots,
                                           .slot_type = kind.slot_type,
                                           .price_per_slot_hour = price,
                                           .running = std::move(running),
                                           .moves_states = setup_.state_rate > 0 ? std::optional(true) : std::nullopt,
                                           .gives_notice = true}});
}

void Fleet::relink(int node, Instant now) {
  std::vector<WorkerId> linked;
  for (const auto& [id, process] : at(node).processes) {
    if (!process.is_seat && process.ready && !process.stuck) linked.push_back(id);
  }
  for (const WorkerId id : linked) send_position(id, now);
}

// --- processes ----------------------------------------------------------------------------------

// The simulated job's document names it, which is all that its truth is found by.
TrainingRun& Fleet::run_of(const api::StartWorker& start) {
  const auto [run, is_new] = runs_.try_emplace(start.job);
  if (is_new) {
    const auto name = nlohmann::json::parse(start.spec).at("name").get<std::string>();
    run->second.job = start.job;
    run->second.truth = setup_.truth_of(name);
    if (run->second.truth.program) run->second.program = run->second.truth.program();
    run->second.rng = Rng(Digest().mix(setup_.seed).mix(name).value());
  }
  return run->second;
}

void Fleet::begin_worker(int node, const api::StartWorker& start, Instant now) {
  if (at(node).processes.contains(start.worker)) return;  // of a restartable worker it is said more than once
  occupy(node, start);
  const TrainingRun& run = run_of(start);
  Process process{.job = start.job, .slots = start.slots, .is_seat = start.restart_grace_ms.has_value()};
  process.ready = process.is_seat;
  note_held(process, 1, now);
  processes_of_[start.job].emplace(node, start.worker);
  where_[start.worker] = node;
  const bool boots = !process.is_seat;  // the restartable worker's program boots later
  at(node).processes.emplace(start.worker, std::move(process));
  if (!boots) return;
  const double boot = run.truth.boot.to_seconds() * (0.8 + 0.4 * rng_.uniform());
  setup_.later(now + Duration::from_seconds(boot), BootDone{start.worker});
}

// A reference ledger beside the daemon's: a worker id is started once for ever, and a slot has one process at a time.
void Fleet::occupy(int node, const api::StartWorker& start) {
  if (where_.contains(start.worker)) violations_.push_back(start.worker.text() + " was started twice");
  for (const auto& [other, process] : at(node).processes) {
    for (const int slot : start.slots) {
      if (std::find(process.slots.begin(), process.slots.end(), slot) == process.slots.end()) continue;
      violations_.push_back("slot " + std::to_string(slot) + " of " + at(node).name + " was given to " +
                            start.worker.text() + " while " + other.text() + " sits on it");
    }
  }
}

// A restartable worker that has left is gone only now; of a process nothing is left here already.
void Fleet::release(WorkerId worker, Instant now) {
  const Process* process = find(worker);
  if (process == nullptr) return;
  const int node = where_.at(worker);
  note_held(*process, -1, now);
  processes_of_[process->job].erase({node, worker});
  at(node).processes.erase(worker);
}

void Fleet::note_held(const Process& process, int sign, Instant now) const {
  if (setup_.held) setup_.held(now, process.job, sign * static_cast<int>(process.slots.size()));
}

void Fleet::signal(WorkerId worker, int number, Instant now) {
  Process* process = find(worker);
  if (process == nullptr) return;
  if (number == SIGKILL) return kill(worker, now);
  if (process->is_seat) return ask_program_to_end(worker, now);
  if (std::exchange(process->ending, true) || process->ignores_notice || process->stuck) return;
  setup_.later(now + runs_.at(process->job).truth.park, ProcessEnds{worker});
}

void Fleet::kill(WorkerId worker, Instant now) {
  if (find(worker)->is_seat) return program_ends(worker, -1, SIGKILL, now);
  on(ProcessEnds{worker, -1, SIGKILL}, now);
}

void Fleet::on(const ProcessEnds& event, Instant now) {
  const Process* process = find(event.worker);
  if (process == nullptr) return;
  TrainingRun& run = runs_.at(process->job);
  const bool has_left = run.switching && !contains(run.next->members, event.worker);
  if (has_left) std::erase(run.members, event.worker);
  if (contains(run.members, event.worker)) halt(run, now);
  if (run.next && contains(run.next->members, event.worker) && run.switching) halt(run, now);
  release(event.worker, now);
  feed(where_.at(event.worker),
       agent::WorkerEnded{
           .worker = event.worker, .exit_code = event.signal != 0 ? -1 : event.exit_code, .signal = event.signal},
       now);
}

// --- what is known ------------------------------------------------------------------------------

bool Fleet::quiet() const {
  return std::all_of(nodes_.begin(), nodes_.end(), [](const Node& node) {
    return node.processes.empty() && (node.agent.all_acknowledged() || !node.reachable);
  });
}

std::int64_t Fleet::steps_done(JobId job) const {
  const auto run = runs_.find(job);
  return run == runs_.end() ? 0 : std::max(run->second.step, run->second.furthest);
}

Fleet::Process* Fleet::find(WorkerId worker) {
  const auto place = where_.find(worker);
  if (place == where_.end()) return nullptr;
  const auto process = at(place->second).processes.find(worker);
  return process == at(place->second).processes.end() ? nullptr : &process->second;
}

const Fleet::Process* Fleet::find(WorkerId worker) const {
  const auto place = where_.find(worker);
  if (place == where_.end()) return nullptr;
  const auto process = at(place->second).processes.find(worker);
  return process == at(place->second).processes.end() ? nullptr : &process->second;
}

}  // namespace tidepool::sim
