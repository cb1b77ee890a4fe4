#include "schedctl/studies/trace_files_command.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/time.hpp"
#include "base/timestamp.hpp"
#include "base/word_list.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/job_file.hpp"
#include "schedctl/studies/file_text.hpp"
#include "schedctl/text_table.hpp"
#include "studies/traces/importers.hpp"
#include "studies/traces/trace_rows.hpp"
#include "studies/traces/trace_stats.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

struct ImportOptions {
  std::string from = "tidepool";
  std::vector<std::string> files;
  std::string out = "-";
  std::string speeds_file;
  std::string gpu_type;
  bool skip_bad = false;
};

void tell(const sim::Trace& trace, const std::string& file) {
  for (const auto& [reason, count] : trace.left_out) {
    std::fprintf(stderr, "%s: %s left out, because each %s\n", file.c_str(),
                 count_of(static_cast<double>(count), "line").c_str(), reason.c_str());
  }
  if (trace.bad_count == 0) return;
  std::fprintf(stderr, "%s: %s skipped:\n", file.c_str(),
               count_of(static_cast<double>(trace.bad_count), "bad line").c_str());
  for (const std::string& line : trace.bad_lines) std::fprintf(stderr, "  %s\n", line.c_str());
  if (trace.bad_count > static_cast<std::int64_t>(trace.bad_lines.size())) std::fprintf(stderr, "  ...\n");
}

// After an error in a file's first line: which files are read so, and how to say that another scheduler wrote it.
std::string read_as(const sim::TraceFormat& format, const std::string& error) {
  if (error.find("the first line names no column") == std::string::npos) return "";
  if (format.name != "tidepool")
    return "\n--from " + std::string(format.name) + " reads: " + std::string(format.summary);
  return "\nif another scheduler wrote it, say which with --from: " +
         word_list(sim::kTraceFormats, &sim::TraceFormat::name);
}

// The files one after the other on one time line only if they are given as one: each trace begins at its first job.
sim::Trace read_traces(const ImportOptions& asked) {
  const auto format = sim::find_trace_format(asked.from);
  if (!format) fail(kExitUsage, "--from: " + format.error().message);
  const std::string speeds = asked.speeds_file.empty() ? "" : read_text_file(asked.speeds_file);
  sim::TraceIntake all({.text = {}, .file = "the files together"});
  for (const std::string& path : asked.files) {
    const std::string text = read_text_file(path);
    const std::string name = path == "-" ? "standard input" : std::filesystem::path(path).filename().string();
    auto trace = format->read(
        {.text = text, .file = name, .skip_bad = asked.skip_bad, .speeds = speeds, .gpu_type = asked.gpu_type});
    if (!trace) fail(kExitUsage, trace.error().message + read_as(*format, trace.error().message));
    tell(*trace, name);
    for (sim::TraceJob& job : trace->jobs) {
      if (asked.files.size() > 1) job.name = std::filesystem::path(name).stem().string() + ":" + job.name;
      const Status taken = all.take({.place = name, .refused = {}, .left_out = {}, .job = std::move(job)});
      if (!taken) fail(kExitUsage, taken.error().message + "; give files of different names");
    }
  }
  auto trace = std::move(all).finish();
  if (!trace) fail(kExitUsage, trace.error().message);
  return *std::move(trace);
}

void tell_written(std::size_t jobs, const std::string& file) {
  std::fprintf(stderr, "wrote %s to %s\n", count_of(static_cast<double>(jobs), "job").c_str(), file.c_str());
}

int import_trace(const ImportOptions& asked) {
  require_writable(asked.out);
  const sim::Trace trace = read_traces(asked);
  write_text_file(asked.out, sim::write_trace_csv(trace.jobs));
  if (asked.out != "-") tell_written(trace.jobs.size(), asked.out);
  return kExitOk;
}

// Of few hours also the tenths.
std::string hours(double number) {
  return number > 0 ? rate(number) : "0";
}

