#include "schedctl/studies/replayed_policy.hpp"

#include "schedctl/failure.hpp"
#include "schedctl/policy_command.hpp"
#include "studies/baselines/registry.hpp"

namespace tidepool::ctl {

namespace host = policies::host;

namespace {

constexpr const char* kFallback = "tidal";

}  // namespace

ReplayedPolicy::ReplayedPolicy(const std::string& path) {
  const host::PolicyFile file = open_policy(path);
  name_ = file.manifest.name;
  const auto params = choose_params(file.manifest, nlohmann::json::object());
  if (!params) fail(kExitUsage, path + ": " + params.error().message);
  host_ = std::make_unique<host::PolicyHost>(file.for_host(), host::policy_host_program());
  const auto loaded = host_->load();
  if (const auto* fault = std::get_if<host::PolicyFault>(&loaded)) fail(kExitNegative, name_ + ": " + to_text(*fault));
  fallback_ = studies::find_preset(kFallback).value().policy();
  policy_ = std::make_unique<host::HostedPolicy>(host::HostedPolicy::Setup{
      .host = *host_, .params = *params, .fallback = *fallback_, .on_fault = [this](const host::PolicyFault& fault) {
        if (faults_++ == 0) first_fault_ = to_text(fault);
      }});
}

std::string ReplayedPolicy::complaint() const {
  if (faults_ == 0) return "";
  return std::to_string(faults_) + (faults_ == 1 ? " round was" : " rounds were") + " decided by " + kFallback +
         " because " + name_ + " failed; the first: " + first_fault_;
}

}  // namespace tidepool::ctl
