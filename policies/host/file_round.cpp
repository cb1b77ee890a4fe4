#include "policies/host/file_round.hpp"

#include <algorithm>
#include <utility>

#include "core/decide/decision_draft.hpp"
#include "core/decide/plan_inputs.hpp"
#include "core/decide/tenant_planner.hpp"
#include "core/provision/provision_stage.hpp"
#include "policies/host/pool_rows.hpp"
#include "policies/host/tenant_rows.hpp"

namespace tidepool::policies::host {
namespace {

// The state as it would be with the file in charge, and what it would be asked to plan for.
class Setting {
 public:
  Setting(const RoundRequest& asked, const core::Engine::Parts& parts, const IdSet<JobId>& going_on)
      : state_(active_policy(asked)), now_(std::max(asked.now, state_.now)), draft_(state_, parts, now_) {
    for (const JobId id : going_on) {
      const core::Job& job = *state_.find_job(id);
      if (!core::counts(job, now_)) continue;
      jobs_.insert(id);
      if (!draft_.follows_plan(job)) own_policies_.insert(id);
    }
  }

  Setting(const Setting&) = delete;  // the two functions point into it
  Setting& operator=(const Setting&) = delete;

  [[nodiscard]] core::ClusterState& state() { return state_; }
  [[nodiscard]] core::PlanRequest request() const {
    return {{state_, now_}, jobs_, jobs_, counts_, has_own_policy_, core::digest_of_nodes(state_), state_.plan.mark};
  }
  [[nodiscard]] const IdSet<JobId>& own_policies() const { return own_policies_; }

 private:
  static core::ClusterState active_policy(const RoundRequest& asked) {
    core::ClusterState state = asked.state;
    state.deployment.active = asked.file;
    return state;
  }

