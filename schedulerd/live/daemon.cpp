#include "schedulerd/live/daemon.hpp"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <future>
#include <utility>

#include "base/version.hpp"
#include "schedulerd/leader/token_validity.hpp"
#include "schedulerd/live/policies/policy_reading.hpp"
#include "schedulerd/live/service/tenant_sharing.hpp"
#include "schedulerd/live/setup/secrets.hpp"
#include "schedulerd/live/store/recovery.hpp"

namespace tidepool::live {
namespace {

constexpr std::size_t kInboxCapacity = 10'000;
constexpr timespec kTendEvery{.tv_sec = 1, .tv_nsec = 0};
constexpr std::int64_t kFirstPatienceFactor = 3;  // agents back off while the daemon is away
constexpr std::size_t kJobsNamedMax = 8;
constexpr int kStopCallsMax = 60;  // an agent has killed its workers long before, each within its grace

// "3 workers of job-1, job-4" that hold slots; empty if there are none.
std::string workers_left(const core::ClusterState& state) {
  std::string jobs;
  std::size_t named = 0;
  for (const auto& [id, job] : state.jobs) {
    if (job->membership.workers.empty() || ++named > kJobsNamedMax + 1) continue;
    jobs += named > kJobsNamedMax ? ", and others" : (jobs.empty() ? "" : ", ") + id.text();
  }
  const std::size_t count = state.workers.size();
  return count == 0 ? "" : std::to_string(count) + (count == 1 ? " worker of " : " workers of ") + jobs;
}

sigset_t awaited_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&set, signal);
  // The terminal has gone: an end like any other, unless nohup or the like has said that it is none.
  struct sigaction hangup{};
  if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaddset(&set, SIGHUP);
  return set;
}

bool asks_to_stop(int signal) {
  return signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

// If no policy is configured, the one that has decided in this state directory stays.
Status keep_policy(Journal& journal, Daemon::Setup& setup) {
  if (!setup.config.policy.empty()) return ok_status();
  const auto before = journal.own_policy();
  if (!before.ok()) return before.error();
  if (!*before || **before == setup.active_policy) return ok_status();
  const auto known = setup.parts.policies.find(**before);
  if (known == setup.parts.policies.end()) {
    spdlog::warn("event=policy_unknown policy={} instead={}", **before, setup.active_policy);
    return ok_status();
  }
  spdlog::info(
      "event=policy_kept policy={} why=\"it made the newest decisions in this state directory\" next=\"--policy "
      "{} chooses the present default\"",
      **before, setup.active_policy);
  setup.parts.policies["default"] = known->second;
  setup.active_policy = **before;
  return ok_status();
}

Status check_clock_of(Journal& journal, const Config& config) {
  const auto last = journal.clock();
  if (!last.ok()) return last.error();
  if (!*last || config.accept_clock) return ok_status();
  return check_clock(SystemClockSource().read(), **last);
}

// Whether this is the text of a valid token of an admin of the whole pool.
bool lets_in_pool_admin(const std::string& text, History& history, std::int64_t unix_s) {
  const auto given = parse_token(text);
  const auto known = given ? history.token(given->id) : std::nullopt;
  return known && leader::admits_pool_admin(*known, unix_s) &&
         equal_in_constant_time(sha256_hex(given->secret), known->secret_sha256);
}

// Whether there are certificates that the authority of nodes has signed and that may be good.
bool has_joined_nodes(History& history) {
  return std::ranges::any_of(history.node_credentials({}),
                             [](const NodeCredential& known) { return !known.revoked_at; });
}

// A tree of tenants that does not decide is easily taken for one that does.
void warn_of_sharing(const core::ClusterState& state, const Daemon::Setup& setup) {
  if (state.tenants->empty()) return;
  const bool plans_for_all = setup.parts.policies.at("default")->planner() != nullptr;
  const auto why = why_not_shared(state.deployment, {.name = setup.active_policy, .plans_for_all = plans_for_all});
  if (why) spdlog::warn("event=tenants_not_shared why={:?}", *why);
}

}  // namespace

int exit_code_of(const Error& error) {
  return error.code == ErrorCode::kIo || error.code == ErrorCode::kInternal ? kExitJournal : kExitUsage;
}

void block_signals() {
  const sigset_t set = awaited_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);  // a closed socket is an error code, not an end
  ::signal(SIGXFSZ, SIG_IGN);  // so is a file that may not grow
  ::signal(SIGUSR1, SIG_IGN);  // mean nothing here, and must not end the daemon
  ::signal(SIGUSR2, SIG_IGN);
}

