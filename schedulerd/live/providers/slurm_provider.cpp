#include "schedulerd/live/providers/slurm_provider.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "base/number_text.hpp"
#include "schedulerd/live/providers/child_run.hpp"

namespace tidepool::live {
namespace {

using core::ProviderFault;
using nlohmann::json;
using List = std::vector<ProvidedNode>;

const std::string kPilotPrefix = "tidepool-";
// What agentd needs to be found and to run.
constexpr const char* kExported = "--export=PATH,HOME,USER,LOGNAME,LANG,LD_LIBRARY_PATH";
// What squeue tells of a job. Its name is last: that may have any letter, bars and line ends, too.
constexpr const char* kJobFormat = "--format=%A|%T|%e|%j";
struct QueuedJob {
  std::string_view id, state;
  std::optional<std::int64_t> ends_at;  // seconds since 1970; none: it has no limit, or has not begun
  std::string_view name;
};

std::optional<QueuedJob> job_in(std::string_view line) {
  std::array<std::string_view, 3> fields;
  for (std::string_view& field : fields) {
    const auto bar = line.find('|');
    if (bar == std::string_view::npos) return std::nullopt;
    field = line.substr(0, bar);
    line.remove_prefix(bar + 1);
  }
  const auto& [id, state, ends_at] = fields;
  if (!parse_number<std::int64_t>(id) || state.empty()) return std::nullopt;
  return QueuedJob{.id = id, .state = state, .ends_at = parse_number<std::int64_t>(ends_at), .name = line};
}

// Only by what is final: processes of a job that is completing or is put back into the queue may run.
bool has_ended(std::string_view state) {
  for (const char* ended : {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL",
                            "DEADLINE", "OUT_OF_MEMORY", "REVOKED"}) {
    if (state == ended) return true;
  }
  return false;
}

// A limit of the account, by Slurm's own words. Not each that has "limit" in it: "Requested time limit is invalid" is a
// wrong setting.
bool is_quota(const std::string& text) {
  for (const char* word : {"QOS policy", "QOS usage threshold", "QOSGrp", "QOSMax", "AssocGrp", "AssocMax"}) {
    if (text.find(word) != std::string::npos) return true;
  }
  return false;
}

struct Failure {
  ProviderFault fault;
  std::string detail;
};
// None: the program has done what it was asked for.
std::optional<Failure> failure_of(const std::string& program, const ChildEnd& end) {
  switch (end.how) {
    case ChildEnd::How::kTimeout: return Failure{ProviderFault::kTimeout, program + " does not answer"};
    case ChildEnd::How::kTooMuchOutput:
      return Failure{ProviderFault::kGarbage, program + ": more than 1 MiB of output"};
    case ChildEnd::How::kNotStarted: return Failure{ProviderFault::kRefused, program + ": " + end.last_error};
    case ChildEnd::How::kExited: break;
  }
  if (end.exit_code == 0) return std::nullopt;
  if (const int signal = ending_signal(end); signal != 0) {
    return Failure{ProviderFault::kGarbage,
                   program + ": signal " + std::to_string(signal) + " has ended it; whether it was done is not known"};
  }
  const std::string said = end.last_error.empty() ? "exit code " + std::to_string(end.exit_code) : end.last_error;
  return Failure{is_quota(said) ? ProviderFault::kQuota : ProviderFault::kRefused, program + ": " + said};
}

// In single quotes, as sh reads it.
std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

class SlurmProvider final : public NodeProvider {
 public:
  explicit SlurmProvider(ProviderSetup setup) : setup_(std::move(setup)) {}

  Provided<ProvidedNode> create(const NodeToCreate& node) override {
    using Answer = Provided<ProvidedNode>;
    const auto known = list();
    if (!known.value) return Answer::failed(known.fault, known.detail);
    for (const ProvidedNode& each : *known.value) {
      if (each.request == node.request) return {.value = each};
    }
    const ChildEnd end = run(submission(node.request), pilot_script(text("start"), node));
    if (auto failed = failure_of("sbatch", end)) return Answer::failed(failed->fault, std::move(failed->detail));
    const std::string id = end.output.substr(0, end.output.find_first_of(";\n"));
    if (!parse_number<std::int64_t>(id)) {
      return Answer::failed(ProviderFault::kGarbage, "sbatch has told no job id; " + shown_output(end));
    }
    return {.value = ProvidedNode{.request = node.request, .id = id, .lifetime = {}}};
  }

