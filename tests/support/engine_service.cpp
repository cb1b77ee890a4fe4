#include "tests/support/engine_service.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/check.hpp"
#include "base/overloaded.hpp"
#include "core/codec/codec.hpp"
#include "core/facts/detector_of.hpp"
#include "policies/host/file_policy.hpp"
#include "policies/host/policy_host.hpp"
#include "policies/registry.hpp"
#include "schedulerd/live/forecaster.hpp"
#include "schedulerd/live/http/lists/listed_job.hpp"
#include "schedulerd/live/setup/secrets.hpp"
#include "schedulerd/live/submit_previews.hpp"
#include "straggler/change_point_detector.hpp"

namespace tidepool::test {
namespace {

constexpr std::int64_t kTokensMadeAt = 1'795'211'604;  // 2026-11-20T21:53:24Z

core::Engine::Parts make_parts(const std::string& policy) {
  auto policies = policies::make_policies(policy);
  TP_CHECK(policies.ok(), "the built-in policies exist");
  return {
      .policies = std::move(policies).value(),
      .stragglers = {std::make_shared<core::DetectorOf<straggler::ChangePointDetector>>()},
      .config = {},
      .file_policy = std::make_shared<const policies::host::FilePolicy>(policies::host::built_in_fallback()),
  };
}

std::string host_program() {
  const char* folder = std::getenv("TIDEPOOL_BIN_DIR");
  return folder == nullptr ? policies::host::policy_host_program() : std::string(folder) + "/tidepool-policy-host";
}

bool concerns(const core::Decision& decision, JobId job) {
  return std::any_of(decision.plan.begin(), decision.plan.end(),
                     [&](const auto& planned) { return core::job_of(planned.intent) == job; }) ||
         std::any_of(decision.verdicts.begin(), decision.verdicts.end(),
                     [&](const auto& verdict) { return verdict.job == job; });
}

}  // namespace

EngineService::EngineService(const std::string& policy)
    : policy_(policy),
      turn_(core::Engine(make_parts(policy))),
      evaluator_({.parts = make_parts(policy), .host_program = host_program(), .journal = {}}) {
  publish({});
}

class EngineService::Reads final : public leader::TurnReads {
 public:
  explicit Reads(EngineService& service) : service_(service) {}

  Result<std::optional<leader::StoredReceipt>> receipt_for(const leader::Idempotency& asked) override {
    const auto found = service_.receipts_.find({asked.token_id, asked.key});
    return found == service_.receipts_.end() ? std::nullopt : std::optional(found->second);
  }
  Result<std::optional<leader::EndedNote>> ended(JobId job) override {
    const auto known = service_.ended_job(job);
    if (known == nullptr) return std::optional<leader::EndedNote>();
    return std::optional(leader::EndedNote{core::to_text(known->state()), known->phase.ended_at().value_or(Instant())});
  }
  Result<std::vector<leader::TokenRecord>> tokens() override { return service_.tokens(); }
  Result<std::optional<leader::NodeToken>> node_token(const std::string& id) override {
    const auto found = service_.node_tokens_.find(id);
    return found == service_.node_tokens_.end() ? std::nullopt : std::optional(found->second);
  }
  Result<std::optional<leader::NodeCredential>> node_credential(const std::string& node) override {
    const auto found = service_.node_credentials_.find(node);
    return found == service_.node_credentials_.end() ? std::nullopt : std::optional(found->second);
  }
  Result<std::optional<leader::PolicyVersion>> policy_version(const std::string& name,
                                                              const std::string& version) override {
    return service_.policy_version(name, version);
  }
  Status can_run(const leader::PolicyVersion& /*version*/, const std::string& /*params*/) override {
    return ok_status();
  }

