// The daemon without its HTTP server: state directory, journal, engine, loop, agents. open() recovers the state,
// start() starts all threads; an error of either has an exit code.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "core/engine/engine.hpp"
#include "schedulerd/live/agents/embedded_agent.hpp"
#include "schedulerd/live/agents/gateway.hpp"
#include "schedulerd/live/daemon_pools.hpp"
#include "schedulerd/live/forecaster.hpp"
#include "schedulerd/live/journal_reads.hpp"
#include "schedulerd/live/loop.hpp"
#include "schedulerd/live/policies/policy_asker.hpp"
#include "schedulerd/live/policies/policy_evaluator.hpp"
#include "schedulerd/live/service/clock.hpp"
#include "schedulerd/live/service/publisher.hpp"
#include "schedulerd/live/service/service.hpp"
#include "schedulerd/live/setup/config.hpp"
#include "schedulerd/live/setup/given_certificate.hpp"
#include "schedulerd/live/setup/server_tls.hpp"
#include "schedulerd/live/setup/state_dir.hpp"
#include "schedulerd/live/store/history.hpp"
#include "schedulerd/live/submit_previews.hpp"

namespace tidepool::live {

inline constexpr int kExitUsage = 2;    // configuration, state directory, port or clock must be corrected
inline constexpr int kExitJournal = 3;  // the disk failed or the state is damaged
[[nodiscard]] int exit_code_of(const Error& error);

// Blocks the signals that wait_for_end() waits for. Call it before any thread starts: threads inherit it.
void block_signals();

class Daemon final : public Service {
 public:
  struct Setup {
    Config config;
    core::Engine::Parts parts;
    // The name of the policy that the parts call "default". Without a configured policy, a state directory keeps the
    // policy that decided in it last, so that a new version with another default changes nothing.
    std::string active_policy;
    std::string host_program = {};                                 // tidepool-policy-host
    std::string (*listed_fields)(const core::Job& job) = nullptr;  // JournalOptions
  };
  [[nodiscard]] static Result<std::unique_ptr<Daemon>> open(Setup setup);
  ~Daemon() override;

  // For measurements; before start().
  void observe(Loop::OnTurn on_turn) { loop_->observe(std::move(on_turn)); }
  [[nodiscard]] Status start();

  void submit(Command command, std::function<void(Result<Receipt>)> done) override;
  [[nodiscard]] std::shared_ptr<const Published> published() const override { return publisher_.picture(); }
  [[nodiscard]] std::shared_ptr<void> subscribe(
      std::function<void(const std::vector<core::Event>&)> on_events) override;
  [[nodiscard]] History& history() override { return *history_; }
  void read_log(WorkerId worker, std::int64_t offset, std::int64_t limit,
                std::function<void(Result<LogPage>)> done) override;

  void preview(core::Tried tried, std::function<void(Result<PreviewedSubmit>)> done) override {
    previews_->preview(published(), std::move(tried), std::move(done));
  }
  [[nodiscard]] std::shared_ptr<const ForecastPicture> forecasts() const override { return forecaster_->newest(); }
  void plan(core::JobSpec spec, std::function<void(Result<PlannedSubmit>)> done) override {
    forecaster_->plan(std::move(spec), std::move(done));
  }
  [[nodiscard]] PolicyEvaluator& policy_workshop() override { return *evaluator_; }

  [[nodiscard]] const StateDir& state_dir() const { return state_dir_; }
  // The admin token, at the first start and with --dev; else none.
  [[nodiscard]] const std::optional<std::string>& admin_token() const { return admin_token_; }
  // The TLS identity of both listeners at the start; empty without TLS.
  [[nodiscard]] const ServerTls& tls() const { return tls_; }
  // The fingerprint of the present authority, which new nodes must trust; thread-safe. Empty: unknown.
  [[nodiscard]] std::string join_fingerprint() const;
  // When the certificate of both listeners ends, and the daemon's own authority, in Unix time; thread-safe. Empty
  // without TLS.
  [[nodiscard]] std::map<std::string, std::int64_t> certificate_ends() const;
  // TCP port for agents of other machines; 0 = none. Requires: start() has succeeded.
  [[nodiscard]] std::uint16_t agents_port() const { return gateway_->tcp_port(); }

  // Returns on SIGTERM and SIGINT. If the journal fails it ends the process with kExitJournal at once:
  // nothing more may be acknowledged.
  void wait_for_end();
  // Accepts no more input, completes what was accepted, stores a snapshot. On a temporary state it stops its agent with
  // the workers, on a lasting one it prints which workers continue. Idempotent.
  void stop();

 private:
  struct Opened {
    StateDir state_dir;
    Journal journal;
  };
  Daemon(Config config, Opened opened, const std::optional<StoredClock>& clock);
  [[nodiscard]] Status prepare(Recovered recovered, const Setup& setup);
  [[nodiscard]] Status open_reads();
  // With all that it and the handlers ask beside it.
  void make_loop(Recovered recovered, const Setup& setup);
  [[nodiscard]] Status make_gateway(const std::string& cluster, const core::ClusterState& state);
  // Checks the file of --policy and activates it, as the first input of the loop.
  [[nodiscard]] Status prepare_policy_file();
  [[nodiscard]] Status prepare_admin_token();
  [[nodiscard]] Status start_agent();
  // On a temporary state ends the agent with its workers; on a lasting one prints which workers continue.
  void part_from_workers();
  void stop_agent();

  Config config_;
  StateDir state_dir_;
  ServerTls tls_;
  std::optional<GivenCertificate> given_certificate_;
  Journal journal_;
  SystemClockSource clock_source_;
  DaemonClock clock_;
  Inbox inbox_;
  Publisher publisher_;
  std::unique_ptr<SqliteHistory> history_;
  std::unique_ptr<JournalReads> reads_;
  std::unique_ptr<Gateway> gateway_;
  std::optional<EmbeddedAgent> agent_;
  std::unique_ptr<PolicyEvaluator> evaluator_;
  std::unique_ptr<PolicyAsker> asker_;
  std::unique_ptr<SubmitPreviews> previews_;
  std::unique_ptr<Forecaster> forecaster_;
  std::unique_ptr<Loop> loop_;
  DaemonPools pools_;
  std::thread loop_thread_;
  std::optional<std::string> admin_token_;
};

}  // namespace tidepool::live