void add_shares(std::string& out, const std::string& title, const sim::TraceStats& stats,
                const std::vector<std::pair<std::string, sim::TraceStats::Share>>& rows, const Style& style) {
  constexpr double kBar = 24;
  TextTable table({{.title = title},
                   {.title = "JOBS", .right = true},
                   {.title = "SHARE", .right = true},
                   {.title = "GPU-HOURS", .right = true},
                   {.title = "SHARE", .right = true},
                   {.title = "OF JOBS"}});
  for (const auto& [name, share] : rows) {
    const double of_jobs = static_cast<double>(share.jobs) / static_cast<double>(stats.jobs);
    const double of_hours = stats.gpu_hours > 0 ? share.gpu_hours / stats.gpu_hours : 0;
    const auto length = static_cast<std::size_t>(of_jobs * kBar + 0.5);
    table.add({name, whole(static_cast<double>(share.jobs)), percent(of_jobs), hours(share.gpu_hours),
               percent(of_hours), std::string(length, '#')});
  }
  out += "\n" + table.text(style);
}

std::string stats_text(const sim::TraceStats& stats, const std::string& name, const Style& style) {
  const auto line = [](const std::string& label, const std::string& value) {
    return label + std::string(std::max<std::size_t>(1, 12 - label.size()), ' ') + value + "\n";
  };
  std::string out = bold(printable(name), style) + "\n";
  out += line("jobs",
              whole(static_cast<double>(stats.jobs)) + " of " + count_of(static_cast<double>(stats.tenants), "tenant") +
                  (stats.users > 0 ? ", " + count_of(static_cast<double>(stats.users), "user") : "") +
                  (stats.deadlines > 0 ? ", " + whole(static_cast<double>(stats.deadlines)) + " with a deadline" : ""));
  out += line("span", seconds_in_words(stats.span_s) + " from the first submission to the last");
  out += line("arrivals", rate(stats.arrivals_per_hour) + " an hour, at most " +
                              whole(static_cast<double>(stats.arrivals_peak)) + " in one");
  const std::string least = stats.gpus_min < stats.gpus_max ? whole(stats.gpus_min) + " to " : "";
  out += line("GPUs", least + whole(stats.gpus_max) + " a job, " + whole(stats.mean_gpus) +
                          " busy on average if none had to wait");
  if (stats.fractional > 0) {
    out += line("sharing", count_of(static_cast<double>(stats.fractional), "job") + " asked for a part of a GPU");
  }
  out += line("GPU-hours", hours(stats.gpu_hours));
  out +=
      line("duration", "mean " + seconds_in_words(stats.duration_mean_s) + ", p50 " +
                           seconds_in_words(stats.duration_p50_s) + ", p90 " + seconds_in_words(stats.duration_p90_s) +
                           ", p99 " + seconds_in_words(stats.duration_p99_s));
  std::vector<std::pair<std::string, sim::TraceStats::Share>> rows;
  for (const auto& [gpus, share] : stats.by_gpus) rows.emplace_back(std::to_string(gpus), share);
  add_shares(out, "GPUS", stats, rows, style);
  rows.clear();
  for (const auto& bucket : stats.by_duration) {
    rows.emplace_back(bucket.to_s > 0 ? "to " + seconds_in_words(bucket.to_s) : "longer", bucket.share);
  }
  add_shares(out, "DURATION", stats, rows, style);
  rows.clear();
  for (const auto& [status, share] : stats.by_status) rows.emplace_back(std::string(sim::to_text(status)), share);
  if (rows.size() > 1) add_shares(out, "STATUS", stats, rows, style);
  return out;
}

int show_stats(const ImportOptions& asked, const Settings& settings) {
  const sim::TraceStats stats = sim::stats_of(read_traces(asked).jobs);
  if (settings.format == "table") {
    write_out(stats_text(stats, std::filesystem::path(asked.files.front()).filename().string(), output_style()));
  } else {
    const auto value = sim::to_json(stats);
    write_out(settings.format == "yaml" ? to_yaml(json(value)) : value.dump() + "\n");
  }
  return kExitOk;
}