 private:
  EngineService& service_;
};

std::optional<Result<live::Receipt>> EngineService::take(leader::TurnItem item) {
  now_ = now_ + Duration::seconds(1);
  Reads reads(*this);
  std::vector<leader::TurnItem> items;
  items.push_back(std::move(item));
  std::optional<Result<live::Receipt>> answer;
  std::vector<core::Event> made;
  do {
    auto result = turn_.run(std::exchange(items, {}), now_, reads);
    TP_CHECK(result.ok(), "lookups in memory do not fail");
    for (const auto& note : result->notes) {
      TP_CHECK(!std::holds_alternative<leader::ReportRefusedNote>(note), "the test says what can be");
    }
    for (auto& row : result->rows) keep(row, made);
    if (!result->answers.empty()) answer = std::move(result->answers.front().receipt);
  } while (turn_.has_more_to_decide());
  publish(made);
  return answer;
}

void EngineService::keep(leader::TurnRow& row, std::vector<core::Event>& made) {
  const auto announce = [&](std::vector<core::Event>& events) {
    made.insert(made.end(), events.begin(), events.end());
    std::move(events.begin(), events.end(), std::back_inserter(events_));
  };
  std::visit(
      Overloaded{
          [&](leader::FactRow& learnt) { announce(learnt.events); },
          [&](leader::DecisionRow& decided) {
            announce(decided.events);
            const core::Decision& decision = decided.decision;
            decisions_.push_back({decision.id, decision.at, core::to_json(decision)});
          },
          [&](const leader::EndedJobRow& ended) { ended_.emplace(ended.job->id, ended.job); },
          [&](const leader::ReceiptRow& answered) {
            const auto& [key, token, hash] = answered.request;
            receipts_[{token, key}] = {hash, answered.receipt.job, answered.receipt.token_id};
          },
          [&](const leader::TokenRow& row_of) {
            const leader::CreateToken& made_of = row_of.token;
            std::optional<std::int64_t> expires_unix_s;
            if (made_of.lifetime) expires_unix_s = kTokensMadeAt + made_of.lifetime->count_us() / 1'000'000;
            tokens_[made_of.id] = {made_of.id,
                                   made_of.name,
                                   made_of.role,
                                   made_of.tenant,
                                   made_of.secret_sha256,
                                   "2026-11-20T21:53:24.120Z",
                                   expires_unix_s,
                                   false};
          },
          [&](const leader::TokenRevokedRow& revoked) { tokens_[revoked.token_id].revoked = true; },
          [&](const leader::NodeTokenRow& kept) { node_tokens_[kept.token.id] = kept.token; },
          [&](const leader::NodeCredentialRow& kept) { node_credentials_[kept.credential.node] = kept.credential; },
          [&](const leader::PolicyVersionRow& stored) {
            for (auto& each : policy_versions_) {
              if (each.name != stored.version.name || each.version != stored.version.version) continue;
              if (each.tests != stored.version.tests) each.checks.reset();
              each.tests = stored.version.tests;
              return;
            }
            policy_versions_.insert(policy_versions_.begin(), stored.version);
            policy_versions_.front().created_at = "2026-11-20T21:53:24.120Z";
          },
          [&](const leader::PolicyChecksRow& noted) {
            for (auto& each : policy_versions_) {
              if (each.name != noted.name || each.version != noted.version) continue;
              each.checks = noted.checks;
              each.checks->at = "2026-11-20T21:53:25.120Z";
            }
          },
          [&](const leader::ShadowRow& shadow) {
            auto report = std::make_shared<live::ShadowReport>();
            if (shadow.file) report->file = *shadow.file;
            report->since = now_;
            shadow_ = shadow.file ? report : nullptr;
          },
          // Tests put measurements in themselves; where a worker lay is found in the events.
          [](const leader::MetricRow&) {},
          [](const leader::WorkerRow&) {},
      },
      row);
}

std::vector<live::EndedRow> EngineService::ended_jobs(const live::EndedQuery& query) {
  const std::lock_guard lock(mutex_);
  std::vector<live::EndedRow> found;
  for (auto each = ended_.rbegin(); each != ended_.rend() && found.size() < std::size_t(query.limit); ++each) {
    const core::Job& job = *each->second;
    const bool asked = query.states.empty() || std::count(query.states.begin(), query.states.end(), job.state()) > 0;
    const bool below = !query.before || job.id < *query.before;
    const bool named = query.name.empty() || query.name == job.spec.name;
    const bool of_tenant = query.tenant.empty() || query.tenant == job.spec.tenant;
    const bool seen = query.subtree.empty() || query.subtree == job.spec.tenant ||
                      job.spec.tenant.starts_with(query.subtree + "/") ||
                      std::count(query.below.begin(), query.below.end(), job.spec.tenant) > 0;
    if (!asked || !below || !named || !of_tenant || !seen) continue;
    found.push_back({job.id, job.spec.tenant, job.spec.name, std::string(core::to_text(job.state())), job.submitted_at,
                     job.phase.ended_at().value_or(Instant()),
                     damaged_.contains(job.id) ? "{" : live::http::listed_fields(job)});
  }
  return found;
}

std::shared_ptr<const core::Job> EngineService::ended_job(JobId job) {
  const std::lock_guard lock(mutex_);
  const auto found = ended_.find(job);
  return found == ended_.end() || damaged_.contains(job) ? nullptr : found->second;
}

void EngineService::damage_ended(JobId job) {
  const std::lock_guard lock(mutex_);
  damaged_.insert(job);
}

live::EndedPart EngineService::ended_in(const live::EndedRange& range, int limit) {
  const std::lock_guard lock(mutex_);
  live::EndedPart part;
  std::map<std::pair<Instant, JobId>, std::shared_ptr<const core::Job>> by_end;
  for (const auto& [id, job] : ended_) by_end[{job->phase.ended_at().value_or(Instant()), id}] = job;
  const auto from = range.after.value_or(live::EndedPlace{range.since, JobId()});
  for (auto each = by_end.upper_bound({from.finished, from.job}); each != by_end.end() && limit > 0; ++each, --limit) {
    const core::Job& job = *each->second;
    part.next = live::EndedPlace{each->first.first, each->first.second};
    if (job.submitted_at < range.until && range.sees(job.spec.tenant)) part.jobs.push_back(each->second);
  }
  return part;
}

void EngineService::publish(const std::vector<core::Event>& made) {
  auto picture = std::make_shared<live::Published>();
  picture->state = turn_.state();
  picture->as_of_seq = events_.empty() ? 0 : events_.back().seq;
  picture->clock.unix_us_at_zero = 1'790'000'000'000'000;
  picture->now = now_;
  picture->shadow = shadow_;
  picture->active_policy = policy_;
  published_ = std::move(picture);
  const auto listeners = listeners_;
  for (const auto& [id, listener] : listeners) {
    if (!made.empty()) listener(made);
  }
}

NodeId EngineService::join_node(int slots, std::string name) {
  const std::lock_guard lock(mutex_);
  ++nodes_;
  if (name.empty()) name = "n" + std::to_string(nodes_);
  (void)take(leader::AgentHelloItem{
      1,
      {.token = "t", .node = name, .slots = slots, .slot_type = "cpu", .price_per_slot_hour = "1.00", .running = {}}});
  for (const auto& [id, node] : turn_.state().nodes) {
    if (node.name == name) return id;
  }
  TP_CHECK(false, "the node is let in");
  return {};
}

void EngineService::lose(NodeId node) {
  const std::lock_guard lock(mutex_);
  (void)take(leader::AgentLostItem{turn_.state().find_node(node)->name, "no heartbeat"});
}

void EngineService::lose_for_a_moment(NodeId node) {
  const std::lock_guard lock(mutex_);
  turn_.set_damping(core::kUsualDamping);
  const core::Node lost = *turn_.state().find_node(node);
  std::vector<WorkerId> running;
  for (const auto& [id, worker] : turn_.state().workers) {
    if (worker.node == node) running.push_back(id);
  }
  lose(node);
  (void)take(leader::AgentHelloItem{1,
                                    {.token = "t",
                                     .node = lost.name,
                                     .slots = static_cast<int>(lost.owners.size()),
                                     .slot_type = lost.slot_type,
                                     .price_per_slot_hour = "1.00",
                                     .running = std::move(running)}});
}

void EngineService::report(leader::PoolReport report) {
  const std::lock_guard lock(mutex_);
  (void)take(leader::PoolReportItem{std::move(report)});
}

void EngineService::say(WorkerId worker, api::FromWorker message) {
  const std::lock_guard lock(mutex_);
  (void)take(leader::FromWorkerItem{turn_.state().find_worker(worker)->node, {worker, std::move(message)}});
}

void EngineService::hold_slots(WorkerId worker, const std::string& why) {
  const std::lock_guard lock(mutex_);
  (void)take(leader::SlotsHeldItem{turn_.state().find_worker(worker)->node,
                                   {.worker = worker, .for_ms = 5'000, .why = why, .exit_code = 1}});
}

void EngineService::exit(WorkerId worker) {
  const std::lock_guard lock(mutex_);
  (void)take(leader::WorkerExitedItem{turn_.state().find_worker(worker)->node, {.worker = worker, .exit_code = 0}});
}

void EngineService::run_steps(JobId id, std::int64_t steps) {
  const std::lock_guard lock(mutex_);
  const auto job = [&]() -> const core::Job& { return *turn_.state().find_job(id); };
  for (const WorkerId worker : std::vector(job().membership.workers)) {
    if (turn_.state().find_worker(worker)->phase == core::WorkerPhase::kStarting) say(worker, api::ReadyMessage{});
  }
  const WorkerId first = job().membership.members.front();
  if (!job().membership.switched) {
    say(first, api::SwitchedMessage{
                   .generation = job().membership.generation, .switch_step = job().progress.step, .stall_ms = 12});
  }
  api::StepsMessage measured{.generation = job().membership.generation,
                             .last_step = job().progress.step + steps,
                             .steps = steps,
                             .elapsed_us = 100'000 * steps,
                             .samples = steps * job().spec.batch.global,
                             .loss = 2.5,
                             .samples_total = (job().progress.step + steps) * job().spec.batch.global};
  measured.compute_us.assign(static_cast<std::size_t>(steps) * job().membership.members.size(), 80'000);
  say(first, std::move(measured));
}

std::string EngineService::add_token(const std::string& role, const std::string& tenant, std::int64_t expires_unix_s) {
  const std::lock_guard lock(mutex_);
  const std::string id = "t" + std::to_string(tokens_.size() + 1);
  const std::string secret = live::random_hex(16);
  live::TokenRecord record{.id = id,
                           .name = role,
                           .role = role,
                           .tenant = tenant,
                           .secret_sha256 = live::sha256_hex(secret),
                           .created_at = "2026-11-20T21:53:24.120Z",
                           .expires_unix_s = std::nullopt,
                           .revoked = false};
  if (expires_unix_s > 0) record.expires_unix_s = expires_unix_s;
  tokens_[id] = record;
  return "tp_" + id + "_" + secret;
}

void EngineService::write_log(WorkerId worker, const std::string& text, bool eof) {
  const std::lock_guard lock(mutex_);
  logs_[worker].text += text;
  logs_[worker].eof = eof;
}

void EngineService::drop_log(WorkerId worker) {
  const std::lock_guard lock(mutex_);
  logs_[worker].kept_from = static_cast<std::int64_t>(logs_[worker].text.size());
}

void EngineService::refuse_commands(bool refused) {
  const std::lock_guard lock(mutex_);
  refused_ = refused;
}

void EngineService::before_next_command(std::function<void()> act) {
  const std::lock_guard lock(mutex_);
  before_command_ = std::move(act);
}

std::future<void> EngineService::hold_next_plan() {
  const std::lock_guard lock(mutex_);
  return plan_begins_.emplace().get_future();
}

void EngineService::let_plan_go() {
  std::function<void()> make;
  {
    const std::lock_guard lock(mutex_);
    make = std::exchange(held_plan_, nullptr);
  }
  make();
}

void EngineService::drop_events_below(EventSeq oldest) {
  const std::lock_guard lock(mutex_);
  oldest_event_ = oldest;
  std::erase_if(events_, [&](const core::Event& event) { return event.seq < oldest; });
}

void EngineService::add_metric_point(JobId job, live::MetricPoint point) {
  const std::lock_guard lock(mutex_);
  metrics_[job].push_back(std::move(point));
}

int EngineService::commands_carried_out() const {
  const std::lock_guard lock(mutex_);
  return commands_;
}

void EngineService::submit(live::Command command, std::function<void(Result<live::Receipt>)> done) {
  const std::lock_guard lock(mutex_);
  if (refused_) return done(Error{ErrorCode::kUnavailable, "the daemon has 0 requests waiting; try again in a second"});
  if (const auto act = std::exchange(before_command_, nullptr)) act();
  auto answer = take(std::move(command));
  commands_ += answer->ok() && (*answer)->replayed ? 0 : 1;
  done(*std::move(answer));
}

std::shared_ptr<const live::Published> EngineService::published() const {
  const std::lock_guard lock(mutex_);
  return published_;
}

std::shared_ptr<const live::ForecastPicture> EngineService::forecasts() const {
  const std::lock_guard lock(mutex_);
  if (forecasts_ != nullptr && forecasts_->of == published_) return forecasts_;
  const auto nothing_learnt = std::make_shared<const forecast::Calibration>();
  const auto made = forecast::forecast(make_parts(policy_), published_->state, published_->now);
  auto next = std::make_shared<live::ForecastPicture>();
  next->of = published_;
  next->told = forecast::tell(published_->state, made, *nothing_learnt);
  next->calibration = nothing_learnt;
  forecasts_ = std::move(next);
  return forecasts_;
}

void EngineService::plan(core::JobSpec spec, std::function<void(Result<live::PlannedSubmit>)> done) {
  auto make = [this, spec = std::move(spec), done = std::move(done)] {
    done(live::plan_on(make_parts(policy_), *published(), spec, nullptr));
  };
  const std::lock_guard lock(mutex_);
  if (!plan_begins_) return make();
  held_plan_ = std::move(make);
  std::exchange(plan_begins_, std::nullopt)->set_value();
}

void EngineService::preview(core::Tried tried, std::function<void(Result<live::PreviewedSubmit>)> done) {
  const auto seen = published();
  done(live::preview_on(make_parts(policy_), *seen, tried));
}

std::shared_ptr<void> EngineService::subscribe(Listener on_events) {
  const std::lock_guard lock(mutex_);
  const int id = next_listener_++;
  listeners_[id] = std::move(on_events);
  return std::shared_ptr<void>(nullptr, [this, id](void*) {
    const std::lock_guard guard(mutex_);
    listeners_.erase(id);
  });
}

void EngineService::read_log(WorkerId worker, std::int64_t offset, std::int64_t limit,
                             std::function<void(Result<live::LogPage>)> done) {
  const std::lock_guard lock(mutex_);
  const auto log = logs_.find(worker);
  if (log == logs_.end()) return done(not_found(worker.text() + " has written nothing"));
  const auto size = static_cast<std::int64_t>(log->second.text.size());
  const auto from = std::clamp<std::int64_t>(offset < 0 ? size + offset : offset, log->second.kept_from, size);
  live::LogPage page;
  page.offset = from;
  page.data = log->second.text.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(limit));
  page.next_offset = from + static_cast<std::int64_t>(page.data.size());
  page.eof = log->second.eof && page.next_offset == size;
  done(page);
}

std::vector<live::StoredDecision> EngineService::decisions(std::optional<DecisionId> before, std::optional<JobId> job,
                                                           int limit) {
  const std::lock_guard lock(mutex_);
  std::vector<live::StoredDecision> page;
  for (auto stored = decisions_.rbegin(); stored != decisions_.rend(); ++stored) {
    if (page.size() == static_cast<std::size_t>(limit)) break;
    if (before && stored->id >= *before) continue;
    if (job && !concerns(core::decision_from_json(stored->body).value(), *job)) continue;
    page.push_back(*stored);
  }
  return page;
}

std::vector<live::PolicyVersion> EngineService::policy_versions(const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::vector<live::PolicyVersion> found;
  for (const auto& each : policy_versions_) {
    if (name.empty() || each.name == name) found.push_back(each);
  }
  return found;
}

std::optional<live::PolicyVersion> EngineService::policy_version(const std::string& name, const std::string& version) {
  for (const auto& each : policy_versions(name)) {
    if (each.version == version) return each;
  }
  return std::nullopt;
}

std::vector<core::Event> EngineService::events(const live::EventQuery& query) {
  const std::lock_guard lock(mutex_);
  std::vector<core::Event> page;
  for (const auto& event : events_) {
    const bool asked = event.seq > query.after && event.seq < query.before;
    const bool of_type = query.type.empty() ? !query.brief || event.type != "job.progressed" : event.type == query.type;
    const bool of_subject = (!query.job || event.job == query.job) && (!query.node || event.node == query.node);
    if (asked && of_type && of_subject) page.push_back(event);
  }
  if (query.newest_first) std::reverse(page.begin(), page.end());
  if (page.size() > static_cast<std::size_t>(query.limit)) page.resize(static_cast<std::size_t>(query.limit));
  return page;
}

std::optional<WorkerId> EngineService::first_worker(JobId job) {
  const std::lock_guard lock(mutex_);
  for (const auto& event : events_) {
    if (event.type == "worker.started" && event.job == job) {
      return WorkerId::parse(event.data.at("worker").get_ref<const std::string&>());
    }
  }
  return std::nullopt;
}

std::optional<JobId> EngineService::job_of(WorkerId worker) {
  const std::lock_guard lock(mutex_);
  for (const auto& event : events_) {
    if (event.type == "worker.started" && event.data.at("worker") == worker.text()) return event.job;
  }
  return std::nullopt;
}

EventSeq EngineService::oldest_event() {
  const std::lock_guard lock(mutex_);
  return oldest_event_;
}

std::vector<live::MetricPoint> EngineService::metrics(JobId job, int limit) {
  const std::lock_guard lock(mutex_);
  auto points = metrics_[job];
  if (points.size() > static_cast<std::size_t>(limit)) points.resize(static_cast<std::size_t>(limit));
  return points;
}

std::vector<live::TokenRecord> EngineService::tokens() {
  const std::lock_guard lock(mutex_);
  std::vector<live::TokenRecord> all;
  for (const auto& [id, record] : tokens_) all.push_back(record);
  return all;
}

std::optional<live::TokenRecord> EngineService::token(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = tokens_.find(id);
  return found == tokens_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<live::NodeToken> EngineService::node_tokens(const std::string& id) {
  const std::lock_guard lock(mutex_);
  std::vector<live::NodeToken> found;
  for (const auto& [known, token] : node_tokens_) {
    if (id.empty() || id == known) found.push_back(token);
  }
  return found;
}

std::vector<live::NodeCredential> EngineService::node_credentials(const std::string& node) {
  const std::lock_guard lock(mutex_);
  std::vector<live::NodeCredential> found;
  for (const auto& [known, credential] : node_credentials_) {
    if (node.empty() || node == known) found.push_back(credential);
  }
  return found;
}

void EngineService::certify(const live::NodeCredential& credential) {
  const std::lock_guard lock(mutex_);
  node_credentials_[credential.node] = credential;
}

}  // namespace tidepool::test
