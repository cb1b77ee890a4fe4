#include "schedctl/studies/replayed_policy.hpp"

#include "policies/host/file_policy.hpp"
#include "policies/host/file_round.hpp"
#include "policies/host/policy_file.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/policy_command.hpp"
#include "schedctl/words.hpp"
#include "studies/baselines/registry.hpp"

namespace tidepool::ctl {

namespace host = policies::host;

namespace {

constexpr const char* kFallback = "tidal";

}  // namespace

// Those of one run, whose engine has these parts.
class ReplayedPolicy::Questions {
 public:
  Questions(ReplayedPolicy& of, const core::Engine::Parts& parts) : of_(of), parts_(parts), rounds_(parts_) {}
  Questions(const Questions&) = delete;  // rounds_ refers to parts_
  Questions& operator=(const Questions&) = delete;

  core::PolicyRound ask(const core::ClusterState& state, Instant now, std::int64_t number) {
    core::PolicyRound round =
        rounds_.ask(*of_.host_, of_.params_, {.state = state, .now = now, .file = of_.ref_, .number = number});
    if (round.fault.empty()) return round;
    of_.note_fault(round.message);
    if (state.deployment.failures + 1 >= core::kPolicyFailuresMost) of_.rolled_back_at_ = now;
    return round;
  }

 private:
  ReplayedPolicy& of_;
  core::Engine::Parts parts_;
  host::FileRounds rounds_;
};

ReplayedPolicy::ReplayedPolicy(const std::string& path, const nlohmann::json& params) {
  const host::PolicyFile file = open_policy(path);
  name_ = file.manifest.name;
  params_ = chosen_params(file, path, params);
  ref_.name = name_;
  ref_.version = version_of(file);
  ref_.params = canonical_json(params);
  ref_.shares = file.manifest.shares();
  ref_.provisions = file.manifest.provisions();
  host_ = std::make_unique<host::PolicyHost>(file.for_host(), host::policy_host_program());
  const auto loaded = host_->load();
  if (const auto* fault = std::get_if<host::PolicyFault>(&loaded)) fail(kExitNegative, name_ + ": " + to_text(*fault));
  fallback_ = studies::find_preset(kFallback).value().policy();
  policy_ = std::make_unique<host::HostedPolicy>(host::HostedPolicy::Setup{
      .host = *host_, .params = params_, .fallback = *fallback_, .on_fault = [this](const host::PolicyFault& fault) {
        note_fault(to_text(fault));
      }});
}

sim::ActivePolicyFile ReplayedPolicy::in_charge() {
  return {.file = ref_,
          .policy = std::make_shared<const host::FilePolicy>(host::built_in_fallback()),
          .asker = [this](const core::Engine::Parts& parts) -> sim::AskFile {
            return [questions = std::make_shared<Questions>(*this, parts)](const core::ClusterState& state, Instant now,
                                                                           std::int64_t number) {
              return questions->ask(state, now, number);
            };
          }};
}

void ReplayedPolicy::note_fault(const std::string& fault) {
  if (faults_++ == 0) first_fault_ = fault;
}

std::string ReplayedPolicy::complaint() const {
  if (faults_ == 0) return "";
  std::string text = std::to_string(faults_) + (faults_ == 1 ? " round was" : " rounds were") + " decided by " +
                     kFallback + " because " + name_ + " failed; the first: " + first_fault_;
  if (!rolled_back_at_) return text;
  return text + "; after " + std::to_string(core::kPolicyFailuresMost) +
         " in a row it was rolled back, as a daemon does, and " + kFallback + " decided from " +
         seconds_in_words((*rolled_back_at_ - Instant()).to_seconds()) + " of simulated time on";
}

}  // namespace tidepool::ctl
