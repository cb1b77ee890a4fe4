#include "tests/golden/scenario.hpp"
#include "core/codec/reason_numbers.hpp"

#include <functional>
#include <map>
#include <sstream>

#include "core/explain/explain.hpp"
#include "core/state/cluster_invariants.hpp"
#include "core/words/unblock.hpp"
#include "core/words/wording.hpp"
#include "policies/registry.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {
namespace {

// The words of one line: a command, plain arguments, and name=value options.
struct Line {
  std::string command;
  std::vector<std::string> words;
  std::map<std::string, std::string> options;

  [[nodiscard]] std::string option(const std::string& name, const std::string& fallback) const {
    const auto found = options.find(name);
    return found == options.end() ? fallback : found->second;
  }
  // An option of several words, which are joined by "_" in the scenario.
  [[nodiscard]] std::string text(const std::string& name, const std::string& fallback) const {
    std::string joined = option(name, fallback);
    std::replace(joined.begin(), joined.end(), '_', ' ');
    return joined;
  }
  [[nodiscard]] int number(const std::string& name, int fallback) const {
    return std::stoi(option(name, std::to_string(fallback)));
  }
  [[nodiscard]] Duration time(const std::string& name, const std::string& fallback) const {
    return parse_duration(option(name, fallback)).value();
  }
  [[nodiscard]] std::string word(std::size_t at) const { return at < words.size() ? words[at] : ""; }
};

Line parse_line(const std::string& text) {
  std::istringstream in(text);
  Line line;
  in >> line.command;
  for (std::string word; in >> word;) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) {
      line.words.push_back(word);
    } else {
      line.options[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  return line;
}

template <class T, class Parse>
std::vector<T> list_of(const std::string& text, Parse parse) {
  std::vector<T> values;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) values.push_back(parse(part));
  return values;
}

// What a job does by itself is told best by a policy that sizes one at a time; `policy NAME` chooses another.
core::Engine::Parts real_parts(std::string_view policy = "autoscaling_engine") {
  auto table = policies::make_policies(policy);
  return {table.value(), {std::make_shared<PlainDetector>()}, {}};
}

class Scenario {
 public:
  Scenario() : engine_(real_parts()) {
    commands_ = {
        {"policy", [this](const Line& line) { engine_ = core::Engine(real_parts(line.word(0))); }},
        {"pass", [this](const Line& line) { pass(line); }},
        {"node", [this](const Line& line) { node(line); }},
        {"tenant", [this](const Line& line) { tenant(line); }},
        {"submit", [this](const Line& line) { submit(line); }},
        {"ready", [this](const Line& line) { ready(line); }},
        {"switched", [this](const Line& line) { switched(line); }},
        {"steps", [this](const Line& line) { steps(line); }},
        {"rebalanced", [this](const Line& line) { rebalanced(line); }},
        {"exit", [this](const Line& line) { exit(line); }},
        {"gone", [this](const Line&) { gone(); }},
        {"lost", [this](const Line& l) { learn(core::NodeLost{node_id(l), l.text("why", "no heartbeat")}); }},
        {"cordon", [this](const Line& l) { learn(core::NodeCordonChanged{node_id(l), true}); }},
        {"cancel", [this](const Line& line) { learn(core::JobCancelRequested{job(line)}); }},
        {"suspend", [this](const Line& line) { learn(core::JobSuspendRequested{job(line)}); }},
        {"resume", [this](const Line& line) { learn(core::JobResumeRequested{job(line)}); }},
        {"resize", [this](const Line& l) { learn(core::JobResizeRequested{job(l), std::stoi(l.word(1))}); }},
        {"finished", [this](const Line& l) { learn(core::TrainingFinished{job(l), find(l).progress.step, 1.0}); }},
        {"why", [this](const Line& line) { why(line); }}};
  }

  Status run(const std::string& text) {
    out_ += "> " + text + "\n";
    const Line line = parse_line(text);
    const auto command = commands_.find(line.command);
    if (command == commands_.end()) return invalid_argument("\"" + line.command + "\" is not a command");
    command->second(line);
    decide();
    return ok_status();
  }

  [[nodiscard]] std::string log() const { return out_; }

