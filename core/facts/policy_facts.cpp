#include "core/facts/policy_facts.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace tidepool::core {
namespace {

constexpr std::size_t kVersionDigits = 64;
constexpr std::size_t kVersionShown = 12;

nlohmann::json named(const std::optional<PolicyFileRef>& file) {
  return file ? nlohmann::json(file->name) : nlohmann::json(nullptr);
}

nlohmann::json version_of(const std::optional<PolicyFileRef>& file) {
  return file ? nlohmann::json(file->version) : nlohmann::json(nullptr);
}

Status check_ref(const PolicyFileRef& file) {
  if (!file.name.empty() && file.version.size() == kVersionDigits && !file.params.empty()) return ok_status();
  return invalid_argument("a policy file has a name, a version of 64 hexadecimal digits and parameters");
}

// Whether the names are strictly ascending, and no number is below 0.
template <class Answer>
bool is_in_order(const std::vector<Answer>& answers, std::string Answer::* name, int Answer::* number) {
  const auto out_of_order = std::adjacent_find(
      answers.begin(), answers.end(), [&](const Answer& one, const Answer& other) { return one.*name >= other.*name; });
  const bool any_negative =
      std::any_of(answers.begin(), answers.end(), [&](const Answer& each) { return each.*number < 0; });
  return out_of_order == answers.end() && !any_negative;
}

Status check_claims(const std::vector<TenantClaim>& claims) {
  if (is_in_order(claims, &TenantClaim::tenant, &TenantClaim::slots)) return ok_status();
  return invalid_argument("the claims of a policy's round must be sorted by tenant, one for each, and not below 0");
}

Status check_pools(const std::vector<PoolTarget>& pools) {
  if (is_in_order(pools, &PoolTarget::pool, &PoolTarget::nodes)) return ok_status();
  return invalid_argument(
      "the nodes that a policy's round wants must be sorted by pool, one number for each, and not below 0");
}

// The policy file that decides from now on. Questions to the previous file no longer count.
void activate_file(StateChange& change, std::optional<PolicyFileRef> file) {
  PolicyDeployment& deployment = change.state().deployment;
  deployment.active = std::move(file);
  deployment.since = change.at();
  ++deployment.next_round;
  deployment.rounds = 0;
  deployment.failures = 0;
  deployment.answer.reset();
  deployment.job_ended = false;
  deployment.pools.clear();
  deployment.told_at.reset();
  change.capacity_changed();
}

void roll_back(StateChange& change, const std::string& why) {
  PolicyDeployment& deployment = change.state().deployment;
  const PolicyFileRef from = *deployment.active;
  std::optional<PolicyFileRef> to;
  if (!deployment.earlier.empty()) {
    to = std::move(deployment.earlier.back());
    deployment.earlier.pop_back();
  }
  change.emit("policy.rolled_back", {{"policy", from.name},
                                     {"version", from.version},
                                     {"to", named(to)},
                                     {"to_version", version_of(to)},
                                     {"why", why}});
  activate_file(change, std::move(to));
}

}  // namespace

std::string short_name(const PolicyFileRef& file) {
  return file.name + "@" + file.version.substr(0, kVersionShown);
}

const PolicyJobAnswer* PolicyRound::answer_for(JobId job) const {
  const auto found = std::lower_bound(job_answers.begin(), job_answers.end(), job,
                                      [](const PolicyJobAnswer& answer, JobId id) { return answer.job < id; });
  return found != job_answers.end() && found->job == job ? &*found : nullptr;
}

const PoolTarget* PolicyDeployment::answer_for(const std::string& pool) const {
  const auto found =
      std::lower_bound(pools.begin(), pools.end(), pool,
                       [](const PoolTarget& answer, const std::string& name) { return answer.pool < name; });
  return found != pools.end() && found->pool == pool ? &*found : nullptr;
}

Status apply(StateChange& change, const PolicyActivated& fact) {
  PolicyDeployment& deployment = change.state().deployment;
  if (!fact.file) {
    if (!deployment.active) return conflict("the daemon's own policy is active already");
    deployment.earlier.clear();
  } else {
    TP_TRY(check_ref(*fact.file));
    if (deployment.active == fact.file) {
      return conflict(short_name(*fact.file) + " is active already, with these parameters");
    }
    if (deployment.active) deployment.earlier.push_back(*deployment.active);
    if (deployment.earlier.size() > kEarlierPoliciesMost) deployment.earlier.erase(deployment.earlier.begin());
  }
  change.emit("policy.activated", {{"policy", named(fact.file)},
                                   {"version", version_of(fact.file)},
                                   {"before", named(deployment.active)},
                                   {"before_version", version_of(deployment.active)}});
  activate_file(change, fact.file);
  return ok_status();
}

Status apply(StateChange& change, const PolicyRolledBack& fact) {
  if (!change.state().deployment.active) {
    return conflict("the daemon's own policy decides; there is no policy file to roll back");
  }
  roll_back(change, fact.why);
  return ok_status();
}

Status apply(StateChange& change, const PolicyShadowed& fact) {
  std::optional<PolicyFileRef>& shadow = change.state().deployment.shadow;
  if (fact.file) TP_TRY(check_ref(*fact.file));
  if (shadow == fact.file) {
    return fact.file ? conflict(short_name(*fact.file) + " runs as the shadow already, with these parameters")
                     : conflict("no policy file runs as a shadow");
  }
  const std::optional<PolicyFileRef>& told = fact.file ? fact.file : shadow;
  change.emit(fact.file ? "policy.shadow_started" : "policy.shadow_stopped",
              {{"policy", named(told)}, {"version", version_of(told)}});
  shadow = fact.file;
  return ok_status();
}

Status apply(StateChange& change, const PolicyAnswered& fact) {
  PolicyDeployment& deployment = change.state().deployment;
  const PolicyRound& round = fact.round;
  if (!std::is_sorted(round.job_answers.begin(), round.job_answers.end(),
                      [](const PolicyJobAnswer& one, const PolicyJobAnswer& other) { return one.job < other.job; })) {
    return invalid_argument("the wishes of a policy's round must be sorted by job");
  }
  TP_TRY(check_claims(round.claims));
  TP_TRY(check_pools(round.pools));
  if (!deployment.active || round.number != deployment.next_round)
    return ok_status();  // the question was asked before another file was activated
  ++deployment.next_round;
  deployment.pools = round.fault.empty() ? round.pools : std::vector<PoolTarget>();
  deployment.told_at = change.at();
  change.capacity_changed();
  // Without jobs the question was about pools alone: the plan for the next job waits for another answer.
  const bool of_pools_alone = deployment.active->provisions && change.state().jobs.empty();
  if (round.fault.empty()) {
    ++deployment.rounds;
    deployment.failures = 0;
    if (!of_pools_alone) deployment.answer = round;
    return ok_status();
  }
  ++deployment.failures;
  change.emit("policy.error", {{"policy", deployment.active->name},
                               {"version", deployment.active->version},
                               {"code", round.fault},
                               {"error", round.message},
                               {"failures", deployment.failures}});
  if (deployment.failures < kPolicyFailuresMost) {
    if (!of_pools_alone) deployment.answer = round;
  } else {
    roll_back(change,
              std::to_string(deployment.failures) + " rounds in a row have failed, the last with " + round.fault);
  }
  return ok_status();
}

}  // namespace tidepool::core
