#include "schedulerd/leader/user_commands.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/overloaded.hpp"
#include "base/refusals.hpp"
#include "core/facts/job_facts.hpp"
#include "core/facts/tenant_facts.hpp"
#include "core/tenants/tenant_subtree.hpp"
#include "schedulerd/leader/job_change.hpp"
#include "schedulerd/leader/node_trust.hpp"
#include "schedulerd/leader/token_validity.hpp"

namespace tidepool::leader {
namespace {

std::string in_words(const FieldError& error) {
  return error.pointer + " " + error.message;
}

Status check_revocation(const std::vector<TokenRecord>& tokens, const RevokeToken& body) {
  const auto named =
      std::find_if(tokens.begin(), tokens.end(), [&](const TokenRecord& token) { return token.id == body.token_id; });
  if (named == tokens.end()) return not_found("there is no token with the id " + body.token_id);
  if (!admits_pool_admin(*named, body.unix_s) || has_pool_admin(tokens, body.unix_s, body.token_id)) return ok_status();
  return Error{
      ErrorCode::kLastAdmin,
      body.token_id +
          " is the last valid token of an admin of the whole pool; without it there would be no administrator"};
}

// Carries out one command; each overload says why it is refused.
class Carrying {
 public:
  Carrying(const std::string& actor, TurnBatch& batch) : actor_(actor), batch_(batch) {}

  Status operator()(const SubmitJob& body) {
    const JobId job = batch_.leader().engine.next_job_id();
    return of_job(job, core::JobSubmitted{job, body.spec});
  }
  Status operator()(const SubmitJobs& body) {
    const core::Engine& engine = batch_.leader().engine;
    TP_TRY(check_batch(body.specs));
    receipt_.job = engine.next_job_id();
    for (const auto& spec : body.specs) TP_TRY(batch_.learn(core::JobSubmitted{engine.next_job_id(), spec}));
    return ok_status();
  }
  Status operator()(const CancelJob& body) { return of_job(body.job, core::JobCancelRequested{body.job}); }
  Status operator()(const ResizeJob& body) { return change(body.job, core::JobResizeRequested{body.job, body.size}); }
  Status operator()(const SuspendJob& body) { return change(body.job, core::JobSuspendRequested{body.job}); }
  Status operator()(const ResumeJob& body) { return change(body.job, core::JobResumeRequested{body.job}); }
  Status operator()(const ChangeJob& body) {
    core::JobChanged changed{body.job, {}};
    if (const core::Job* job = batch_.state().find_job(body.job)) {
      auto after = changed_spec(job->spec, body.patch);
      if (!after.errors.empty()) return invalid_argument(in_words(after.errors.front()));
      changed.spec = std::move(after.spec);
      TP_TRY(check_change(batch_.state(), *job, changed.spec, batch_.engine_now()));
      // Without a fact: one that says nothing new would be told to users as a change.
      const bool goes_on = !job->requests.cancel && !core::is_final(job->state());
      receipt_.job = body.job;
      if (goes_on && changed.spec == job->spec) return ok_status();
    }
    return change(body.job, std::move(changed));
  }
  Status operator()(const CheckpointJob& body) {
    TP_TRY(change(body.job, core::JobCheckpointRequested{body.job}));
    batch_.order(Executor::order_checkpoint(body.job, batch_.state()));
    return ok_status();
  }
  Status operator()(const CordonNode& body) { return batch_.learn(core::NodeCordonChanged{body.node, body.cordoned}); }
  Status operator()(const LabelNode& body) { return batch_.learn(core::NodeLabelled{body.node, body.labels}); }
  Status operator()(const DrainNode& body) {
    return batch_.learn(core::NodeDrainRequested{body.node, body.within, body.reason});
  }
  Status operator()(const UndrainNode& body) {
    TP_TRY(check_undrain(batch_.state(), body.node));
    return batch_.learn(core::NodeDrainCancelled{body.node});
  }
  Status operator()(const AddMaintenance& body) {
    core::MaintenanceWindow window = body.window;
    window.number = batch_.state().maintenance.next;
    receipt_.token_id = core::window_name(window.number);
    return batch_.learn(core::MaintenanceAdded{std::move(window)});
  }
  Status operator()(const RemoveMaintenance& body) { return batch_.learn(core::MaintenanceRemoved{body.window}); }
  Status operator()(const ClearNodeFaults& body) { return batch_.learn(core::NodeFaultsCleared{body.node}); }
  Status operator()(const RemoveNode& body) { return batch_.learn(core::NodeRemoved{body.node}); }
  Status operator()(const ReleaseSlots& body) { return batch_.learn(core::SlotsReleased{body.node}); }
  Status operator()(const ConfigureTenants& body) {
    if (body.instead_of && *body.instead_of != *batch_.state().tenants) {
      return outdated("the tenants have changed since they were read");
    }
    return batch_.learn(core::TenantsConfigured{body.tree});
  }

