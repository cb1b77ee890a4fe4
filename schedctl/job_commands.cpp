#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>

#include <nlohmann/json.hpp>

#include "base/digest.hpp"
#include "schedctl/app.hpp"
#include "schedctl/checks.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/forecast_words.hpp"
#include "schedctl/job_file.hpp"
#include "schedctl/pages.hpp"
#include "schedctl/tables.hpp"
#include "schedctl/watch.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

// The same key is sent when an attempt is repeated, so one submit never makes two jobs.
std::string fresh_key() {
  std::random_device device;
  Digest digest;
  for (int i = 0; i < 4; ++i) digest.mix(device());
  return "schedctl-" + digest.text();
}

struct Submit {
  std::vector<std::string> files;  // several are a batch
  bool wait = false;
  bool dry_run = false;
  std::string key;
};

HttpRequest submit_request(const Submit& given, const std::string& path, const json& body) {
  const std::string key = given.key.empty() ? fresh_key() : given.key;
  return {.method = "POST",
          .path = path,
          .body = body.dump(),
          .headers = {"Idempotency-Key: " + key},
          .if_unanswered = "schedctl ls tells, and submitting again with --idempotency-key " + printable(key) +
                           " makes no second job"};
}

std::string lines_of(const json& ids) {
  std::string lines;
  for (const auto& id : ids) lines += id.get<std::string>() + "\n";
  return lines;
}

int submit_batch(Session& session, const Submit& given) {
  if (given.dry_run || given.wait) fail(kExitUsage, "--dry-run and --wait take one job file");
  std::vector<NamedFile> files;
  for (const auto& name : given.files) files.push_back(read_job_file(name));
  json body = {{"jobs", json::array()}};
  ProblemSource sources;
  for (auto& file : files) {
    body["jobs"].push_back(std::move(file.document));
    sources.entries.push_back({.file = file.shown, .lines = &file.lines, .entries = {}});
  }
  const json stored = session.send(submit_request(given, "/v1/jobs:batch", body), sources);
  session.print(stored, [&] { return lines_of(list_at(stored, "/ids")); });
  // Beside the ids, which scripts read.
  for (const std::string& line : batch_waits_in_words(stored))
    std::fprintf(stderr, "schedctl: %s\n", printable(line).c_str());
  return kExitOk;
}

int submit(Session& session, const Submit& given) {
  if (given.files.size() > 1) return submit_batch(session, given);
  const NamedFile file = read_job_file(given.files.front());
  const auto request = submit_request(given, given.dry_run ? "/v1/jobs?dry_run=true" : "/v1/jobs", file.document);
  const json job = session.send(request, {.file = file.shown, .lines = &file.lines, .entries = {}});
  if (given.dry_run) {
    session.print(job, [&] {
      return "the job file is good; nothing was stored\n" + decision_in_words(job) +
             "\nwith every default written out:\n\n" + to_yaml(job.value("spec", job));
    });
    return kExitOk;
  }
  session.print(job, [&] { return text_at(job, "/id") + "\n"; });
  // Beside the id, which scripts read.
  if (const std::string never = never_starts_in_words(job); !never.empty()) {
    std::fprintf(stderr, "schedctl: %s\n", printable(never).c_str());
  }
  return given.wait ? watch_job(session, text_at(job, "/id"), {.summary = true}) : kExitOk;
}

struct Filter {
  std::vector<std::string> states;  // none: any
  std::string tenant;
  std::string name;
  bool active = false;
  bool quiet = false;
  std::size_t limit = 100;
};

constexpr std::int64_t kJobsShownMost = 1'000'000;
constexpr const char* kActive = "pending,starting,running,resizing,suspending,suspended";

// Empty: no state is both asked for and active.
std::string states_asked(const Filter& filter) {
  if (filter.states.empty()) return filter.active ? kActive : "";
  std::string asked;
  for (const std::string& state : filter.states) {
    if (!filter.active || !is_final_state(state)) asked += (asked.empty() ? "" : ",") + state;
  }
  return asked;
}

std::string jobs_path(const Filter& filter) {
  std::string query;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) query += (query.empty() ? "?" : "&") + (name + escape_url(value));
  };
  add("state=", states_asked(filter));
  add("tenant=", filter.tenant);
  add("name=", filter.name);
  return "/v1/jobs" + query;
}

int list_jobs(Session& session, const Filter& filter) {
  const bool none_can_be = filter.active && states_asked(filter).empty();
  const Listed listed = none_can_be ? Listed() : session.list(jobs_path(filter), filter.limit);
  json ids = json::array();
  for (const auto& job : listed.items) ids.push_back(text_at(job, "/id"));
  session.print(filter.quiet ? ids : listed.items,
                [&] { return filter.quiet ? lines_of(ids) : jobs_table(listed.items, session.style()); });
  // Beside what a program reads.
  if (listed.has_more) std::fprintf(stderr, "schedctl: there are more; see --limit\n");
  return kExitOk;
}