// A job that changed its size is written down as one that held the size it preferred for the same GPU time.
std::optional<sim::TraceJob> exported(const json& job) {
  const auto submitted = micros_of(text_at(job, "/submitted_at"));
  const auto slot_seconds = number_at(job, "/cost/slot_seconds").value_or(0);
  const std::string state = text_at(job, "/state");
  const bool ended = state == "succeeded" || state == "failed" || state == "cancelled";
  if (!submitted || !ended || slot_seconds <= 0) return std::nullopt;
  const double each = number_at(job, "/spec/resources/gpus_per_worker").value_or(1);
  const double workers = number_at(job, "/spec/elastic/preferred").value_or(number_at(job, "/min").value_or(1));
  sim::TraceJob made{.name = text_at(job, "/id"), .tenant = text_at(job, "/tenant", "default")};
  made.submit_s = static_cast<double>(*submitted) / 1e6;
  made.gpus = std::max(1, static_cast<int>(each * workers));
  made.duration_s = slot_seconds / made.gpus;
  made.status = sim::status_of(state);
  made.application = text_at(job, "/name");
  made.batch = static_cast<std::int64_t>(number_at(job, "/spec/batch/global").value_or(0));
  made.steps = static_cast<std::int64_t>(number_at(job, "/progress/step").value_or(0));
  const json& types = list_at(job, "/spec/resources/gpu/type");
  const bool any = std::ranges::find(types, json("any")) != types.end();
  for (std::size_t i = 0; !any && i < types.size(); ++i) {
    if (types[i].is_string()) made.gpu_type += (made.gpu_type.empty() ? "" : "|") + types[i].get<std::string>();
  }
  const auto deadline = parse_duration(text_at(job, "/spec/work/deadline"));
  if (deadline) made.deadline_s = made.submit_s + deadline->to_seconds();
  return made;
}

int export_trace(Session& session, const std::string& out) {
  require_writable(out);
  sim::TraceIntake intake({.text = {}, .file = "the daemon's history"});
  std::int64_t exports = 0;
  std::int64_t left_out = 0;
  for (const auto& item : session.list("/v1/jobs").items) {
    auto job = exported(session.get("/v1/jobs/" + text_at(item, "/id")));
    if (!job) {
      ++left_out;
      continue;
    }
    ++exports;
    const Status taken =
        intake.take({.place = text_at(item, "/id"), .refused = {}, .left_out = {}, .job = *std::move(job)});
    if (!taken) fail(kExitInternal, taken.error().message);
  }
  if (exports == 0) fail(kExitNegative, "no job of this daemon has run and ended yet, so there is nothing to export");
  const auto trace = std::move(intake).finish();
  if (!trace) fail(kExitInternal, trace.error().message);
  write_text_file(out, sim::write_trace_csv(trace->jobs));
  if (out != "-") tell_written(trace->jobs.size(), out);
  if (left_out > 0) {
    std::fprintf(stderr, "%s left out: not ended, or never ran\n",
                 count_of(static_cast<double>(left_out), "job").c_str());
  }
  return kExitOk;
}

std::string format_names() {
  return word_list(sim::kTraceFormats, &sim::TraceFormat::name);
}

void add_reading_options(CLI::App& command, ImportOptions& asked) {
  command.add_option("files", asked.files, "one or more; .gz is unpacked, - is standard input")->required();
  command.add_option("--from", asked.from, "the scheduler that wrote them: " + format_names())->capture_default_str();
  command.add_flag("--skip-bad", asked.skip_bad, "skip and count bad lines instead of failing");
  command.add_option("--speeds", asked.speeds_file, "gavel: the JSON table of steps a second");
  command.add_option("--gpu-type", asked.gpu_type, "gavel: the type in it that gives the durations (v100)");
}

}  // namespace

void add_trace_file_commands(CLI::App& app, Chosen& chosen) {
  CLI::App* group = app.get_subcommand("trace");
  const auto imported = std::make_shared<ImportOptions>();
  CLI::App* import =
      group->add_subcommand("import", "Convert a recorded workload of another scheduler to Tidepool's format");
  add_reading_options(*import, *imported);
  import->get_option("--from")->default_str("")->required();
  import->add_option("-o,--out", imported->out, "file to write, else standard output")->capture_default_str();
  import->callback(
      [imported, &chosen] { chosen.offline = [imported](const Settings&) { return import_trace(*imported); }; });

  const auto counted = std::make_shared<ImportOptions>();
  CLI::App* stats = group->add_subcommand("stats", "Summarize a recorded workload");
  add_reading_options(*stats, *counted);
  stats->callback([counted, &chosen] {
    chosen.offline = [counted](const Settings& settings) { return show_stats(*counted, settings); };
  });

  const auto out = std::make_shared<std::string>("-");
  CLI::App* save = group->add_subcommand("export", "Write this daemon's history as a workload");
  save->add_option("-o,--out", *out, "file to write, else standard output")->capture_default_str();
  save->callback([out, &chosen] { chosen.online = [out](Session& session) { return export_trace(session, *out); }; });
}

}  // namespace tidepool::ctl