 private:
  [[nodiscard]] static JobId job(const Line& line) { return JobId::parse(line.word(0)).value(); }
  [[nodiscard]] static NodeId node_id(const Line& line) { return NodeId::parse(line.word(0)).value(); }
  [[nodiscard]] const core::Job& find(const Line& line) const {
    const core::Job* known = engine_.view().find_job(job(line));
    return known != nullptr ? *known : *ended_.at(job(line));
  }

  void learn(core::Fact fact) {
    const auto events = engine_.step({now_, std::move(fact)});
    if (!events.ok()) out_ += "  refused: " + events.error().message + "\n";
    keep_ended();
  }

  void keep_ended() {
    for (auto& job : engine_.take_ended()) ended_.emplace(job->id, std::move(job));
  }
  void pass(const Line& line) {
    now_ = now_ + parse_duration(line.word(0)).value();
    learn(core::ClockAdvanced{});
  }
  void node(const Line& line) {
    const std::string& name = line.word(0);
    const auto running = list_of<WorkerId>(line.option("running", ""),
                                           [](const std::string& text) { return WorkerId::parse(text).value(); });
    learn(core::NodeJoined{engine_.node_id_for(name), name, std::stoi(line.word(1)), "cpu",
                           parse_money(line.option("price", "1")).value(), running});
  }
  // One more tenant in the tree, after those that are there.
  void tenant(const Line& line) {
    core::TenantTree tree = *engine_.view().tenants;
    core::Tenant added{.name = line.word(0), .parent = line.option("parent", "")};
    added.guarantee = line.number("guarantee", 0);
    added.weight = line.number("weight", 1);
    tree.tenants.push_back(added);
    learn(core::TenantsConfigured{tree});
  }
  void submit(const Line& line) {
    JobSketch sketch;
    sketch.min = line.number("min", 1);
    sketch.max = line.number("max", 4);
    sketch.preferred = line.number("preferred", sketch.min);
    sketch.sizes = list_of<int>(line.option("sizes", ""), [](const std::string& text) { return std::stoi(text); });
    sketch.gpus = line.number("gpus", 1);
    sketch.max_restarts = line.number("max_restarts", 3);
    sketch.cooldown = line.time("cooldown", "2s");
    sketch.grace = line.time("grace", "10s");
    core::JobSpec spec = job_spec(sketch);
    spec.name = line.word(0);
    spec.tenant = line.option("tenant", spec.tenant);
    spec.priority = line.number("priority", 0);
    spec.scaling.policy = line.option("policy", "default");
    spec.scaling.every_steps = line.number("every_steps", 20);
    learn(core::JobSubmitted{engine_.next_job_id(), spec});
  }
  // Every worker that boots is ready; with work_steps=N they tell that the training has so many.
  void ready(const Line& line) {
    for (const auto& [id, worker] : IdTable(engine_.view().workers)) {
      core::WorkerReady fact{.worker = id};
      if (const int steps = line.number("work_steps", 0); steps > 0) fact.work_steps = steps;
      learn(fact);
    }
  }
  void switched(const Line& line) {
    const core::Job& at = find(line);
    learn(core::GenerationSwitched{at.id, at.membership.generation, at.progress.step + 1,
                                   static_cast<double>(line.number("stall_ms", 50)), 10, 0, 0, 1 << 20});
  }
  // steps JOB COUNT of=DURATION samples=N [compute=US,US]: compute times by rank, the same in each step.
  void steps(const Line& line) {
    const core::Job& at = find(line);
    const auto count = static_cast<std::int64_t>(std::stoi(line.word(1)));
    const Duration elapsed = line.time("of", "100ms") * count;
    const auto one =
        list_of<std::int64_t>(line.option("compute", ""), [](const std::string& t) { return std::stoi(t); });
    std::vector<std::int64_t> compute_us;
    for (std::int64_t i = 0; i < count; ++i) compute_us.insert(compute_us.end(), one.begin(), one.end());
    now_ = now_ + elapsed;
    core::StepsMeasured report{at.id,
                               at.membership.generation,
                               at.progress.step + count,
                               count,
                               elapsed,
                               count * line.number("samples", 512),
                               2.5,
                               1,
                               compute_us};
    report.shares = at.shares.used.number;
    learn(std::move(report));
  }
  // The members step by the shares that they were told.
  void rebalanced(const Line& line) {
    const core::Job& at = find(line);
    learn(core::SharesChanged{at.id, at.membership.generation, at.shares.ordered.number, at.progress.step + 1,
                              static_cast<double>(line.number("stall_ms", 3))});
  }
  void exit(const Line& line) {
    learn(
        core::WorkerExited{WorkerId::parse(line.word(0)).value(), std::stoi(line.word(1)), 0, line.text("detail", "")});
  }
  // Every worker that was told to leave or stop has exited.
  void gone() {
    for (const auto& [id, worker] : IdTable(engine_.view().workers)) {
      const bool leaves = worker.phase == core::WorkerPhase::kLeaving && !worker.node_lost;
      if (leaves && (worker.kill_at || worker.stop_due)) learn(core::WorkerExited{id, 0, 0, ""});
    }
  }
  void why(const Line& line) {
    const auto answer = core::explain(engine_.view(), find(line));
    out_ += "  " + line.word(0) + " (" + core::to_text(find(line).state()) + "): " + answer.summary + "\n";
    if (answer.chosen) tell_weighed("chosen", *answer.chosen);
    for (const auto& lost : answer.lost) tell_weighed("lost", lost);
    for (const auto& fact : answer.evidence) out_ += "    - " + fact + "\n";
    for (const auto& help : answer.unblocks()) out_ += "    could help: " + help + "\n";
    for (const JobId ahead : answer.ahead) out_ += "    ahead: " + ahead.text() + "\n";
  }