Daemon::Daemon(Config config, Opened opened, const std::optional<StoredClock>& clock)
    : config_(std::move(config)),
      state_dir_(std::move(opened.state_dir)),
      journal_(std::move(opened.journal)),
      clock_(clock_source_, clock),
      inbox_(kInboxCapacity, weight_of) {}

Daemon::~Daemon() {
  stop();
}

Result<std::unique_ptr<Daemon>> Daemon::open(Setup setup) {
  auto state_dir = setup.config.state_dir.empty() ? StateDir::open_temporary() : StateDir::open(setup.config.state_dir);
  if (!state_dir.ok()) return state_dir.error();
  TP_TRY(state_dir->has_journal());
  TP_TRY(state_dir->keep_private("journal.db"));
  auto journal = Journal::open(state_dir->file("journal.db"), {.vfs = "",
                                                               .retention = setup.config.retention,
                                                               .bytes_max = setup.config.retention_bytes,
                                                               .listed_fields = setup.listed_fields});
  if (!journal.ok()) return journal.error();
  TP_TRY(check_clock_of(*journal, setup.config));
  TP_TRY(keep_policy(*journal, setup));
  auto recovered = recover(*journal, setup.parts);
  if (!recovered.ok()) return recovered.error();
  spdlog::info("event=recovered version={} state_dir={} snapshot={} rows={} jobs={}", tidepool::kVersion,
               state_dir->path(), recovered->snapshot_seq, recovered->rows_replayed,
               recovered->engine.view().jobs.size());
  std::unique_ptr<Daemon> daemon(
      new Daemon(setup.config, {*std::move(state_dir), *std::move(journal)}, recovered->clock));
  TP_TRY(daemon->prepare(*std::move(recovered), setup));
  return daemon;
}

Status Daemon::prepare(Recovered recovered, const Setup& setup) {
  if (recovered.clock) TP_TRY(state_dir_.has_cluster_id());
  // Before anything is committed: a first start that fails later, as by its certificate, can be done again.
  if (const auto made = state_dir_.cluster_id(); !made.ok()) return made.error();
  TP_TRY(open_reads());
  TP_TRY(prepare_admin_token());
  if (config_.tls && has_joined_nodes(*history_)) TP_TRY(state_dir_.has_authority());
  auto tls = prepare_tls(config_, state_dir_, std::time(nullptr));
  if (!tls.ok()) return tls.error();
  tls_ = *std::move(tls);
  if (!tls_.given.identity.chain.empty()) {
    given_certificate_.emplace(*config_.tls, tls_.names, tls_.given, std::vector{tls_.context, tls_.agents});
  }
  const auto cluster = state_dir_.cluster_id();
  if (!cluster.ok()) return cluster.error();
  TP_TRY(make_gateway(*cluster, recovered.engine.view()));
  make_loop(std::move(recovered), setup);
  TP_TRY(pools_.prepare(config_.pools, *cluster, publisher_, inbox_));
  return config_.policy_file.empty() ? ok_status() : prepare_policy_file();
}

Status Daemon::open_reads() {
  auto history = SqliteHistory::open(state_dir_.file("journal.db"));
  if (!history.ok()) return history.error();
  history_ = *std::move(history);
  auto reads = JournalReads::open(state_dir_.file("journal.db"));
  if (!reads.ok()) return reads.error();
  reads_ = *std::move(reads);
  return ok_status();
}

void Daemon::make_loop(Recovered recovered, const Setup& setup) {
  evaluator_ = std::make_unique<PolicyEvaluator>(PolicyEvaluator::Setup{.parts = setup.parts,
                                                                        .host_program = setup.host_program,
                                                                        .allow_native = config_.allow_native_policies,
                                                                        .journal = state_dir_.file("journal.db")});
  asker_ = std::make_unique<PolicyAsker>(
      PolicyAsker::Setup{
          .parts = setup.parts, .host_program = setup.host_program, .allow_native = config_.allow_native_policies},
      inbox_);
  previews_ = std::make_unique<SubmitPreviews>(setup.parts);
  forecaster_ = std::make_unique<Forecaster>(setup.parts, publisher_, Forecaster::ForecastPace{},
                                             state_dir_.file("forecasts.json"));
  warn_of_sharing(recovered.engine.view(), setup);
  loop_ = std::make_unique<Loop>(std::move(recovered), setup.active_policy,
                                 Loop::Links{journal_, *reads_, clock_, inbox_, *gateway_, publisher_, asker_.get()});
  const UnsteadyNodes& unsteady = config_.unsteady_nodes;
  loop_->set_damping({.half_life = unsteady.half_life,
                      .suppress = unsteady.suppress,
                      .reuse = unsteady.reuse,
                      .longest = unsteady.longest});
  loop_->set_detector(std::string(setup.parts.stragglers.usual->name()));
}

