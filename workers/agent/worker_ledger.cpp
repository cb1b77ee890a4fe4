#include "workers/agent/worker_ledger.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/files/whole_file.hpp"
#include "base/json.hpp"
#include "base/word_list.hpp"
#include "workers/agent/system/folder_owner.hpp"
#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// A shorter ledger is not compacted.
constexpr off_t kCompactedFrom = off_t{1} << 20;

std::string started_line(WorkerId worker, std::int64_t started_at) {
  json line = {{"started", worker.text()}};
  if (started_at > 0) line["at"] = started_at;
  return canonical_json(line) + "\n";
}

std::string exit_line(const api::WorkerExitedReport& report) {
  json line = {{"ended", report.worker.text()},
               {"report", report.report},
               {"exit_code", report.exit_code},
               {"signal", report.signal},
               {"detail", report.detail}};
  if (report.nothing_started) line["nothing_started"] = *report.nothing_started;
  return canonical_json(line) + "\n";
}

std::string ack_line(WorkerId worker) {
  return canonical_json({{"acknowledged", worker.text()}}) + "\n";
}

std::string forgotten_line(WorkerId worker) {
  return canonical_json({{"forgotten", worker.text()}}) + "\n";
}

std::optional<WorkerId> worker_in(ObjectReader& in, std::string_view field) {
  return in.has(field) ? WorkerId::parse(in.text(field, "")) : std::nullopt;
}

// Missing in the records of older agents.
std::vector<int> cpus_in(ObjectReader& in) {
  std::vector<int> cpus;
  for (const json& entry : in.raw("cpus")) {
    if (entry.is_number_unsigned()) cpus.push_back(entry.get<int>());
  }
  return cpus;
}

std::vector<std::string> gpus_in(ObjectReader& in) {
  std::vector<std::string> gpus;
  for (const json& entry : in.raw("gpus")) {
    if (entry.is_string()) gpus.push_back(entry.get<std::string>());
  }
  return gpus;
}

// Missing for ends that are known, and in the records of older agents.
std::optional<bool> nothing_started_in(ObjectReader& in) {
  return in.has("nothing_started") ? std::optional(in.boolean("nothing_started", false)) : std::nullopt;
}

// False if this file does not write such a line.
bool replay(const json& line, RecordedWorkers& history) {
  std::vector<FieldError> errors;
  ObjectReader in(line, "", errors);
  if (const auto worker = worker_in(in, "started")) {
    history.started.insert(*worker);
    const std::int64_t at = in.integer("at", 0, {.low = 0, .high = INT64_MAX});
    if (at > 0) history.starts[*worker] = at;
  } else if (const auto ended = worker_in(in, "ended")) {
    const api::WorkerExitedReport report{
        .report = static_cast<std::uint64_t>(in.required_integer("report", {.low = 1, .high = INT64_MAX})),
        .worker = *ended,
        .exit_code = static_cast<int>(in.integer("exit_code", -1, {.low = -1, .high = 255})),
        .signal = static_cast<int>(in.integer("signal", 0, {.low = 0, .high = 127})),
        .detail = in.text("detail", ""),
        .nothing_started = nothing_started_in(in)};
    history.started.insert(*ended);
    history.exits[*ended] = report;
    history.unacknowledged.insert(*ended);
    history.next_report = std::max(history.next_report, report.report + 1);
  } else if (const auto confirmed = worker_in(in, "acknowledged")) {
    history.confirm(*confirmed);
  } else if (const auto forgotten = worker_in(in, "forgotten")) {
    history.forget(*forgotten);
  } else {
    return false;
  }
  in.finish();
  return errors.empty();
}

Result<RecordedWorkers> read_history(const fs::path& path) {
  RecordedWorkers history;
  std::error_code error;
  if (!fs::exists(path, error)) return history;
  const auto text = read_whole_file(path);
  if (!text) return text.error();
  std::size_t begin = 0;
  for (std::size_t number = 1; begin < text->size(); ++number) {
    const std::size_t end = text->find('\n', begin);
    if (end == std::string::npos) break;  // torn: its action was never carried out
    const auto line = parse_json(std::string_view(*text).substr(begin, end - begin));
    if (!line || !replay(*line, history)) {
      return io_error(path.string() + ", line " + std::to_string(number) +
                      " is damaged; restore the file, or move the state directory away once no worker runs");
    }
    begin = end + 1;
  }
  return history;
}

}  // namespace

