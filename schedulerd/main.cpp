// schedulerd: joins the parts and serves until it is told to stop.
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/log/logging.hpp"
#include "base/log/open_files.hpp"
#include "core/facts/detector_of.hpp"
#include "policies/host/file_policy.hpp"
#include "policies/host/policy_host.hpp"
#include "policies/registry.hpp"
#include "schedulerd/live/daemon.hpp"
#include "schedulerd/live/http/lists/listed_job.hpp"
#include "schedulerd/live/http/rest.hpp"
#include "schedulerd/live/setup/config.hpp"
#include "schedulerd/live/setup/server_tls.hpp"
#include "straggler/registry.hpp"
#include "webui/embedded.hpp"

namespace {

using namespace tidepool;

int fail(const Error& error, int exit_code) {
  std::fprintf(stderr, "schedulerd: %s\n", error.message.c_str());
  return exit_code;
}
int fail(const Error& error) {
  return fail(error, live::exit_code_of(error));
}

live::ConfigReading read_config(int argc, char** argv) {
  live::ConfigInputs inputs{.arguments = {argv + 1, argv + argc}};
  for (const auto& policy : policies::known_policies()) inputs.policies.push_back(policy.name);
  for (const auto& detector : straggler::kDetectors) inputs.detectors.emplace_back(detector.name);
  if (const char* home = std::getenv("HOME")) inputs.home = home;
  return live::read_config(inputs);
}

live::http::RestOptions rest_options(const live::Config& config, const live::ServerTls& tls) {
  live::http::RestOptions options;
  options.http.tls = tls.context;
  options.http.names = tls.names;
  options.http.allowed_hosts = config.allowed_hosts;
  options.http.address = config.listen.host;
  options.currency = config.currency;
  options.http.port = config.listen.port;
  for (const auto& detector : straggler::kDetectors) options.detectors.emplace_back(detector.name);
  for (const auto& policy : policies::known_policies()) {
    options.policies.push_back(
        {.name = policy.name, .summary = policy.summary, .source = policy.source, .scope = policy.scope});
  }
  for (const auto& file : webui::files()) {
    options.dashboard.push_back(
        {std::string(file.path), std::string(file.content_type), file.bytes, std::string(file.etag)});
  }
  return options;
}

// With --dev the token is printed, which ends with the state; else where it is, since output lands in logs.
void print_ready(const live::Daemon& daemon, const std::string& url, bool dev) {
  nlohmann::json ready{{"url", url}, {"state_dir", daemon.state_dir().path()}, {"dashboard", url + "/"}};
  if (!daemon.tls().ca_file.empty()) {
    ready["ca"] = daemon.tls().ca_file;
    ready["ca_fingerprint"] = daemon.tls().ca_fingerprint;
  }
  if (daemon.agents_port() != 0) ready["agents_port"] = daemon.agents_port();
  if (daemon.admin_token() && dev) ready["token"] = *daemon.admin_token();
  if (daemon.admin_token() && !dev) ready["token_file"] = daemon.state_dir().file("admin.token");
  std::printf("ready %s\n", canonical_json(ready).c_str());
  std::fflush(stdout);
}

// Takes and makes nothing, so that it may run beside the daemon that serves.
int check(const live::Config& config) {
  const Status files = live::check_given_files(config, std::time(nullptr));
  if (!files.ok()) return fail(files.error(), live::kExitUsage);
  std::puts("the configuration is good");
  return 0;
}

int serve(const live::Config& config) {
  const std::string policy = config.policy.empty() ? std::string(policies::kDefaultPreset) : config.policy;
  auto rules = policies::make_policies(policy);
  if (!rules.ok()) return fail(rules.error());
  const auto detectors = core::detectors_of(straggler::kDetectors);
  const std::string judge = config.detector.empty() ? std::string(straggler::kDefaultDetector) : config.detector;
  const core::EngineConfig engine{.start_timeout = config.start_timeout,
                                  .switch_timeout = config.switch_timeout,
                                  .plan_every = config.plan_every,
                                  .replace_stragglers = config.replace_stragglers,
                                  .rebalance_stragglers = config.rebalance_stragglers};
  const auto file_policy = std::make_shared<const policies::host::FilePolicy>(policies::host::built_in_fallback());
  auto daemon = live::Daemon::open({.config = config,
                                    .parts = {*std::move(rules), {detectors.at(judge), detectors}, engine, file_policy},
                                    .active_policy = policy,
                                    .host_program = policies::host::policy_host_program(),
                                    .listed_fields = live::http::listed_fields});
  if (!daemon.ok()) return fail(daemon.error());
  live::http::RestOptions options = rest_options(config, (*daemon)->tls());
  options.join_fingerprint = [&served = **daemon] { return served.join_fingerprint(); };
  options.agents_port = [&served = **daemon] { return served.agents_port(); };
  options.state_room = [&served = **daemon] { return served.state_dir().room(); };
  options.certificate_ends = [&served = **daemon] { return served.certificate_ends(); };
  const auto rest = live::http::Rest::create(**daemon, std::move(options));
  (*daemon)->observe([&metrics = rest->metrics()](const live::Loop::TurnTimes& took) {
    metrics.observe_round(took.round);
    metrics.observe_stages(took.stages);
    if (took.commit) metrics.observe_commit(*took.commit);
    metrics.count_checkpoint_failures(took.checkpoint_failures);
  });
  // The port is taken before any worker can be started.
  const auto url = rest->start();
  if (!url.ok()) return fail(url.error(), live::kExitUsage);
  const Status started = (*daemon)->start();
  if (started.ok()) {
    print_ready(**daemon, *url, config.dev);
    (*daemon)->wait_for_end();
  }
  rest->stop();
  (*daemon)->stop();
  return started.ok() ? 0 : fail(started.error());
}

}  // namespace

int main(int argc, char** argv) {
  tidepool::live::block_signals();
  const auto reading = read_config(argc, argv);
  if (reading.help) {
    std::fputs(reading.help->c_str(), stdout);
    return 0;
  }
  for (const auto& error : reading.errors) std::fprintf(stderr, "schedulerd: %s\n", error.c_str());
  if (!reading.errors.empty()) return tidepool::live::kExitUsage;
  if (reading.config.check_config) return check(reading.config);
  tidepool::start_logging(reading.config.log_level, {.name = "schedulerd"});
  tidepool::raise_open_files("each node and each client needs one; with more than these, new ones are refused");
  return serve(reading.config);
}