  Status operator()(const ConfigureTenantsBelow& body) {
    auto tree = tree_with(batch_.state(), body);
    return tree.ok() ? batch_.learn(core::TenantsConfigured{*std::move(tree)}) : Status(tree.error());
  }
  Status operator()(const ConfigurePrices& body) {
    if (body.instead_of && *body.instead_of != batch_.state().prices->list) {
      return outdated("the prices have changed since they were read");
    }
    return batch_.learn(core::PricesConfigured{body.list});
  }

  Status operator()(const CreateToken& body) {
    receipt_.token_id = body.id;
    batch_.add_token(body);
    return ok_status();
  }
  Status operator()(const RevokeToken& body) {
    const auto tokens = batch_.tokens();
    if (!tokens.ok()) return tokens.error();
    TP_TRY(check_revocation(*tokens, body));
    batch_.revoke_token(body.token_id);
    return ok_status();
  }

  Status operator()(const CreateNodeToken& body) {
    receipt_.token_id = body.id;
    create_node_token(body, actor_, batch_);
    return ok_status();
  }
  Status operator()(const RevokeNodeToken& body) { return revoke_node_token(body.token_id, batch_); }
  Status operator()(const RevokeNode& body) { return revoke_node(body, batch_); }

  Status operator()(const StorePolicyVersion& body) {
    PolicyVersion version = body.version;
    version.created_by = actor_;
    batch_.add_policy(std::move(version));
    return ok_status();
  }
  Status operator()(const NotePolicyChecks& body) {
    batch_.add(PolicyChecksRow{body.name, body.version, body.checks});
    return ok_status();
  }
  Status operator()(const ActivatePolicy& body) {
    if (body.file) TP_TRY(batch_.can_run(*body.file));
    return batch_.learn(core::PolicyActivated{body.file});
  }
  Status operator()(const RollBackPolicy& body) {
    const auto& active = batch_.state().deployment.active;
    if (active && active->name != body.name) {
      return conflict(body.name + " is not active; " + active->name + " is: roll that back");
    }
    return batch_.learn(core::PolicyRolledBack{body.why});
  }
  Status operator()(const ShadowPolicy& body) {
    if (body.file) TP_TRY(batch_.can_run(*body.file));
    TP_TRY(batch_.learn(core::PolicyShadowed{body.file}));
    batch_.add(ShadowRow{body.file});
    batch_.mark_planned();  // there is something new to compare
    return ok_status();
  }

  [[nodiscard]] Receipt receipt() {
    receipt_.as_of_seq = batch_.state().next_event - 1;
    return std::move(receipt_);
  }

 private:
  // Of a batch, what is refused is refused before the first is stored.
  Status check_batch(const std::vector<core::JobSpec>& specs) {
    core::SubmitCheck check(batch_.state());
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const Status good = check.add(specs[i]);
      if (good.ok()) continue;
      return Error{good.error().code,
                   "the job with index " + std::to_string(i) + " is refused: " + good.error().message};
    }
    return ok_status();
  }

  Status of_job(JobId job, core::Fact fact) {
    receipt_.job = job;
    if (!batch_.state().has_ended(job)) return batch_.learn(std::move(fact));
    const auto ended = batch_.ended(job);
    if (!ended.ok()) return ended.error();
    if (!*ended) return not_found("there is no " + job.text() + " any more");
    return conflict(job.text() + " has already ended (" + (*ended)->state + ")");
  }

  // Of a job that goes on. A fact would still be lawful for one that is being cancelled, and change nothing.
  Status change(JobId job, core::Fact fact) {
    const core::Job* known = batch_.state().find_job(job);
    if (known != nullptr && known->requests.cancel && !core::is_final(known->state())) {
      return conflict(job.text() + " is being cancelled; its workers are leaving");
    }
    return of_job(job, std::move(fact));
  }