WorkerLedger::WorkerLedger(fs::path state_dir, RecordedWorkers history)
    : state_dir_(std::move(state_dir)), history_(std::move(history)) {}

Result<WorkerLedger> WorkerLedger::open(const fs::path& state_dir) {
  TP_TRY(make_private_folder(state_dir / "workers"));
  auto history = read_history(state_dir / "ledger.jsonl");
  if (!history) return history.error();
  if (const auto cluster = read_whole_file(state_dir / "cluster")) history->cluster = *cluster;
  WorkerLedger ledger(state_dir, std::move(*history));
  TP_TRY(ledger.claim());
  TP_TRY(ledger.compact(ledger.history_));
  return ledger;
}

Status WorkerLedger::record_cluster(const std::string& cluster) {
  return replace_file(state_dir_ / "cluster", cluster);
}

// A copy of a state directory must not touch the workers of the original, which live on the same machine.
Status WorkerLedger::claim() {
  auto owner = read_owner(state_dir_);
  if (!owner) return owner.error();
  if (owner->known && !owner->is_here) {
    for (const WorkerId worker : history_.open()) {
      if (const auto record = process_of(worker)) foreign_.push_back(record->pid);
    }
    TP_TRY(forget_all());
  }
  auto claimed = claim_folder(state_dir_, *owner);
  if (!claimed) return claimed.error();
  instance_ = *std::move(claimed);
  return ok_status();
}