  core::ClusterState state_;
  Instant now_;
  core::DecisionDraft draft_;
  IdSet<JobId> jobs_;
  IdSet<JobId> own_policies_;
  std::function<bool(const core::Job&)> counts_ = [this](const core::Job& job) { return jobs_.contains(job.id); };
  std::function<bool(const core::Job&)> has_own_policy_ = [this](const core::Job& job) {
    return own_policies_.contains(job.id);
  };
};

template <class Follower>
void follow(const core::ClusterState& state, const FollowedJobs::News& news, Follower& follower) {
  for (const JobId id : news.ended) (void)follower.follow(state, id);
  for (const JobId id : news.going_on) (void)follower.follow(state, id);
}

core::PolicyJobAnswer answer_at(const cluster::View& view, const Answers& answers, std::size_t row) {
  core::PolicyJobAnswer answer{.job = view.jobs[row].id};
  if (!answers.admitted.empty()) answer.admitted = answers.admitted[row];
  if (!answers.rank.empty()) answer.rank = answers.rank[row];
  if (!answers.sizes.empty()) answer.size = answers.sizes[row];
  if (!answers.marks.empty()) answer.mark = answers.marks[row];
  if (!answers.why.empty()) {
    answer.word = answers.why[row].code;
    answer.numbers = answers.why[row].numbers;
  }
  return answer;
}

std::vector<PoolComparison> compared_pools(const core::PolicyRound& round, const core::NodePools& pools) {
  std::vector<PoolComparison> compared;
  for (const core::PoolTarget& answer : round.pools) {
    const core::NodePool* pool = pools.find(answer.pool);
    if (pool == nullptr || pool->retired) continue;
    compared.push_back({.pool = answer.pool,
                        .slot_type = pool->spec.slot_type,
                        .live = pools.staying(answer.pool),
                        .candidate = core::wanted_of(answer, pool->spec)});
  }
  return compared;
}

// What the job has in the end if no further decision follows.
int live_size(const core::Job& job, bool planned) {
  if (planned && job.planned) return job.planned->target.size;
  return job.phase.transition() ? job.phase.transition()->to_size : job.size();
}

}  // namespace

core::PolicyRound failed_round(const RoundRequest& asked, const PolicyFault& fault) {
  core::PolicyRound round{.number = asked.number, .asked_at = asked.now};
  round.fault = std::string(fault.code);
  round.message = to_text(fault);
  return round;
}

FollowedJobs::News FollowedJobs::catch_up(const core::ClusterState& state) {
  News news;
  IdSet<JobId> ended;
  for (const auto& [id, job] : state.jobs) news.going_on.insert(id);
  for (const JobId id : going_on_) {
    if (!state.jobs.contains(id)) ended.insert(id);
  }
  using Ended = decltype(ended_);
  const auto record = [](const Ended& of, JobId id) {
    const auto found = of.find(id);
    return found == of.end() ? nullptr : found->second;
  };
  Ended::for_each_unshared(ended_, state.ended, [&](JobId id) {
    if (record(ended_, id) != record(state.ended, id)) ended.insert(id);
  });
  news.ended.assign(ended.begin(), ended.end());
  going_on_ = news.going_on;
  ended_ = state.ended;
  return news;
}

core::PolicyRound FileRounds::ask(PolicyHost& host, std::span<const Param> params, const RoundRequest& asked) {
  const FollowedJobs::News news = asked_of_.catch_up(asked.state);
  Setting setting(asked, parts_, news.going_on);
  follow(setting.state(), news, rows_);
  const core::PlanRequest request = setting.request();
  cluster::View view = rows_.rows(request).view;
  if (parts_.tenants_share(setting.state())) view.tenants = tenant_rows(request);
  if (asked.file.provisions) view.pools = pool_rows(setting.state(), request.view.now);
  core::PolicyRound round{.number = asked.number, .asked_at = asked.now};
  const bool any_jobs = view.slots() > 0 && !view.jobs.empty();
  if (!any_jobs && view.pools.empty()) return round;  // nothing to ask about
  const Judged judged = host.ask(view, params);
  if (const auto* fault = std::get_if<PolicyFault>(&judged)) return failed_round(asked, *fault);
  const auto& answers = std::get<Answers>(judged);
  for (std::size_t row = 0; any_jobs && row < view.jobs.size(); ++row) {
    core::PolicyJobAnswer& answer = round.job_answers.emplace_back(answer_at(view, answers, row));
    answer.asked = core::digest_of_request(*setting.state().find_job(answer.job));
  }
  for (std::size_t row = 0; row < answers.claims.size(); ++row) {
    if (answers.claims[row]) round.claims.push_back({view.tenants[row].name, *answers.claims[row]});
  }
  // Pools are by name already.
  for (std::size_t row = 0; row < answers.nodes.size(); ++row) {
    const FileReason& why = answers.why_nodes[row];
    if (answers.nodes[row]) round.pools.push_back({view.pools[row].name, *answers.nodes[row], why.code, why.numbers});
  }
  std::sort(round.claims.begin(), round.claims.end(),
            [](const core::TenantClaim& one, const core::TenantClaim& other) { return one.tenant < other.tenant; });
  std::sort(round.job_answers.begin(), round.job_answers.end(),
            [](const core::PolicyJobAnswer& one, const core::PolicyJobAnswer& other) { return one.job < other.job; });
  return round;
}

// One for tenants that share the pool learns all there is to know of the jobs, as one for the whole pool does.
void FileRounds::choose_planner(const RoundRequest& asked) {
  core::ClusterState state = asked.state;
  state.deployment.active = asked.file;
  const bool by_tenants = parts_.tenants_share(state);
  if (planner_ && by_tenants == by_tenants_) return;
  compared_ = {};
  by_tenants_ = by_tenants;
  planner_ = by_tenants ? core::make_tenant_planner(parts_, state) : parts_.file_policy->planner();
}

RoundComparison FileRounds::compare(const core::PolicyRound& round, const RoundRequest& asked) {
  RoundComparison comparison{.at = asked.now, .fault = round.fault, .message = round.message};
  if (!round.fault.empty()) return comparison;
  const bool planned = parts_.active_policy(asked.state).rule() == nullptr;
  choose_planner(asked);
  const FollowedJobs::News news = compared_.catch_up(asked.state);
  Setting setting(asked, parts_, news.going_on);
  setting.state().deployment.answer = round;
  follow(setting.state(), news, *planner_);
  core::StepBudget budget(parts_.config.step_budget);
  const auto plan = planner_->plan(setting.request(), budget);
  if (!plan) {
    comparison.fault = "policy.bad_reply";
    comparison.message = plan.error().message;
    return comparison;
  }
  comparison.pools = compared_pools(round, asked.state.pools);
  for (const auto& [id, target] : plan->targets) {
    const core::Job& job = *setting.state().find_job(id);
    if (setting.own_policies().contains(id) || job.requests.pinned_size > 0) continue;  // no plan sizes it
    const int live = live_size(job, planned);
    const int slots = job.spec.gpus_per_worker;
    ++comparison.jobs;
    comparison.slots_live += live * slots;
    comparison.slots_candidate += target.size * slots;
    if (live != target.size) comparison.differences.push_back({id, live, target.size, target.reason});
  }
  return comparison;
}

}  // namespace tidepool::policies::host