  const std::string& actor_;
  TurnBatch& batch_;
  Receipt receipt_;
};

// One that has ended is left to the command, which says so.
Status check_version(const core::ClusterState& state, const JobVersion& seen) {
  const core::Job* job = state.find_job(seen.job);
  if (job == nullptr || job_etag(*job, file_text(*job)) == seen.etag) return ok_status();
  return outdated(seen.job.text() + " has changed since it was read");
}

// None: the key has not been used.
std::optional<Result<Receipt>> answer_before(const Idempotency& request, TurnBatch& batch) {
  const auto before = batch.receipt_for(request);
  if (!before.ok()) return Result<Receipt>(before.error());
  if (!*before) return std::nullopt;
  if ((*before)->request_hash != request.request_hash) {
    return Result<Receipt>(conflict("the idempotency key \"" + request.key +
                                    "\" was used with another request in the last 24 hours; send a new key"));
  }
  return Result<Receipt>(Receipt{.job = (*before)->job,
                                 .token_id = (*before)->token_id,
                                 .as_of_seq = batch.state().next_event - 1,
                                 .replayed = true});
}

}  // namespace

Status check_time_left(const core::Job& job, const core::JobSpec& to, Instant now) {
  const bool is_set = to.max_duration && to.max_duration != job.spec.max_duration;
  if (!is_set || !job.started_at || core::is_final(job.state())) return ok_status();
  const Duration since_start = now - *job.started_at;
  if (since_start < *to.max_duration) return ok_status();
  return conflict(job.id.text() + " has run for " + to_text(Duration::seconds(since_start.count_us() / 1'000'000)) +
                  ", and limits.max_duration counts from its first step: " + to_text(*to.max_duration) +
                  " would end it at once, as failed; to end it, cancel it");
}

Status check_change(const core::ClusterState& state, const core::Job& job, const core::JobSpec& to, Instant now) {
  TP_TRY(check_time_left(job, to, now));
  return core::check_kept_after(state, job, to);
}

Status check_undrain(const core::ClusterState& state, NodeId node) {
  const core::PoolNode* mine = state.pools.find_node(node);
  if (mine == nullptr || mine->state != core::PoolNodeState::kReleasing) return ok_status();
  return conflict(mine->name + " is being given back by its pool");
}

Result<core::TenantTree> tree_with(const core::ClusterState& state, const ConfigureTenantsBelow& change) {
  const core::TenantTree& now = *state.tenants;
  const auto path = now.path_to(change.above);
  const auto is_limit = [&](const core::Tenant* tenant) { return tenant->name == change.limited_to; };
  const bool may_set = change.limited_to.empty() || std::any_of(path.begin(), path.end(), is_limit);
  if (path.empty() || !may_set) return not_found("there is no tenant " + change.above);
  if (change.instead_of && *change.instead_of != core::tenants_below(now, change.above)) {
    return outdated("the tenants below " + change.above + " have changed since they were read");
  }
  core::TenantTree tree = core::with_tenants_below(now, change.above, change.tenants);
  const Status within = change.limited_to.empty() ? ok_status() : core::check_within(tree, change.above);
  if (within.ok()) return tree;  // what else may be wrong is found when it is applied
  Refusals refusals;
  refusals.add(within);
  refusals.add(core::check_tenants(tree));
  return refusals.status().error();
}

void take_command(std::size_t item, const Command& command, TurnBatch& batch) {
  if (command.idempotency) {
    if (auto before = answer_before(*command.idempotency, batch)) return batch.answer(item, *std::move(before));
  }
  if (command.only_repeats) return batch.answer(item, outdated("what it changes has changed since it was read"));
  Carrying carrying(command.actor, batch);
  batch.act_for(command.actor);
  const Status as_read = command.only_of ? check_version(batch.state(), *command.only_of) : ok_status();
  const Status done = as_read.ok() ? std::visit(carrying, command.body) : as_read;
  batch.act_for("");
  if (!done.ok()) return batch.answer(item, done.error());
  const Receipt receipt = carrying.receipt();
  if (command.idempotency) batch.add_receipt(*command.idempotency, receipt);
  batch.answer(item, receipt);
}

}  // namespace tidepool::leader