int show_job(Session& session, const std::string& name) {
  const std::string path = "/v1/jobs/" + session.job_id(name);
  const json job = session.get(path);
  session.print(job, [&] { return job_page(job, list_at(session.get(path + "/workers"), "/items"), session.style()); });
  return kExitOk;
}

int explain(Session& session, const std::string& name, Detail detail) {
  const json explanation = session.get("/v1/jobs/" + session.job_id(name) + "/explain");
  session.print(explanation, [&] { return why_page(explanation, session.style(), detail); });
  return kExitOk;
}

struct Action {
  std::string method = "POST";
  std::string suffix;  // of /v1/jobs/{id}
  json body;           // null = none
  std::string said;    // "will be cancelled"; JOB stands for the job's id
};

using Print = void (Session::*)(const json&, const std::function<std::string()>&) const;

int act(Session& session, const std::string& name, const Action& action, Print print = &Session::print) {
  const std::string id = session.job_id(name);
  const json job = session.send({.method = action.method,
                                 .path = "/v1/jobs/" + id + action.suffix,
                                 .body = action.body.is_null() ? "" : action.body.dump()});
  std::string said = action.said;
  if (const std::size_t at = said.find("JOB"); at != std::string::npos) said.replace(at, 3, id);
  (session.*print)(job, [&] { return id + " " + said + "\n"; });
  return kExitOk;
}

// Each job on its own, whatever became of those before; only a daemon that is not there ends the rest, too.
int act_on_each(Session& session, const std::vector<std::string>& names, const Action& action) {
  if (names.size() == 1) return act(session, names.front(), action);
  int exit_code = kExitOk;
  for (const std::string& name : names) {
    try {
      static_cast<void>(act(session, name, action, &Session::print_next));
    } catch (const Failure& failure) {
      if (failure.may_pass && !failure.answered) throw;
      std::fprintf(stderr, "schedctl: %s: %s\n", printable(name).c_str(), failure.message.c_str());
      exit_code = kExitNegative;
    }
  }
  return exit_code;
}

void add_action(CLI::App& app, Chosen& chosen, const std::string& name, const std::string& help, Action action) {
  const auto jobs = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand(name, help);
  command->add_option("job", *jobs, "ids or names; of several each is tried, and the exit code is 1 if one is refused")
      ->required();
  command->callback([jobs, action = std::move(action), &chosen] {
    chosen.online = [jobs, action](Session& session) { return act_on_each(session, *jobs, action); };
  });
}

void add_get(CLI::App& app, Chosen& chosen) {
  const auto job = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("get", "Show one job: size, progress, cost, workers");
  command->add_option("job", *job, "id or name")->required();
  command->callback([job, &chosen] { chosen.online = [job](Session& session) { return show_job(session, *job); }; });
}

void add_submit(CLI::App& app, Chosen& chosen) {
  const auto given = std::make_shared<Submit>();
  CLI::App* command = app.add_subcommand("submit", "Submit job files, YAML or JSON; prints the jobs' ids");
  command->add_option("file", given->files, "job file, - for standard input; of several all or none are stored")
      ->required();
  CLI::Option* wait = command->add_flag("--wait", given->wait, "follow the job to its end, as watch --summary does");
  command
      ->add_flag("--dry-run", given->dry_run,
                 "print what the daemon would decide, and the file with all defaults; store nothing")
      ->excludes(wait);
  command->add_option("--idempotency-key", given->key, "a second submission with the same key stores nothing")
      ->check(not_empty());
  command->callback(
      [given, &chosen] { chosen.online = [given](Session& session) { return submit(session, *given); }; });
}

void add_ls(CLI::App& app, Chosen& chosen) {
  const auto filter = std::make_shared<Filter>();
  CLI::App* command = app.add_subcommand("ls", "List jobs");
  command->add_option("--state", filter->states, "only jobs in this state; separate several with commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"pending", "starting", "running", "resizing", "suspending", "suspended", "succeeded",
                             "failed", "cancelled"}));
  command->add_option("--tenant", filter->tenant, "only jobs of this tenant")->check(not_empty());
  command->add_option("--name", filter->name, "only jobs with this name")->check(not_empty());
  command->add_flag("--active", filter->active, "only jobs that have not ended");
  command->add_flag("-q,--quiet", filter->quiet, "only the ids");
  command->add_option("--limit", filter->limit, "at most this many jobs")
      ->capture_default_str()
      ->check(whole_number(1, kJobsShownMost));
  command->callback(
      [filter, &chosen] { chosen.online = [filter](Session& session) { return list_jobs(session, *filter); }; });
}

