#include "schedulerd/live/policies/policy_evaluator.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/json.hpp"
#include "policies/host/policy_test.hpp"
#include "schedulerd/live/policies/recorded_rounds.hpp"
#include "schedulerd/live/policies/spent.hpp"

namespace tidepool::live {

namespace host = policies::host;

namespace {

constexpr std::size_t kWaitingMost = 16;

Error too_busy() {
  return {ErrorCode::kUnavailable, "too many policies wait to be looked over; try again in a second"};
}

// What a test's outcome differs in.
using RunTest = std::function<std::vector<std::string>(const host::PolicyTest&)>;
void run_tests_of(const PolicyVersion& version, const RunTest& run, PolicyExamined& examined) {
  const auto files = parse_json(version.tests);
  if (!files || !files->is_object()) return;
  for (const auto& [name, list] : files->items()) {
    std::vector<FieldError> errors;
    host::read_each_test(list, errors, [&, file = name](const host::PolicyTest& test) {
      examined.tests.push_back({file, test.name, run(test)});
    });
    for (const FieldError& error : errors) {
      examined.tests.push_back({name, name + error.pointer, {error.message}});
    }
  }
  examined.checks.tests = static_cast<std::int64_t>(examined.tests.size());
  examined.checks.failed = std::count_if(examined.tests.begin(), examined.tests.end(),
                                         [](const PolicyTestResult& result) { return !result.differences.empty(); });
}

}  // namespace

PolicyEvaluator::PolicyEvaluator(Setup setup)
    : setup_(std::move(setup)),
      examinations_(std::make_unique<TaskThread>()),
      replays_(std::make_unique<TaskThread>()) {}

PolicyEvaluator::~PolicyEvaluator() {
  stop();
}

void PolicyEvaluator::stop() {
  stopping_.request_stop();
  for (const auto* thread : {&examinations_, &replays_}) (*thread)->stop();
}

PolicyExamined PolicyEvaluator::look_over(const host::PolicyFile& file, const PolicyVersion& version,
                                          bool run_tests) const {
  PolicyExamined examined;
  host::PolicyHost process(file.for_host(), setup_.host_program);
  auto hooks = host::look_over(file, process);
  if (const auto* fault = std::get_if<host::PolicyFault>(&hooks)) {
    examined.checks.fault = to_text(*fault);
    return examined;
  }
  examined.checks.hooks = std::get<std::vector<std::string>>(std::move(hooks));
  examined.checks.runs = true;
  if (!run_tests) return examined;
  Spent spent(setup_.patience);
  const auto run = [&](const host::PolicyTest& test) {
    if (stopping_.stop_requested()) return std::vector<std::string>{"not run: the daemon is stopping"};
    if (spent.all()) return std::vector<std::string>{"not run: those before it took " + to_text(setup_.patience)};
    return spent.on([&] { return run_test(test, file.manifest, process); });
  };
  run_tests_of(version, run, examined);
  return examined;
}

void PolicyEvaluator::examine(PolicyVersion version, bool run_tests, std::function<void(Result<PolicyExamined>)> done) {
  auto file = file_of(version);
  if (!file) return done(file.error());
  const bool native = file->manifest.engine == host::EngineKind::kNative;
  if (native && !setup_.allow_native) {
    return done(conflict("a native policy runs only where schedulerd was started with --allow-native-policies"));
  }
  const auto work = [this, version = std::move(version), file = *std::move(file), run_tests, done] {
    try {
      done(look_over(file, version, run_tests));
    } catch (const std::exception& error) {
      done(Error{ErrorCode::kInternal, std::string("the policy could not be looked over: ") + error.what()});
    }
  };
  if (!examinations_->post(work, kWaitingMost)) done(too_busy());
}

void PolicyEvaluator::replay(ReplayAsked asked, std::function<void(Result<PolicyReplay>)> done) {
  const auto work = [this, asked = std::make_shared<const ReplayAsked>(std::move(asked)), done] {
    try {
      done(replay_rounds(*asked, setup_, stopping_.get_token()));
    } catch (const std::exception& error) {
      done(Error{ErrorCode::kInternal, std::string("the history could not be replayed: ") + error.what()});
    }
  };
  if (!replays_->post(work, kWaitingMost)) done(too_busy());
}

Status may_decide(const PolicyExamined& examined) {
  if (!examined.checks.runs) return invalid_argument(examined.checks.fault);
  for (const PolicyTestResult& result : examined.tests) {
    if (result.differences.empty()) continue;
    return invalid_argument(std::to_string(examined.checks.failed) + " of " + std::to_string(examined.checks.tests) +
                            " tests fail; tests/" + result.file + ", \"" + result.test +
                            "\": " + result.differences.front() + "; see all: schedctl policy test FILE");
  }
  return ok_status();
}

Result<RunnablePolicy> make_runnable(const PolicyVersion& version, const nlohmann::json& params) {
  auto file = file_of(version);
  if (!file) return file.error();
  auto chosen = choose_params(file->manifest, params);
  if (!chosen) return chosen.error();
  return RunnablePolicy{.ref = {version.name, version.version, canonical_json(params), file->manifest.shares(),
                                file->manifest.provisions()},
                        .file = *std::move(file),
                        .params = *std::move(chosen)};
}

}  // namespace tidepool::live
