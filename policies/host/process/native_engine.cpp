#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/rng.hpp"
#include "policies/host/process/engine.hpp"

namespace tidepool::policies::host::process {
namespace {

constexpr const char* kVersion1 =
    "it is a policy of version 1, and this is version 2: rename its function tidepool_policy_v1 to "
    "tidepool_policy_v2 and build it anew with this tidepool_policy.h; TIDEPOOL_NODE_TYPE is an index into "
    "view->type_name now, and TIDEPOOL_JOB_TENANT, TIDEPOOL_JOB_PRICE and the types of slot that jobs ask for and hold "
    "are new (docs/policies.md, \"From version 1 to 2\")";
constexpr const char* kOtherVersion =
    "its description is not of version 2: build it anew with this tidepool_policy.h, with .abi = TIDEPOOL_POLICY_ABI "
    "and .size = sizeof(tidepool_policy) (docs/policies.md, \"From version 1 to 2\")";

constexpr const char* kNoEntry =
    "policy.so has no function " TIDEPOOL_POLICY_ENTRY
    ": define it as extern \"C\" const tidepool_policy* " TIDEPOOL_POLICY_ENTRY
    "(uint32_t host_abi), not static and not hidden (examples/policies/even_split/policy.cpp)";

// Why the loader has refused the library, and what to do. Its words begin with the path of a descriptor, which says
// nothing to the author.
std::string told_of_loader(std::string why, const std::string& path) {
  if (why.starts_with(path + ": ")) why.erase(0, path.size() + 2);
  const bool lacks_name = why.find("undefined symbol") != std::string::npos;
  const bool lacks_library = why.find("cannot open shared object") != std::string::npos;
  if (lacks_name) return "policy.so cannot be loaded: " + why + "; link what defines that into it, statically";
  if (lacks_library) return "policy.so cannot be loaded: " + why + "; link that library into it, statically";
  return "policy.so is no shared library for this machine (" + why +
         "); build it anew here: c++ -std=c++20 -O2 -fPIC -shared -I SOURCES policy.cpp -o policy.so, where SOURCES is "
         "Tidepool's source folder (docs/policies.md)";
}

// Of the description in the first header of this version.
constexpr std::size_t kFirstSize = offsetof(tidepool_policy, share);

// What the callbacks of one round work on.
struct Round {
  const Facts& facts;
  const Answers& answers;
  Rng rng;
};

struct Said {
  const char* code;
  const tidepool_number* numbers;
  std::uint32_t count;
};

void write_why(const Round& round, const Said& said, WhyRecord& why) {
  copy_text(said.code, why.code, kCodeBytes);
  why.count = 0;
  for (std::uint32_t i = 0; said.numbers != nullptr && i < said.count && i < kNumbersMax; ++i) {
    NumberRecord& record = why.numbers[why.count++];
    copy_text(said.numbers[i].name == nullptr ? "" : said.numbers[i].name, record.name, kNameBytes);
    record.value = said.numbers[i].value;
  }
  round.answers.header().why_set = 1;
}

void on_why(void* context, std::uint32_t job, const char* code, const tidepool_number* numbers, std::uint32_t count) {
  const auto& round = *static_cast<Round*>(context);
  if (job >= round.answers.jobs() || code == nullptr) return;
  // Of a job that admit has refused, admit gives the reason.
  if ((round.answers.header().hooks & kAdmit) != 0 && round.answers.refused(job)) return;
  write_why(round, {code, numbers, count}, round.answers.why(job));
}

void on_why_pool(void* context, std::uint32_t pool, const char* code, const tidepool_number* numbers,
                 std::uint32_t count) {
  const auto& round = *static_cast<Round*>(context);
  if (pool >= round.facts.view.pool_rows || code == nullptr) return;
  write_why(round, {code, numbers, count}, round.answers.why_pool(pool));
}

double on_param(void* context, const char* name, double fallback) {
  const auto& round = *static_cast<Round*>(context);
  for (const ParamRecord& record : round.facts.params) {
    const bool named = name != nullptr && std::strncmp(record.name, name, kNameBytes) == 0;
    if (named && record.kind != ParamKind::kText) return record.number;
  }
  return fallback;
}

double on_random(void* context) {
  return static_cast<Round*>(context)->rng.uniform();
}

class NativeEngine final : public PolicyEngine {
 public:
  // The loader runs the library's constructors here already, under the filter of allow_loading().
  NativeEngine() {
    char path[32];
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", kSourceFd);
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* why = dlerror();
      copy_text(told_of_loader(why == nullptr ? "the loader refused it" : why, path), refused_, sizeof refused_);
      return;
    }
    entry_ = reinterpret_cast<tidepool_policy_entry>(dlsym(library, TIDEPOOL_POLICY_ENTRY));
    if (entry_ != nullptr) return;
    is_old_ = dlsym(library, "tidepool_policy_v1") != nullptr;
    copy_text(is_old_ ? kVersion1 : kNoEntry, refused_, sizeof refused_);
  }