  Provided<Ended> end(const NodeToEnd& node) override {
    const ChildEnd end = run({"scancel", "--name=" + kPilotPrefix + node.request}, "");
    auto failed = failure_of("scancel", end);
    return failed ? Provided<Ended>::failed(failed->fault, std::move(failed->detail))
                  : Provided<Ended>{.value = Ended{}};
  }

  // Text: squeue --json of Slurm 21.08 and 22.05 tells of all jobs of the site, whatever it is asked for. %e: the grace
  // of a job that is preempted shortens it, and not the time left, %L.
  Provided<List> list() override {
    const ChildEnd end =
        run({"env", "SLURM_TIME_FORMAT=%s", "squeue", "--me", "--all", "--states=all", "--noheader", kJobFormat}, "");
    if (auto failed = failure_of("squeue", end))
      return Provided<List>::failed(failed->fault, std::move(failed->detail));
    auto pilots = pilots_in(end.output, std::time(nullptr));
    if (pilots) return {.value = *std::move(pilots)};
    return Provided<List>::failed(ProviderFault::kGarbage, "squeue has told no list of jobs; " + shown_output(end));
  }

 private:
  [[nodiscard]] std::string text(const char* name) const { return setup_.settings.value(name, std::string()); }
  // Of an option that is there twice sbatch takes the last: the operator's. The daemon's environment may have secrets,
  // and its folder need not be there on a node; with the folder /tmp the log is on each.
  [[nodiscard]] std::vector<std::string> submission(const std::string& request) const {
    std::vector<std::string> command = {"sbatch",       "--parsable",   "--job-name=" + kPilotPrefix + request,
                                        "--no-requeue", "--nodes=1",    "--time=" + text("walltime"),
                                        kExported,      "--chdir=/tmp", "--output=%x.log"};
    for (const json& option : setup_.settings.value("options", json::array())) {
      if (option.is_string()) command.push_back(option.get<std::string>());
    }
    return command;
  }
  [[nodiscard]] ChildEnd run(std::vector<std::string> command, std::string input) const {
    return run_child({.command = std::move(command), .input = std::move(input), .limit = setup_.limit});
  }

  ProviderSetup setup_;
};

}  // namespace

std::optional<List> pilots_in(std::string_view queue, std::int64_t now) {
  List pilots;
  bool had_job = false;
  while (!queue.empty()) {
    const std::string_view line = queue.substr(0, queue.find('\n'));
    queue.remove_prefix(std::min(line.size() + 1, queue.size()));
    const auto job = job_in(line);
    // After a job it is the rest of its name; where SLURM_CLUSTERS is set, a line "CLUSTER: NAME" heads each list.
    if (!job && !had_job && !line.empty() && !line.starts_with("CLUSTER: ")) return std::nullopt;
    had_job = had_job || job;
    if (!job || !job->name.starts_with(kPilotPrefix) || has_ended(job->state)) continue;
    ProvidedNode node{
        .request = std::string(job->name.substr(kPilotPrefix.size())), .id = std::string(job->id), .lifetime = {}};
    if (job->state == "RUNNING" && job->ends_at) {
      node.lifetime = Duration::seconds(std::max<std::int64_t>(0, *job->ends_at - now));
    }
    pilots.push_back(std::move(node));
  }
  return pilots;
}

std::string pilot_script(const std::string& start, const NodeToCreate& node) {
  std::string line = start;
  replace_all(line, "{name}", in_quotes(node.name));
  replace_all(line, "{slots}", std::to_string(node.slots));
  replace_all(line, "{slot_type}", in_quotes(node.slot_type));
  return "#!/bin/sh\nexec " + line + "\n";
}

std::unique_ptr<NodeProvider> make_slurm_provider(ProviderSetup setup) {
  return std::make_unique<SlurmProvider>(std::move(setup));
}

}  // namespace tidepool::live