constexpr std::int64_t kSizeMost = 4'096;  // the daemon's

int try_resize(Session& session, const std::string& name, int size) {
  const std::string path = "/v1/jobs/" + session.job_id(name) + "/resize?dry_run=true";
  const json job = session.send({.method = "POST", .path = path, .body = json{{"size", size}}.dump()});
  session.print(job, [&] { return "nothing was stored\n" + resize_in_words(job); });
  return kExitOk;
}

void add_resize(CLI::App& app, Chosen& chosen) {
  struct Given {
    std::string job;
    int size = 0;
    bool dry_run = false;
  };
  const auto given = std::make_shared<Given>();
  CLI::App* command = app.add_subcommand("resize", "Pin a job's size; 0 returns control to the autoscaler");
  command->add_option("job", given->job, "id or name")->required();
  command->add_option("size", given->size, "workers")->required()->check(whole_number(0, kSizeMost));
  command->add_flag("--dry-run", given->dry_run,
                    "print what the change would do now, also to other jobs; store nothing");
  command->callback([given, &chosen] {
    chosen.online = [given](Session& session) {
      if (given->dry_run) return try_resize(session, given->job, given->size);
      const std::string said =
          given->size == 0 ? "is sized by the engine again" : "will be resized to " + count_of(given->size, "worker");
      return act(session, given->job, {.suffix = "/resize", .body = {{"size", given->size}}, .said = said});
    };
  });
}

// "elastic.max=8" into {"elastic": {"max": 8}}; a value that is no JSON is a text.
void add_to_patch(json& patch, const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    fail(kExitUsage, "\"" + assignment + "\" is no change; write it as elastic.max=8 or priority=high");
  }
  std::string pointer = "/" + assignment.substr(0, equals);
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  const std::string text = assignment.substr(equals + 1);
  const json value = json::parse(text, nullptr, false);
  try {
    patch[json::json_pointer(pointer)] = value.is_discarded() ? json(text) : value;
  } catch (const json::exception&) {
    fail(kExitUsage, "\"" + assignment + "\" does not go with the other changes, or its name is no field");
  }
}

void add_change(CLI::App& app, Chosen& chosen) {
  struct Given {
    std::string job;
    std::vector<std::string> changes;
    bool dry_run = false;
  };
  const auto given = std::make_shared<Given>();
  CLI::App* command = app.add_subcommand("change", "Change fields of a job that has not ended, such as elastic.max=8");
  command->add_option("job", given->job, "id or name")->required();
  command->add_option("changes", given->changes, "FIELD=VALUE, such as elastic.max=8 or priority=high")->required();
  command->add_flag("--dry-run", given->dry_run, "check the change and store nothing");
  command->callback([given, &chosen] {
    chosen.online = [given](Session& session) {
      json patch = json::object();
      for (const auto& change : given->changes) add_to_patch(patch, change);
      const char* suffix = given->dry_run ? "?dry_run=true" : "";
      const char* said = given->dry_run ? "can be changed so; nothing was stored" : "is changed";
      return act(session, given->job, {.method = "PATCH", .suffix = suffix, .body = patch, .said = said});
    };
  });
}

void add_why(CLI::App& app, Chosen& chosen) {
  struct Given {
    std::string job;
    bool verbose = false;
  };
  const auto given = std::make_shared<Given>();
  CLI::App* command = app.add_subcommand("why", "Explain why a job waits, or has the size it has");
  command->add_option("job", given->job, "id or name")->required();
  command->add_flag("--verbose", given->verbose,
                    "with the numbers that the job's policy weighed, such as worth and price");
  command->callback([given, &chosen] {
    chosen.online = [given](Session& session) {
      return explain(session, given->job, given->verbose ? Detail::kNumbers : Detail::kWords);
    };
  });
}

}  // namespace

void add_job_commands(CLI::App& app, Chosen& chosen) {
  add_submit(app, chosen);
  add_ls(app, chosen);
  add_get(app, chosen);
  add_why(app, chosen);
  add_resize(app, chosen);
  add_action(app, chosen, "cancel", "Cancel jobs", {.method = "DELETE", .said = "will be cancelled"});
  add_action(app, chosen, "suspend", "Suspend jobs: save their states and free their slots",
             {.suffix = "/suspend", .said = "will be suspended"});
  add_action(app, chosen, "resume", "Resume suspended jobs",
             {.suffix = "/resume", .said = "will go on when slots are free"});
  add_action(app, chosen, "checkpoint", "Have running jobs write a checkpoint",
             {.suffix = "/checkpoint", .said = "takes a checkpoint; see: schedctl events JOB -f"});
  add_change(app, chosen);
}

}  // namespace tidepool::ctl