Status Daemon::make_gateway(const std::string& cluster, const core::ClusterState& state) {
  auto agent_token = state_dir_.agent_token();
  if (!agent_token.ok()) return agent_token.error();
  GatewayOptions gateway{.socket_path = state_dir_.file("agent.sock"),
                         .tcp = config_.agents_listen,
                         .tls = tls_.agents,
                         .token = *std::move(agent_token),
                         .cluster = cluster,
                         .heartbeat = config_.heartbeat,
                         .patience = config_.patience,
                         .first_patience = config_.patience * kFirstPatienceFactor,
                         .expected = {},
                         .nodes = {tls_.node_authority, config_.node_certificate_lifetime},
                         .authorities = tls_.authorities};
  for (const auto& [id, node] : state.nodes) {
    if (node.state == core::NodeState::kUp) gateway.expected.push_back(node.name);
  }
  gateway_ = std::make_unique<Gateway>(std::move(gateway), inbox_);
  return ok_status();
}

Status Daemon::prepare_policy_file() {
  auto version = read_policy_version(config_.policy_file);
  if (!version.ok()) return invalid_argument(version.error().message);
  std::promise<Result<PolicyExamined>> looked_over;
  evaluator_->examine(*version, true,
                      [&](Result<PolicyExamined> examined) { looked_over.set_value(std::move(examined)); });
  const Result<PolicyExamined> examined = looked_over.get_future().get();
  if (!examined.ok()) return invalid_argument(config_.policy_file + ": " + examined.error().message);
  if (const Status fit = may_decide(*examined); !fit.ok()) {
    return invalid_argument(config_.policy_file + ": " + fit.error().message);
  }
  if (examined->checks.tests == 0) {
    spdlog::warn("event=policy_untested policy={} why=\"it has no tests; write some to tests/*.yaml beside it\"",
                 version->name);
  }
  const auto command = [&](CommandBody body) {
    // Refused if it is active already, which is what was wanted.
    return inbox_.try_push(
        CommandItem{{.body = std::move(body), .actor = "--policy", .idempotency = {}}, [](const Result<Receipt>&) {}});
  };
  const auto runnable = make_runnable(*version, nlohmann::json::object());
  if (!runnable.ok()) return invalid_argument(config_.policy_file + ": " + runnable.error().message);
  const core::PolicyFileRef& ref = runnable->ref;
  TP_TRY(command(leader::StorePolicyVersion{*version}));
  TP_TRY(command(leader::NotePolicyChecks{ref.name, ref.version, examined->checks}));
  return command(leader::ActivatePolicy{ref});
}

Status Daemon::start() {
  TP_TRY(gateway_->start());
  state_dir_.keep();
  loop_thread_ = std::thread([this] {
    const Status ended = loop_->run();
    if (ended.ok()) return;
    // What is in memory may be ahead of the disk: say why, acknowledge nothing more, recover at the next start.
    spdlog::critical("event=journal_failed why={:?}", ended.error().message);
    std::fprintf(stderr, "schedulerd: %s\n", ended.error().message.c_str());
    std::_Exit(kExitJournal);
  });
  pools_.start();
  forecaster_->start();
  return start_agent();
}

Status Daemon::prepare_admin_token() {
  const std::string path = state_dir_.file("admin.token");
  const std::int64_t unix_s = std::time(nullptr);
  if (leader::has_pool_admin(history_->tokens(), unix_s)) {
    if (!config_.dev) return ok_status();
    auto stored = read_secret_file(path);
    if (stored.ok() && lets_in_pool_admin(*stored, *history_, unix_s)) admin_token_ = *std::move(stored);
    return ok_status();
  }
  const TokenText token = new_token();
  if (!history_->tokens().empty()) {
    spdlog::warn(
        "event=admin_token_made id={} file={} why=\"no token of an admin of the whole pool is valid any longer\"",
        token.id, path);
  }
  // The file comes first: a journaled token that is in no file would lock its owner out.
  TP_TRY(write_secret_file(path, token.text()));
  TP_TRY(journal_.append(TokenRecord{.id = token.id,
                                     .name = "admin",
                                     .role = "admin",
                                     .tenant = "",
                                     .secret_sha256 = sha256_hex(token.secret),
                                     .created_at = clock_.wall().text(clock_.now())}));
  TP_TRY(journal_.commit(clock_.stored()));
  admin_token_ = token.text();
  return ok_status();
}

