// Policy files: versions are stored, looked over and tested in real hosts, shadowed, activated and rolled back.
// Whatever waits for a host waits on the evaluator's thread, never here.
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/json.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/policies/policy_choice.hpp"
#include "schedulerd/live/http/policies/policy_view.hpp"
#include "schedulerd/live/policies/policy_evaluator.hpp"
#include "schedulerd/live/policies/policy_upload.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

void note_checks(Rest& rest, const Call& call, const PolicyVersion& version, const PolicyChecks& checks) {
  rest.service().submit({.body = leader::NotePolicyChecks{version.name, version.version, checks},
                         .actor = call.caller.token_id,
                         .idempotency = {}},
                        [](const Result<Receipt>&) {});
}

// Looks the version over on the evaluator's thread and goes on here, on the I/O thread.
using OnExamined = std::function<void(Rest&, Call, const PolicyVersion&, const PolicyExamined&)>;
void examine(Rest& rest, Call call, PolicyVersion version, bool run_tests, OnExamined next) {
  if (const auto problem = refuse_native(rest, version)) return call.fail(*problem);
  const auto weak = rest.weak_from_this();
  const auto shared = std::make_shared<const PolicyVersion>(std::move(version));
  rest.service().policy_workshop().examine(
      *shared, run_tests, [weak, call = std::move(call), shared, next = std::move(next)](Result<PolicyExamined> done) {
        const auto alive = weak.lock();
        if (!alive) return;
        alive->io().post([raw = alive.get(), call, shared, next, done = std::move(done)] {
          if (!done) return call.fail(problem_of(done.error()));
          note_checks(*raw, call, *shared, done->checks);
          next(*raw, call, *shared, *done);
        });
      });
}

Problem invalid_parameters(const Error& why) {
  return {.status = 422,
          .code = "InvalidParameters",
          .detail = why.message,
          .hint = "nothing was done",
          .errors = {{"/params", "Invalid", why.message}}};
}

std::optional<core::PolicyFileRef> ref_with(const Call& call, const PolicyVersion& version, const json& params) {
  const auto made = make_runnable(version, params);
  if (made) return made->ref;
  call.fail(invalid_parameters(made.error()));
  return std::nullopt;
}

// Of the picture that holds what was asked for, in one answer with it.
Rest::Answer policy_status(Rest& rest) {
  return
      [&rest](const Receipt&, const Published& seen) { return json_response(200, render_policy_status(rest, seen)); };
}

// The version that is chosen goes into use by a command that names it, once it has been seen to run; with
// `run_tests`, and its tests to pass.
template <class UseIt>
void use_version(Rest& rest, Call call, const PolicyChoice& choice, bool run_tests) {
  auto version = find_policy_version(rest, call, choice.version);
  if (!version) return;
  const auto ref = ref_with(call, *version, choice.params);
  if (!ref) return;
  examine(rest, std::move(call), *std::move(version), run_tests,
          [ref](Rest& then, Call done, const PolicyVersion& of, const PolicyExamined& examined) {
            if (const auto problem = unfit(of, examined)) return done.fail(*problem);
            then.command(std::move(done), UseIt{ref}, policy_status(then));
          });
}

// Answers with what a stored version turns out to be, with its tests run or without.
void report_on(Rest& rest, Call call, bool run_tests) {
  const auto choice = read_policy_choice(call, {});
  if (!choice) return;
  auto version = find_policy_version(rest, call, choice->version);
  if (!version) return;
  examine(rest, std::move(call), *std::move(version), run_tests,
          [](Rest&, const Call& done, const PolicyVersion& of, const PolicyExamined& examined) {
            done.reply(200, render_examined_policy(of, examined));
          });
}

void reply_with_replay(Rest& rest, Call call, PolicyEvaluator::ReplayAsked asked) {
  const auto weak = rest.weak_from_this();
  rest.service().policy_workshop().replay(std::move(asked), [weak, call = std::move(call)](Result<PolicyReplay> done) {
    const auto alive = weak.lock();
    if (!alive) return;
    alive->io().post([weak, call, done = std::move(done)] {
      const auto on_thread = weak.lock();
      if (!on_thread) return;
      if (!done) return call.fail(problem_of(done.error()));
      call.reply(200, render_policy_replay(*call.seen, *done, on_thread->service().history()));
    });
  });
}

}  // namespace

void add_policy_version(Rest& rest, Call call) {
  auto body = parse_json(call.request.body, {.bytes_max = 2U << 20U});
  if (!body) return call.fail({.status = 400, .code = "BadJson", .detail = body.error().message});
  std::vector<FieldError> errors;
  const PolicyVersion version = read_policy_upload(*body, call.id, errors);
  if (!errors.empty()) {
    return call.fail({.status = 422,
                      .code = "InvalidPolicy",
                      .detail = "the policy needs a change",
                      .hint = "nothing was stored",
                      .errors = std::move(errors)});
  }
  for (const PolicyInfo& builtin : rest.options().policies) {
    if (builtin.name != version.name) continue;
    return call.fail({.status = 409,
                      .code = "NameTaken",
                      .detail = version.name + " is the name of a built-in policy",
                      .hint = "choose another name in policy.yaml"});
  }
  if (const auto problem = refuse_native(rest, version)) return call.fail(*problem);
  rest.command(std::move(call), leader::StorePolicyVersion{version},
               [&rest, name = version.name, key = version.version](const Receipt&, const Published& seen) {
                 const auto stored = rest.service().history().policy_version(name, key);
                 if (!stored) return json_response(500, json::object());
                 return json_response(201, render_policy_version(seen, *stored, false));
               });
}