Status WorkerLedger::forget_all() {
  for (const WorkerId worker : history_.started) forget_process(worker);
  std::error_code error;
  for (fs::directory_iterator it(state_dir_ / "workers", error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    fs::remove(it->path(), ignored);
  }
  history_ = {};
  return compact(history_);
}

Status WorkerLedger::compact_if_due() {
  const off_t bytes = ::lseek(file_.get(), 0, SEEK_END);
  if (bytes < std::max(kCompactedFrom, compacted_bytes_ * 2)) return ok_status();
  compacted_bytes_ = bytes;
  const auto history = read_history(state_dir_ / "ledger.jsonl");
  if (!history) return history.error();
  return compact(*history);
}

// Rewrites the file with what is left in the history, and opens it for appending.
Status WorkerLedger::compact(const RecordedWorkers& history) {
  std::string text;
  for (const WorkerId worker : history.started) {
    const auto ended = history.exits.find(worker);
    const auto start = history.starts.find(worker);
    const bool has_ended = ended != history.exits.end();
    if (!has_ended || start != history.starts.end()) {
      text += started_line(worker, start == history.starts.end() ? 0 : start->second);
    }
    if (!has_ended) continue;
    text += exit_line(ended->second);
    if (!history.unacknowledged.contains(worker)) text += ack_line(worker);
  }
  const Status put = replace_file(state_dir_ / "ledger.jsonl", text);
  if (put.ok()) compacted_bytes_ = static_cast<off_t>(text.size());
  // Also after an error: later records must not go into a replaced file.
  const Status opened = reopen();
  return put.ok() ? opened : put;
}

Status WorkerLedger::reopen() {
  file_.reset(::open((state_dir_ / "ledger.jsonl").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!file_) return errno_error("open the ledger in " + state_dir_.string());
  return ok_status();
}

Status WorkerLedger::append(const std::string& line) {
  if (!file_) TP_TRY(reopen());
  const off_t end = ::lseek(file_.get(), 0, SEEK_END);
  Status status = write_all(file_.get(), line);
  if (status.ok() && ::fdatasync(file_.get()) != 0) {
    status = errno_error("flush the ledger in " + state_dir_.string());
  }
  // Half a line would damage the next one.
  if (!status.ok() && end >= 0 && ::ftruncate(file_.get(), end) != 0) return errno_error("mend the ledger");
  return status;
}

Status WorkerLedger::record_started(WorkerId worker, std::int64_t started_at) {
  return append(started_line(worker, started_at));
}

Status WorkerLedger::record_forgotten(WorkerId worker) {
  forget_process(worker);
  return append(forgotten_line(worker));
}

Status WorkerLedger::record_exit(const api::WorkerExitedReport& report) {
  return append(exit_line(report));
}

Status WorkerLedger::record_ack(WorkerId worker) {
  return append(ack_line(worker));
}

fs::path WorkerLedger::process_path(WorkerId worker) const {
  return state_dir_ / "workers" / (worker.text() + ".json");
}

Status WorkerLedger::record_process(const ProcessRecord& record) {
  return replace_file(process_path(record.worker), canonical_json({{"worker", record.worker.text()},
                                                                   {"job", record.job.text()},
                                                                   {"pid", record.pid},
                                                                   {"start_time", record.start_time},
                                                                   {"boot_id", record.boot_id},
                                                                   {"cpus", record.cpus},
                                                                   {"gpus", record.gpus},
                                                                   {"uid", record.uid}}) +
                                                       "\n");
}

std::optional<ProcessRecord> WorkerLedger::process_of(WorkerId worker) const {
  const auto text = read_whole_file(process_path(worker));
  if (!text) return std::nullopt;
  const auto parsed = parse_json(*text);
  if (!parsed) return std::nullopt;
  std::vector<FieldError> errors;
  ObjectReader in(*parsed, "", errors);
  const auto named = WorkerId::parse(in.required_text("worker"));
  const auto job = JobId::parse(in.required_text("job"));
  ProcessRecord record{
      .worker = worker,
      .job = job.value_or(JobId()),
      .pid = static_cast<pid_t>(in.required_integer("pid", {.low = 2, .high = INT32_MAX})),
      .start_time = static_cast<std::uint64_t>(in.required_integer("start_time", {.low = 0, .high = INT64_MAX})),
      .boot_id = in.required_text("boot_id"),
      .cpus = cpus_in(in),
      .gpus = gpus_in(in),
      .uid = static_cast<uid_t>(in.integer("uid", 0, {.low = 0, .high = UINT32_MAX}))};
  in.finish();
  if (!errors.empty() || named != worker) return std::nullopt;
  return record;
}

fs::path WorkerLedger::ending_path(WorkerId worker) const {
  return state_dir_ / "workers" / (worker.text() + ".ending");
}

Status WorkerLedger::record_ending(WorkerId worker, Instant kill_at) {
  const auto process = process_of(worker);
  if (!process) return not_found("there is no process of " + worker.text() + " on record that was told to end");
  return replace_file(ending_path(worker), canonical_json({{"pid", process->pid},
                                                           {"start_time", process->start_time},
                                                           {"boot_id", process->boot_id},
                                                           {"kill_at_us", kill_at.count_us()}}) +
                                               "\n");
}

std::optional<Instant> WorkerLedger::ending_of(const ProcessRecord& process) const {
  const auto text = read_whole_file(ending_path(process.worker));
  if (!text) return std::nullopt;
  const auto parsed = parse_json(*text);
  if (!parsed) return std::nullopt;
  std::vector<FieldError> errors;
  ObjectReader in(*parsed, "", errors);
  const bool is_of_it = in.required_integer("pid", {.low = 2, .high = INT32_MAX}) == process.pid &&
                        static_cast<std::uint64_t>(in.required_integer("start_time", {.low = 0, .high = INT64_MAX})) ==
                            process.start_time &&
                        in.required_text("boot_id") == process.boot_id;
  const auto kill_at = Instant::from_micros(in.required_integer("kill_at_us", {.low = 0, .high = INT64_MAX}));
  return errors.empty() && is_of_it ? std::optional(kill_at) : std::nullopt;
}

void WorkerLedger::forget_process(WorkerId worker) {
  std::error_code error;
  fs::remove(process_path(worker), error);
  fs::remove(ending_path(worker), error);
}

std::string foreign_words(const fs::path& state_dir, const std::vector<pid_t>& pids) {
  return state_dir.string() + " is a copy of another agent's state directory: the workers in its records (pids " +
         number_list(pids) +
         ") belong to that agent, are neither adopted nor ended here, and this agent starts with no records";
}

}  // namespace tidepool::agent
