#include "workers/runtime/session.hpp"

#include <cstdlib>
#include <utility>

#include "api/comm_address.hpp"
#include "workers/runtime/live_session.hpp"

namespace tidepool::runtime {

Result<SessionOptions> SessionOptions::from_environment() {
  SessionOptions options;
  const char* wanted = std::getenv("TIDEPOOL_BACKEND");
  const auto backend = parse_backend(wanted == nullptr ? "" : wanted);
  if (!backend.ok()) return backend.error();
  options.backend = *backend;
  auto keep = KeepOptions::from_environment();
  if (!keep.ok()) return keep.error();
  options.keep = *std::move(keep);
  const auto stuck_after_ms = number_from_environment("TIDEPOOL_STUCK_AFTER_MS", 0, 86'400'000);
  if (!stuck_after_ms.ok()) return stuck_after_ms.error();
  options.stuck_after = Millis{*stuck_after_ms};
  const char* socket = std::getenv("TIDEPOOL_AGENT_SOCKET");
  if (socket == nullptr || *socket == '\0') return options;
  options.agent_socket = socket;
  const char* name = std::getenv("TIDEPOOL_WORKER");
  const auto worker = WorkerId::parse(name == nullptr ? "" : name);
  if (!worker) {
    return invalid_argument(
        "TIDEPOOL_AGENT_SOCKET is set, but TIDEPOOL_WORKER is no worker id such as w-3: unset the "
        "first to run alone");
  }
  options.worker = *worker;
  options.hears_notices = std::getenv("TIDEPOOL_NOTICES") != nullptr;
  if (const char* host = std::getenv("TIDEPOOL_DATA_ADDRESS"); host != nullptr && *host != '\0') {
    if (!api::is_host_address(host)) {
      return invalid_argument("TIDEPOOL_DATA_ADDRESS is \"" + std::string(host) + "\", which is no IP address");
    }
    options.host = host;
  }
  return options;
}

BatchRules rules_of(const SessionOptions& options) {
  return {.on_resize = options.on_resize,
          .base_batch = options.global_batch,
          .base_size = options.base_size,
          .warmup_steps = options.warmup_steps,
          .max_batch = options.global_batch_max};
}

Result<std::unique_ptr<Session>> Session::open(SessionOptions options) {
  if (options.samples == 0) return invalid_argument("there is no sample to train on");
  TP_TRY(check_rules(rules_of(options)));
  if (options.on_resize == OnResize::kCallback && !options.batch_rule) {
    return invalid_argument(
        "on_resize is callback, but this program has no function that says the batch: use constant, linear, sqrt, "
        "adascale or fixed_local");
  }
  if (options.noise_every < 0) return invalid_argument("noise_every must not be negative");
  if (options.steps < 0) return invalid_argument("the number of steps must not be negative");
  Transports transports;
  if (!options.agent_socket.empty()) {
    auto found = find_transports(options.backend);
    if (!found.ok()) return found.error();
    transports = *std::move(found);
  }
  return std::unique_ptr<Session>(std::make_unique<LiveSession>(std::move(options), std::move(transports)));
}

}  // namespace tidepool::runtime
