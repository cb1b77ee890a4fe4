#include "workers/agent/loop/worker_starts.hpp"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "workers/agent/restart_files.hpp"
#include "workers/agent/system/state_files.hpp"
#include "workers/agent/torchrun.hpp"

namespace tidepool::agent {

namespace {

namespace fs = std::filesystem;

}  // namespace

WorkerStarts::WorkerStarts(Parts parts) : node_(std::move(parts)) {}

WorkerStarts::Found WorkerStarts::adopt(WorkerId worker) {
  const auto record = node_.ledger.process_of(worker);
  if (record && node_.runner.adopt(*record)) {
    return {.restartable = adopt_running(*record), .ended = {}, .kill_at = node_.ledger.ending_of(*record)};
  }
  if (auto restartable = read_seat(node_.records.folder_of(worker))) {
    // The earlier agent ended while no program of the worker was running, or the program has ended since.
    spdlog::info("{} of {} holds its slots; adopted without a program", worker.text(), restartable->order.job.text());
    if (restartable->started) offers_.adopt(worker, restartable->offer);
    return {.restartable = without_program(*std::move(restartable)), .ended = {}};
  }
  if (record) node_.rooms.adopt(*record);
  return {.restartable = {},
          .ended = record ? "exited while no agent watched it; exit code unknown"
                          : "the agent ended before this worker could start",
          .nothing_started = !record};
}

std::optional<RestartableWorker> WorkerStarts::adopt_running(const ProcessRecord& record) {
  const WorkerId worker = record.worker;
  node_.jobs.enter(worker, record.job);
  node_.rooms.adopt(record);
  node_.rooms.deny_addresses_to(worker);
  static_cast<void>(node_.memory.enter(record.job, {}));
  spdlog::info("{} (pid {}) of {} goes on; adopted", worker.text(), record.pid, record.job.text());
  const auto restartable = read_seat(node_.records.folder_of(worker));
  if (!restartable) return std::nullopt;
  offers_.adopt(worker, restartable->offer);
  node_.lengths.adopt(worker, node_.rooms.length_file_of(worker, record.job));
  return RestartableWorker(restartable->order, restartable->offer.generation, restartable->offer.rank);
}

Status WorkerStarts::start_program(const SpawnProgram& action) {
  // Otherwise the next agent would not know its program.
  TP_TRY(node_.records.make_up_for(action.order.worker, action.order.started_at.value_or(0)));
  const auto around =
      surroundings_of({.generation = action.what.generation, .rank = action.what.rank, .blobs = action.what.addresses});
  if (!around) return around.error();
  api::StartWorker order = action.order;
  for (const auto& [name, value] : around->environment) order.env[name] = value;
  order.slots = around->slots;
  node_.memory.know_job(order.job, order.submitted_at.value_or(0));
  const fs::path folder = node_.records.folder_of(order.worker);
  TP_TRY(write_seat(folder, {.order = action.order, .offer = offers_.of(order.worker), .started = true, .ended = {}}));
  offers_.let_go_of_port(order.worker);
  return start(order);
}

void WorkerStarts::record(const RecordRestartable& action) {
  const fs::path folder = node_.records.folder_of(action.order.worker);
  const Status status = write_seat(folder, {.order = action.order,
                                            .offer = offers_.of(action.order.worker),
                                            .started = action.ended.has_value(),
                                            .ended = action.ended});
  if (!status.ok()) spdlog::error("{}: {}", action.order.worker.text(), status.error().message);
}

Result<std::string> WorkerStarts::offer(const OfferProgramAddress& action) {
  return offers_.offer(action.order.worker, action.what,
                       {.node = node_.options.node, .host = node_.address.host(), .slots = action.order.slots});
}

// Registers the worker with its job, and reserves the job's folder in memory.
LaunchPlace WorkerStarts::place_of(const api::StartWorker& order) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const auto named = order.env.find("TIDEPOOL_CHECKPOINT_DIR");
  const fs::path disk = named == order.env.end() ? node_.memory.disk_folder(order.job) : fs::path(named->second);
  node_.memory.know_job(order.job, order.submitted_at.value_or(0));
  const auto in_memory = node_.memory.enter(order.job, disk);
  node_.jobs.enter(order.worker, order.job);
  LaunchPlace place{.program_folder = self.parent_path(),
                    .agent_socket = order.restart_grace_ms ? fs::path() : node_.options.state_dir / "w.sock",
                    .job_file = node_.records.folder_of(order.worker) / "job.json",
                    .cluster = node_.state.cluster(),
                    .checkpoint_folder = node_.memory.disk_folder(order.job),
                    .park_folder = in_memory,
                    .data = node_.address.now(),
                    .agent_environment = environment_};
  if (order.restart_grace_ms) place.length_file = node_.rooms.length_file_of(order.worker, order.job);
  node_.rooms.name_places(place);
  return place;
}

Status WorkerStarts::start(const api::StartWorker& order) {
  node_.before_start();
  const fs::path folder = node_.records.folder_of(order.worker);
  const LaunchPlace place = place_of(order);
  node_.notices.forget(order.worker, folder);
  auto spec = plan_launch(order, place, node_.slots);
  if (!spec) return spec.error();
  TP_TRY(make_private_folder(folder));
  TP_TRY(replace_file(folder / "job.json", order.spec + "\n"));
  auto output = node_.logs.writer(order.worker);
  if (!output) return output.error();
  spec->output = output->get();
  const auto uid = node_.rooms.open({.order = order,
                                     .node = node_.slots,
                                     .cluster = node_.state.cluster(),
                                     .states = node_.memory.disk_folder(order.job),
                                     .log = output->get()},
                                    *spec);
  if (!uid) return uid.error();
  if (order.restart_grace_ms) node_.lengths.start(order.worker, node_.rooms.length_file_of(order.worker, order.job));
  if (order.state_step) TP_TRY(node_.states.deliver(order.job, node_.memory.disk_folder(order.job), *uid));
  return node_.runner.start({.worker = order.worker,
                             .job = order.job,
                             .cpus = spec->cpus,
                             .gpus = node_.rooms.gpus_of_worker(order.worker),
                             .uid = *uid},
                            *spec, [this](const ProcessRecord& record) { return node_.ledger.record_process(record); });
}

}  // namespace tidepool::agent
