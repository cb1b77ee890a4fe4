#include "schedulerd/live/policies/policy_asker.hpp"

#include <exception>
#include <utility>

namespace tidepool::live {

namespace host = policies::host;

PolicyAsker::PolicyAsker(Setup setup, Inbox& inbox)
    : setup_(std::move(setup)),
      inbox_(inbox),
      live_thread_(std::make_unique<TaskThread>()),
      shadow_thread_(std::make_unique<TaskThread>()) {}

PolicyAsker::~PolicyAsker() {
  stop();
}

void PolicyAsker::stop() {
  // Hosts are ended on the thread that started them. A thread that is full or stopping ends them when it ends.
  for (const auto& [thread, shelf] : {std::pair(&live_thread_, live_), std::pair(&shadow_thread_, shadow_)}) {
    if (!*thread) continue;
    (void)(*thread)->post([shelf] { shelf->host.reset(); });
    (*thread)->stop();
    thread->reset();
  }
}

core::PolicyRound PolicyAsker::round_of(WarmHost& shelf, const RunnablePolicy& policy,
                                        const host::RoundRequest& asked) const {
  if (policy.file.manifest.engine == host::EngineKind::kNative && !setup_.allow_native) {
    return host::failed_round(asked, {.code = "policy.native_off",
                                      .message = "a native policy runs only where schedulerd was started with "
                                                 "--allow-native-policies"});
  }
  try {
    if (!shelf.host || shelf.of != policy.ref) {
      shelf.host = std::make_unique<host::PolicyHost>(policy.file.for_host(), setup_.host_program);
      shelf.of = policy.ref;
    }
    return shelf.rounds.ask(*shelf.host, policy.params, asked);
  } catch (const std::exception& error) {
    shelf.host.reset();
    return host::failed_round(asked, {.code = "policy.not_started", .message = error.what()});
  }
}

bool PolicyAsker::ask(std::shared_ptr<const RunnablePolicy> policy, host::RoundRequest asked) {
  const auto question = std::make_shared<const host::RoundRequest>(std::move(asked));
  return live_thread_ && live_thread_->post([this, shelf = live_, policy = std::move(policy), question] {
    (void)inbox_.push(PolicyRoundItem{round_of(*shelf, *policy, *question)});
  });
}

bool PolicyAsker::compare(std::shared_ptr<const RunnablePolicy> policy, host::RoundRequest asked) {
  const auto question = std::make_shared<const host::RoundRequest>(std::move(asked));
  return shadow_thread_ && shadow_thread_->post([this, shelf = shadow_, policy = std::move(policy), question] {
    const core::PolicyRound round = round_of(*shelf, *policy, *question);
    (void)inbox_.push(PolicyComparedItem{policy->ref, shelf->rounds.compare(round, *question)});
  });
}

}  // namespace tidepool::live