Status Daemon::start_agent() {
  if (config_.local_slots == 0) return ok_status();
  agent_.emplace(EmbeddedAgentOptions{.program = sibling_program("agentd"),
                                      .socket_path = state_dir_.file("agent.sock"),
                                      .token_file = state_dir_.file("agent.token"),
                                      .state_dir = state_dir_.file("agent"),
                                      .log_file = state_dir_.file("agent.log"),
                                      .slots = config_.local_slots,
                                      .price_per_slot_hour = config_.local_price,
                                      .data_address = config_.local_data_address,
                                      .isolation = config_.local_isolation,
                                      .syscall_filter = config_.local_syscall_filter,
                                      .metadata = config_.local_metadata,
                                      .denied = config_.local_denied,
                                      .ends_with_daemon = config_.state_dir.empty()});
  return agent_->start();
}

void Daemon::submit(Command command, std::function<void(Result<Receipt>)> done) {
  const auto refused = inbox_.try_push(CommandItem{std::move(command), done});
  if (!refused.ok()) done(refused.error());
}

std::shared_ptr<void> Daemon::subscribe(std::function<void(const std::vector<core::Event>&)> on_events) {
  return publisher_.subscribe(std::move(on_events));
}

void Daemon::read_log(WorkerId worker, std::int64_t offset, std::int64_t limit,
                      std::function<void(Result<LogPage>)> done) {
  const auto picture = published();
  const core::Worker* alive = picture->state.find_worker(worker);
  const auto node = alive != nullptr ? std::optional(alive->node) : history_->node_of(worker);
  if (!node) return done(not_found("there has been no " + worker.text()));
  gateway_->read_log(*node, {.request = 0, .worker = worker, .offset = offset, .limit = limit}, std::move(done));
}

std::string Daemon::join_fingerprint() const {
  return given_certificate_ ? given_certificate_->ca_fingerprint() : tls_.ca_fingerprint;
}

std::map<std::string, std::int64_t> Daemon::certificate_ends() const {
  if (tls_.context == nullptr) return {};
  const std::int64_t authority = tls::expiry_unix_s(tls_.node_authority.chain).value();
  return {{"authority", authority}, {"daemon", given_certificate_ ? given_certificate_->end_unix_s() : authority}};
}

void Daemon::wait_for_end() {
  const sigset_t set = awaited_signals();
  while (true) {
    const int signal = sigtimedwait(&set, nullptr, &kTendEvery);
    if (asks_to_stop(signal)) {
      spdlog::info("event=stopping signal={}", signal);
      return;
    }
    if (agent_) agent_->tend();
    if (given_certificate_ && given_certificate_->tend(std::time(nullptr))) {
      gateway_->send_authorities(given_certificate_->authorities());
    }
  }
}

void Daemon::stop() {
  pools_.stop();
  inbox_.close();
  const bool served = loop_thread_.joinable();
  if (served) loop_thread_.join();
  if (asker_) asker_->stop();
  if (evaluator_) evaluator_->stop();
  if (previews_) previews_->stop();
  if (forecaster_) forecaster_->stop();
  if (gateway_) gateway_->stop();
  if (served) part_from_workers();
}

void Daemon::part_from_workers() {
  const std::string left = workers_left(loop_->state());
  if (config_.state_dir.empty()) {
    if (!left.empty()) std::fprintf(stderr, "schedulerd: stopping %s; a second signal kills them\n", left.c_str());
    return stop_agent();
  }
  if (left.empty()) return;
  std::fprintf(
      stderr,
      "schedulerd: left training without the daemon: %s. A daemon with --state-dir %s takes over what is left; "
      "to end it, start that and cancel each of these jobs: schedctl cancel JOB\n",
      left.c_str(), state_dir_.path().c_str());
}

void Daemon::stop_agent() {
  if (!agent_) return;
  agent_->release();
  const sigset_t set = awaited_signals();
  for (int calls = 0; agent_->lives() && calls < kStopCallsMax; ++calls) {
    const int signal = sigtimedwait(&set, nullptr, &kTendEvery);
    if (asks_to_stop(signal)) agent_->hurry();
  }
}

}  // namespace tidepool::live