  // The score is left out where the policy gives none.
  void tell_weighed(const char* what, const core::Alternative& weighed) {
    out_ += "    " + std::string(what) + ": " + std::to_string(weighed.size) +
            (weighed.score == 0 ? "" : " at " + core::three_digits(weighed.score)) + ", " +
            core::sentence(weighed.reason) + "\n";
  }
  // What a new plan changes: the chosen size, the best that lost, and what would unblock.
  void tell_plan(const core::Replan& replan) {
    for (const auto& [job, now, words_only] : replan.changes) {
      if (!now) continue;
      out_ += "    plan for " + job.text() + ": " + std::to_string(now->size) +
              (now->score == 0 ? "" : " at " + core::three_digits(now->score)) + " [" +
              std::string(core::name_of(now->reason)) + "] " + core::sentence(now->reason) + "\n";
      if (!now->lost.empty()) tell_weighed("  lost", now->lost.front());
      for (const auto& help : core::unblocks_of(now->reason, job)) out_ += "      could help: " + help + "\n";
    }
  }

  void decide() {
    const core::Decision decision = engine_.decide(now_);
    if (decision.empty()) return;
    const auto valid = engine_.validate(decision);
    if (!valid.ok()) out_ += "  INVALID: " + valid.error().message + "\n";
    std::ostringstream at;
    at << now_.count_us() / 1000 << " ms";
    out_ += "  " + decision.id.text() + " at " + at.str() + "\n";
    for (const auto& planned : decision.plan) out_ += "    " + core::sentence(planned, engine_.view()) + "\n";
    if (decision.replan) tell_plan(*decision.replan);
    for (const auto& verdict : decision.verdicts) {
      out_ += "    " + verdict.job.text() + " [" + std::string(core::name_of(verdict.reason)) + "] " +
              core::sentence(verdict.reason) + "\n";
    }
    (void)engine_.accept(decision);
    keep_ended();
    if (const auto broken = core::broken_invariant(engine_.view())) out_ += "  BROKEN: " + *broken + "\n";
  }

  core::Engine engine_;
  std::map<JobId, std::shared_ptr<const core::Job>> ended_;  // that have left the state
  std::map<std::string, std::function<void(const Line&)>> commands_;
  Instant now_;
  std::string out_;
};

}  // namespace

Result<std::string> run_scenario(const std::string& commands) {
  Scenario scenario;
  std::istringstream in(commands);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    if (const auto status = scenario.run(line); !status.ok()) {
      return invalid_argument("line " + std::to_string(number) + ": " + status.error().message);
    }
  }
  return scenario.log();
}

}  // namespace tidepool::test