  bool load(AnswersHeader& header, std::uint32_t& hooks) override {
    if (entry_ == nullptr) {
      write_failure(header, {.code = is_old_ ? "policy.wrong_abi" : "policy.wrong_shape"}, refused_);
      return false;
    }
    policy_ = entry_(TIDEPOOL_POLICY_ABI);
    if (policy_ == nullptr || policy_->abi != TIDEPOOL_POLICY_ABI || policy_->size < kFirstSize) {
      policy_ = nullptr;
      write_failure(header, {.code = "policy.wrong_abi"}, kOtherVersion);
      return false;
    }
    hooks = (policy_->admit != nullptr ? kAdmit : 0U) | (policy_->order != nullptr ? kOrder : 0U) |
            (policy_->sizes != nullptr ? kSizes : 0U) | (policy_->marks != nullptr ? kMarks : 0U) |
            (share() != nullptr ? kShare : 0U) | (provision() != nullptr ? kProvision : 0U);
    if (policy_->pool != nullptr) {
      write_failure(header, {.code = "policy.wrong_shape"}, kNoPool);
      return false;
    }
    if (hooks != 0) return true;
    write_failure(header, {.code = "policy.wrong_shape"}, "the policy has no hook");
    return false;
  }

  bool round(const Facts& facts, const Answers& answers) override {
    Round round{.facts = facts, .answers = answers, .rng = Rng(facts.seed)};
    const tidepool_host host{.abi = TIDEPOOL_POLICY_ABI,
                             .size = sizeof(tidepool_host),
                             .context = &round,
                             .why = on_why,
                             .param = on_param,
                             .random = on_random,
                             .why_pool = on_why_pool};
    struct Call {
      const char* name;
      Hook hook;
      tidepool_hook function;
      double* answer;
    };
    const Call calls[] = {{"admit", kAdmit, policy_->admit, answers.admit()},
                          {"order", kOrder, policy_->order, answers.order()},
                          {"sizes", kSizes, policy_->sizes, answers.sizes()},
                          {"marks", kMarks, policy_->marks, answers.marks()},
                          {"share", kShare, share(), answers.share()},
                          {"provision", kProvision, provision(), answers.provision()}};
    const std::uint32_t asked = facts.hooks_asked();
    for (const Call& call : calls) {
      if (call.function == nullptr || (asked & call.hook) == 0) continue;
      if (call.function(&facts.view, &host, call.answer) != 0) {
        write_failure(answers.header(), {.code = "policy.runtime_error", .hook = call.name}, "the hook cannot answer");
        return false;
      }
      answers.header().hooks |= call.hook;
    }
    return true;
  }

 private:
  // Null in a library that was built before there was such a hook.
  [[nodiscard]] tidepool_hook share() const {
    return policy_->size >= offsetof(tidepool_policy, share) + sizeof(tidepool_hook) ? policy_->share : nullptr;
  }
  [[nodiscard]] tidepool_hook provision() const {
    return policy_->size >= offsetof(tidepool_policy, provision) + sizeof(tidepool_hook) ? policy_->provision : nullptr;
  }

  tidepool_policy_entry entry_ = nullptr;
  const tidepool_policy* policy_ = nullptr;
  bool is_old_ = false;  // a library of version 1
  char refused_[kMessageBytes] = "";
};

}  // namespace

std::unique_ptr<PolicyEngine> make_native_engine() {
  return std::make_unique<NativeEngine>();
}

}  // namespace tidepool::policies::host::process
