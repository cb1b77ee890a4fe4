#include "schedulerd/leader/turn_batch.hpp"

#include <algorithm>

#include "schedulerd/leader/start_order.hpp"

namespace tidepool::leader {

Status TurnBatch::learn(core::Fact fact) {
  core::TimedFact timed{.at = engine_now(), .fact = std::move(fact)};
  auto events = leader_.engine.step(timed);
  if (!events.ok()) return events.error();
  for (core::Event& event : *events) event.actor = actor_;
  result_.changed = true;
  std::optional<MetricRow> metric;
  if (const auto* steps = std::get_if<core::StepsMeasured>(&timed.fact)) {
    metric = leader_.newest.add(*steps, state(), now_);
  }
  add(FactRow{std::move(timed), *std::move(events)});
  if (metric) add(*std::move(metric));
  drop_ended_jobs();
  return ok_status();
}

void TurnBatch::accept(core::Decision decision) {
  auto events = leader_.engine.accept(decision);
  const Effects effects = leader_.executor.carry_out(decision, state());
  result_.changed = true;
  result_.planned = result_.planned || decision.replan || !decision.plan.empty() || !decision.nodes.empty();
  for (const auto& planned : decision.plan) {
    if (const auto* end = std::get_if<core::EndJobIntent>(&planned.intent)) leader_.newest.forget(end->job);
  }
  add(DecisionRow{std::move(decision), std::move(events)});
  drop_ended_jobs();
  for (const WorkerId id : effects.started) add(WorkerRow{*state().find_worker(id)});
  order(effects.orders);
}

// Jobs that have left the state go on in the journal, with what made them leave.
void TurnBatch::drop_ended_jobs() {
  for (auto& job : leader_.engine.take_ended()) {
    leader_.newest.forget(job->id);
    result_.keyed.add(job->id, EndedNote{core::to_text(job->state()), job->phase.ended_at().value_or(Instant())});
    add(EndedJobRow{std::move(job)});
  }
}

void TurnBatch::order(const std::vector<NodeOrder>& orders) {
  for (const NodeOrder& each : orders) {
    if (auto message = message_of(each.order)) order(NodeMessage{each.node, *std::move(message)});
  }
}

std::optional<api::DaemonToAgent> TurnBatch::message_of(const Order& order) {
  auto message = write_message(order, state());
  if (message.ok()) return *std::move(message);
  const auto* start = std::get_if<StartOrder>(&order);
  note(StartImpossibleNote{start == nullptr ? WorkerId() : start->worker, message.error().message});
  return std::nullopt;
}

void TurnBatch::add_receipt(const Idempotency& request, const Receipt& receipt) {
  result_.keyed.add(request, {request.request_hash, receipt.job, receipt.token_id});
  add(ReceiptRow{request, receipt});
}

void TurnBatch::add_token(CreateToken token) {
  result_.keyed.add(TokenRecord{.id = token.id,
                                .name = token.name,
                                .role = token.role,
                                .tenant = token.tenant,
                                .secret_sha256 = token.secret_sha256,
                                .created_at = "",
                                .expires_unix_s = std::nullopt});
  add(TokenRow{std::move(token)});
}

void TurnBatch::revoke_token(const std::string& id) {
  result_.keyed.revoke_token(id);
  add(TokenRevokedRow{id});
}

void TurnBatch::add_policy(PolicyVersion version) {
  result_.keyed.add(version);
  add(PolicyVersionRow{std::move(version)});
}

Result<std::optional<StoredReceipt>> TurnBatch::receipt_for(const Idempotency& request) {
  if (const StoredReceipt* known = result_.keyed.receipt(request)) return std::optional(*known);
  return kept(reads_.receipt_for(request));
}

Result<std::optional<EndedNote>> TurnBatch::ended(JobId id) {
  if (const core::Job* job = state().find_job(id)) {
    if (!core::is_final(job->state()) || !job->phase.ended_at()) return std::optional<EndedNote>();
    return std::optional(EndedNote{core::to_text(job->state()), *job->phase.ended_at()});
  }
  if (const EndedNote* known = result_.keyed.ended(id)) return std::optional(*known);
  return kept(reads_.ended(id));
}

Result<std::vector<TokenRecord>> TurnBatch::tokens() {
  auto all = kept(reads_.tokens());
  if (!all.ok()) return all;
  return result_.keyed.after(*std::move(all));
}

void TurnBatch::keep(NodeToken token) {
  result_.keyed.add(token);
  add(NodeTokenRow{std::move(token)});
}

void TurnBatch::keep(NodeCredential credential) {
  result_.keyed.add(credential);
  add(NodeCredentialRow{std::move(credential)});
}

Result<std::optional<NodeToken>> TurnBatch::node_token(const std::string& id) {
  if (const NodeToken* known = result_.keyed.node_token(id)) return std::optional(*known);
  return kept(reads_.node_token(id));
}

Result<std::optional<NodeCredential>> TurnBatch::node_credential(const std::string& node) {
  if (const NodeCredential* known = result_.keyed.node_credential(node)) return std::optional(*known);
  return kept(reads_.node_credential(node));
}

Status TurnBatch::can_run(const core::PolicyFileRef& file) {
  const PolicyVersion* known = result_.keyed.policy(file.name, file.version);
  if (known != nullptr) return reads_.can_run(*known, file.params);
  const auto stored = kept(reads_.policy_version(file.name, file.version));
  if (!stored.ok()) return stored.error();
  if (!*stored) return not_found("there is no version " + file.version + " of " + file.name + "; upload it first");
  return reads_.can_run(**stored, file.params);
}

}  // namespace tidepool::leader