void list_policy_versions(Rest& rest, Call call) {
  const auto page = read_page(call, "policy_versions");
  if (!page) return call.fail(bad_parameter(page.error()));
  PageBuilder builder("policy_versions", page->limit);
  std::uint64_t place = 0;
  for (const auto& version : rest.service().history().policy_versions(call.id)) {
    if (++place <= page->after.value_or(0)) continue;
    if (!builder.add(place, render_policy_version(*call.seen, version, false))) break;
  }
  call.reply(200, std::move(builder).body(call.seen->as_of_seq));
}

void get_policy_version(Rest& rest, Call call) {
  const auto version = find_policy_version(rest, call, call.query("version"));
  if (version) call.reply(200, render_policy_version(*call.seen, *version, true));
}

void get_policy_status(Rest& rest, Call call) {
  call.reply(200, render_policy_status(rest, *call.seen));
}

void validate_policy(Rest& rest, Call call) {
  report_on(rest, std::move(call), false);
}

void test_policy(Rest& rest, Call call) {
  report_on(rest, std::move(call), true);
}

void activate_policy(Rest& rest, Call call) {
  const auto choice = read_policy_choice(call, {"params"});
  if (!choice) return;
  if (call.id == call.seen->active_policy && !names_no_version(call, *choice)) return;
  if (call.id == call.seen->active_policy)
    return rest.command(std::move(call), leader::ActivatePolicy{}, policy_status(rest));
  for (const PolicyInfo& builtin : rest.options().policies) {
    if (builtin.name != call.id) continue;
    return call.fail({.status = 409,
                      .code = "BuiltInPolicy",
                      .detail = call.id + " is built in, and the daemon was started with " + call.seen->active_policy,
                      .hint = "restart it: schedulerd --policy " + call.id});
  }
  use_version<leader::ActivatePolicy>(rest, std::move(call), *choice, true);
}

void roll_back_policy(Rest& rest, Call call) {
  leader::RollBackPolicy command{call.id, "asked for by token " + call.caller.token_id};
  rest.command(std::move(call), std::move(command), policy_status(rest));
}

void shadow_policy(Rest& rest, Call call) {
  const auto choice = read_policy_choice(call, {"params", "stop"});
  if (!choice) return;
  if (choice->stop) {
    const auto& shadow = call.seen->state.deployment.shadow;
    if (!shadow || shadow->name != call.id) {
      return call.fail({.status = 409, .code = "NotShadowed", .detail = call.id + " does not run as the shadow"});
    }
    return rest.command(std::move(call), leader::ShadowPolicy{}, policy_status(rest));
  }
  use_version<leader::ShadowPolicy>(rest, std::move(call), *choice, false);
}

void get_shadow_report(Rest& rest, Call call) {
  const auto& report = call.seen->shadow;
  if (!report || report->file.name != call.id) {
    return call.fail({.status = 404,
                      .code = "NotShadowed",
                      .detail = call.id + " does not run as the shadow",
                      .hint = "schedctl policy shadow " + call.id});
  }
  json rendered = render_shadow_report(*call.seen, *report, rest.service().history());
  rendered["since"] = call.seen->clock.text(report->since);
  call.reply(200, rendered);
}

void diff_policy(Rest& rest, Call call) {
  const auto choice = read_policy_choice(call, {"params", "since", "rounds"});
  if (!choice) return;
  const auto since = parse_duration(choice->since.empty() ? "1d" : choice->since);
  if (!since) {
    return call.fail({.status = 422,
                      .code = "InvalidRequest",
                      .detail = since.error().message,
                      .errors = {{"/since", "Invalid", "since is no duration: " + since.error().message}}});
  }
  auto version = find_policy_version(rest, call, choice->version);
  if (!version) return;
  const auto policy = make_runnable(*version, choice->params);
  if (!policy) return call.fail(invalid_parameters(policy.error()));
  const PolicyEvaluator::ReplayAsked asked{
      .policy = *policy, .since = call.seen->now - *since, .rounds_max = choice->rounds};
  examine(rest, std::move(call), *std::move(version), false,
          [asked](Rest& then, Call done, const PolicyVersion& of, const PolicyExamined& examined) {
            if (const auto problem = unfit(of, examined)) return done.fail(*problem);
            reply_with_replay(then, std::move(done), asked);
          });
}

}  // namespace tidepool::live::http
