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
#include "schedulerd/live/http/lists/listed_job.hpp"
#include "schedulerd/live/setup/secrets.hpp"
#include "schedulerd/live/submit_previews.hpp"
#include "straggler/change_point_detector.hpp"

namespace tidepool::test {
namespace {

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
      engine_(make_parts(policy)),
      evaluator_({.parts = make_parts(policy), .host_program = host_program(), .journal = {}}) {
  publish({});
}

void EngineService::learn(core::Fact fact) {
  const std::lock_guard lock(mutex_);
  std::vector<core::Event> made;
  const Status learnt = step(std::move(fact), made);
  TP_CHECK(learnt.ok(), learnt.ok() ? "" : learnt.error().message.c_str());
  publish(made);
}

Status EngineService::step(core::Fact fact, std::vector<core::Event>& made) {
  const auto keep = [&](std::vector<core::Event> events) {
    for (auto& event : events) {
      made.push_back(event);
      events_.push_back(std::move(event));
    }
  };
  now_ = now_ + Duration::seconds(1);
  auto stepped = engine_.step({now_, std::move(fact)});
  if (!stepped) return stepped.error();
  keep(std::move(stepped).value());
  keep_ended();
  for (auto decision = engine_.decide(now_); !decision.empty(); decision = engine_.decide(now_)) {
    const Status valid = engine_.validate(decision);
    TP_CHECK(valid.ok(), "a plan breaks no invariant");
    keep(engine_.accept(decision));
    keep_ended();
    decisions_.push_back({decision.id, decision.at, core::to_json(decision)});
  }
  return ok_status();
}

void EngineService::keep_ended() {
  for (auto& job : engine_.take_ended()) ended_.emplace(job->id, std::move(job));
}

std::vector<live::EndedRow> EngineService::ended_jobs(const live::EndedQuery& query) {
  const std::lock_guard lock(mutex_);
  std::vector<live::EndedRow> found;
  for (auto each = ended_.rbegin(); each != ended_.rend() && found.size() < std::size_t(query.limit); ++each) {
    const core::Job& job = *each->second;
    const bool asked = query.states.empty() || std::count(query.states.begin(), query.states.end(), job.state()) > 0;
    const bool below = !query.before || job.id < *query.before;
    const bool named = query.name.empty() || query.name == job.spec.name;
    if (!asked || !below || !named || (!query.tenant.empty() && query.tenant != job.spec.tenant)) continue;
    found.push_back({job.id, job.spec.tenant, job.spec.name, std::string(core::to_text(job.state())), job.submitted_at,
                     job.phase.ended_at().value_or(Instant()), live::http::listed_fields(job)});
  }
  return found;
}

std::shared_ptr<const core::Job> EngineService::ended_job(JobId job) {
  const std::lock_guard lock(mutex_);
  const auto found = ended_.find(job);
  return found == ended_.end() ? nullptr : found->second;
}

void EngineService::publish(const std::vector<core::Event>& made) {
  auto picture = std::make_shared<live::Published>();
  picture->state = engine_.view();
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

NodeId EngineService::join_node(int slots) {
  const std::lock_guard lock(mutex_);
  const std::string name = "n" + std::to_string(++nodes_);
  const NodeId id = engine_.node_id_for(name);
  learn(core::NodeJoined{id, name, slots, "cpu", Money::micros(1'000'000), {}});
  return id;
}

void EngineService::run_steps(JobId id, std::int64_t steps) {
  const std::lock_guard lock(mutex_);
  const auto job = [&]() -> const core::Job& { return *engine_.view().find_job(id); };
  for (const WorkerId worker : std::vector(job().membership.workers)) {
    if (engine_.view().find_worker(worker)->phase == core::WorkerPhase::kStarting) learn(core::WorkerReady{worker});
  }
  core::GenerationSwitched switched;
  switched.job = id;
  switched.generation = job().membership.generation;
  switched.switch_step = job().progress.step + 1;
  switched.stall_ms = 12;
  if (!job().membership.switched) learn(switched);
  core::StepsMeasured measured;
  measured.job = id;
  measured.generation = job().membership.generation;
  measured.last_step = job().progress.step + steps;
  measured.steps = steps;
  measured.elapsed = Duration::millis(100 * steps);
  measured.samples = steps * job().spec.batch.global;
  measured.loss = 2.5;
  measured.compute_us.assign(static_cast<std::size_t>(steps) * job().membership.members.size(), 80'000);
  learn(measured);
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

void EngineService::refuse_commands(bool refused) {
  const std::lock_guard lock(mutex_);
  refused_ = refused;
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
  done(carry_out_once(command));
}

Result<live::Receipt> EngineService::carry_out_once(const live::Command& command) {
  if (!command.idempotency) return carry_out(command);
  const auto& wanted = *command.idempotency;
  const auto before = receipts_.find({wanted.token_id, wanted.key});
  if (before != receipts_.end()) {
    if (before->second.first != wanted.request_hash)
      return conflict("this Idempotency-Key was used for another request");
    live::Receipt receipt = before->second.second;
    receipt.replayed = true;
    return receipt;
  }
  auto receipt = carry_out(command);
  if (receipt) receipts_[{wanted.token_id, wanted.key}] = {wanted.request_hash, receipt.value()};
  return receipt;
}

Result<live::Receipt> EngineService::carry_out(const live::Command& command) {
  ++commands_;
  live::Receipt receipt;
  std::vector<core::Event> made;
  const auto tell = [&](core::Fact fact) { return step(std::move(fact), made); };
  const Status done = std::visit(
      Overloaded{
          [&](const live::SubmitJob& submit) {
            receipt.job = engine_.next_job_id();
            return tell(core::JobSubmitted{*receipt.job, submit.spec});
          },
          [&](const live::SubmitJobs& submit) -> Status {
            receipt.job = engine_.next_job_id();
            for (const auto& spec : submit.specs) TP_TRY(tell(core::JobSubmitted{engine_.next_job_id(), spec}));
            return ok_status();
          },
          [&](const live::CancelJob& cancel) { return tell(core::JobCancelRequested{cancel.job}); },
          [&](const live::ResizeJob& resize) { return tell(core::JobResizeRequested{resize.job, resize.size}); },
          [&](const live::SuspendJob& suspend) { return tell(core::JobSuspendRequested{suspend.job}); },
          [&](const live::ResumeJob& resume) { return tell(core::JobResumeRequested{resume.job}); },
          [&](const live::CheckpointJob& wanted) { return tell(core::JobCheckpointRequested{wanted.job}); },
          [&](const live::ChangeJob& change) { return tell(core::JobChanged{change.job, change.spec}); },
          [&](const live::CordonNode& cordon) { return tell(core::NodeCordonChanged{cordon.node, cordon.cordoned}); },
          [&](const live::StorePolicyVersion& store) {
            if (policy_version(store.version.name, store.version.version)) return ok_status();
            policy_versions_.insert(policy_versions_.begin(), store.version);
            policy_versions_.front().created_at = "2026-11-20T21:53:24.120Z";
            policy_versions_.front().created_by = command.actor;
            return ok_status();
          },
          [&](const live::NotePolicyChecks& noted) {
            for (auto& each : policy_versions_) {
              if (each.name != noted.name || each.version != noted.version) continue;
              each.checks = noted.checks;
              each.checks->at = "2026-11-20T21:53:25.120Z";
            }
            return ok_status();
          },
          [&](const live::ActivatePolicy& activate) { return tell(core::PolicyActivated{activate.file}); },
          [&](const live::RollBackPolicy& back) { return tell(core::PolicyRolledBack{back.why}); },
          [&](const live::ShadowPolicy& shadow) {
            auto report = std::make_shared<live::ShadowReport>();
            if (shadow.file) report->file = *shadow.file;
            report->since = now_;
            shadow_ = shadow.file ? report : nullptr;
            return tell(core::PolicyShadowed{shadow.file});
          },
          [&](const live::CreateToken& create) {
            receipt.token_id = "made" + std::to_string(tokens_.size());
            tokens_[receipt.token_id] = {
                receipt.token_id,           create.name,  create.role, create.tenant, create.secret_sha256,
                "2026-11-20T21:53:24.120Z", std::nullopt, false};
            return ok_status();
          },
          [&](const live::RevokeToken& revoke) {
            tokens_[revoke.token_id].revoked = true;
            return ok_status();
          }},
      command.body);
  if (!done) return done.error();
  publish(made);
  receipt.as_of_seq = published_->as_of_seq;
  return receipt;
}

std::shared_ptr<const live::Published> EngineService::published() const {
  const std::lock_guard lock(mutex_);
  return published_;
}

void EngineService::preview(core::JobSpec spec, std::function<void(Result<live::PreviewedSubmit>)> done) {
  const auto seen = published();
  done(live::preview_on(make_parts(policy_), *seen, spec));
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
  const auto from = std::clamp<std::int64_t>(offset < 0 ? size + offset : offset, 0, size);
  live::LogPage page;
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

std::vector<core::Event> EngineService::events(EventSeq after, std::optional<JobId> job, int limit) {
  const std::lock_guard lock(mutex_);
  std::vector<core::Event> page;
  for (const auto& event : events_) {
    if (page.size() == static_cast<std::size_t>(limit)) break;
    if (event.seq > after && (!job || event.job == job)) page.push_back(event);
  }
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

}  // namespace tidepool::test
