#include "policies/host/process/serve.hpp"

#include <sys/mman.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "policies/host/process/engine.hpp"
#include "policies/host/process/sandbox.hpp"

namespace tidepool::policies::host::process {
namespace {

constexpr int kBadStart = 2;

class Host {
 public:
  // False if a region is not there.
  bool map() {
    facts_ = mmap(nullptr, kFactsBytes, PROT_READ, MAP_SHARED, kFactsFd, 0);
    answers_ = mmap(nullptr, kAnswersBytes, PROT_READ | PROT_WRITE, MAP_SHARED, kAnswersFd, 0);
    return facts_ != MAP_FAILED && answers_ != MAP_FAILED;
  }

  // False if the daemon has hung up or said something else.
  [[nodiscard]] static bool receive(Request& request, RequestKind kind) {
    ssize_t got = 0;
    do {
      got = recv(kChannelFd, &request, sizeof request, 0);
    } while (got < 0 && errno == EINTR);
    return got == static_cast<ssize_t>(sizeof request) && request.kind == kind;
  }

  static bool reply(ReplyStatus status, std::uint32_t hooks) {
    const Reply message{.status = status, .hooks = hooks};
    return send(kChannelFd, &message, sizeof message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof message);
  }

  // Loads the source and locks the process up permanently. False if that failed; the daemon has the reason.
  bool load(const Request& request) {
    const void* source =
        request.bytes == 0 ? MAP_FAILED : mmap(nullptr, request.bytes, PROT_READ, MAP_SHARED, kSourceFd, 0);
    if (source == MAP_FAILED) return refuse({.step = "mmap", .failed = errno});
    const Budget budget{.instructions = request.instructions, .memory = request.memory};
    const bool native = request.engine == EngineKind::kNative;
    if (native) {
      if (const Locked locked = allow_loading(request.memory + kOwnMemory + kLibraryMemory); !locked.ok)
        return refuse(locked);
      engine_ = make_native_engine();
    }
    if (const Locked locked = enter(request.memory + kOwnMemory); !locked.ok) return refuse(locked);
    if (!native) engine_ = make_lua_engine({static_cast<const char*>(source), request.bytes}, budget);
    std::uint32_t hooks = 0;
    const bool loaded = engine_->load(header(), hooks);
    return reply(loaded ? ReplyStatus::kDone : ReplyStatus::kFailed, hooks) && loaded;
  }

  bool round() {
    Facts facts;
    if (!facts.read(facts_)) return refuse({.step = "the facts", .failed = EPROTO});
    const bool done = engine_->round(facts, Answers(answers_, facts.view));
    return reply(done ? ReplyStatus::kDone : ReplyStatus::kFailed, header().hooks);
  }

  // Tells which step of locking up the system refused.
  bool refuse(const Locked& locked) {
    const std::string what = std::string(locked.step) + " failed with " + std::to_string(locked.failed);
    write_failure(header(), {.code = "policy.no_sandbox"}, what);
    (void)reply(ReplyStatus::kFailed, 0);
    return false;
  }

 private:
  static constexpr std::uint64_t kOwnMemory = 16U << 20U;       // beyond the policy's budget, for the host itself
  static constexpr std::uint64_t kLibraryMemory = 256U << 20U;  // for the libraries that a native policy brings along

  AnswersHeader& header() { return *static_cast<AnswersHeader*>(answers_); }

  void* facts_ = nullptr;
  void* answers_ = nullptr;
  std::unique_ptr<PolicyEngine> engine_;
};

}  // namespace

int serve() {
  Host host;
  if (!host.map()) {
    std::fputs("tidepool-policy-host is started by schedulerd and schedctl, not by hand\n", stderr);
    return kBadStart;
  }
  if (const Locked locked = drop_rights(); !locked.ok) {
    (void)host.refuse(locked);
    return kBadStart;
  }
  Request request{};
  if (!Host::receive(request, RequestKind::kLoad) || !host.load(request)) return kBadStart;
  while (Host::receive(request, RequestKind::kRound)) {
    if (!host.round()) return kBadStart;
  }
  return 0;
}

}  // namespace tidepool::policies::host::process
