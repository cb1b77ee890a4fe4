// Rows are written as text at once; the same by way of a JSON tree gives the same bytes.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "base/json.hpp"
#include "core/codec/codec.hpp"
#include "core/codec/row_texts.hpp"
#include "core/codec/state_rows.hpp"
#include "tests/support/decision_laws.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

using nlohmann::json;

// To the letter: -0.0 is a number of its own.
bool is_the_same(const nlohmann::json& one, const nlohmann::json& other) {
  if (one != other) return false;
  return one.is_structured() || one.is_number_float() ? one.dump() == other.dump() : true;
}

void make_sparse(nlohmann::json& value, const nlohmann::json& blank) {
  for (const auto& field : value.items()) {
    if (!blank.contains(field.key())) return;  // no struct: its names are its own
  }
  for (auto field = value.begin(); field != value.end();) {
    const nlohmann::json& usual = blank.at(field.key());
    if (is_the_same(*field, usual)) {
      field = value.erase(field);
      continue;
    }
    if (field->is_object() && usual.is_object()) make_sparse(*field, usual);
    ++field;
  }
}

std::string sparse(json value, const json& blank) {
  make_sparse(value, blank);
  return canonical_json(value);
}

// One of each kind of row, as a state has them that was never written to.
json blank_state() {
  core::ClusterState state;
  state.nodes[NodeId(1)] = {};
  state.workers[WorkerId(1)] = {};
  state.jobs.emplace(JobId(1), std::make_shared<core::Job>());
  state.ended.emplace(JobId(1), std::make_shared<core::EndedJob>());
  return core::to_json(state);
}

const std::map<core::RowKind, const char*> kLists = {{core::RowKind::kNode, "nodes"},
                                                     {core::RowKind::kWorker, "workers"},
                                                     {core::RowKind::kJob, "jobs"},
                                                     {core::RowKind::kEnded, "ended"}};

std::uint64_t number_of(const json& row) {
  const auto& id = row.at("id").get_ref<const std::string&>();
  return std::stoull(id.substr(id.rfind('-') + 1));
}

void check_rows(const core::ClusterState& state, const json& blank) {
  const json whole = core::to_json(state);
  for (const auto& [kind, list] : kLists) {
    for (const json& row : whole.at(list)) {
      REQUIRE(core::row_text(state, {kind, number_of(row)}) == sparse(row, blank.at(list).at(0)));
    }
  }
}

std::string fact_by_tree(const core::Fact& fact) {
  json document = core::to_json(fact);
  const json blank = core::to_json(core::Fact(core::JobSubmitted{})).at("spec");
  if (document.contains("spec")) make_sparse(document["spec"], blank);
  return canonical_json(document);
}

std::string decision_by_tree(const core::Decision& decision) {
  core::Decision plain;
  plain.verdicts.emplace_back();
  plain.replan.emplace().changes.emplace_back().now.emplace();
  const json blank = core::to_json(plain);
  json document = core::to_json(decision);
  for (json& verdict : document["verdicts"]) make_sparse(verdict, blank.at("verdicts").at(0));
  if (document["replan"].is_object()) {
    for (json& change : document["replan"]["changes"]) {
      const json& now = blank.at("replan").at("changes").at(0).at("now");
      if (change["now"].is_object()) make_sparse(change["now"], now);
    }
  }
  return canonical_json(document);
}

}  // namespace

TEST_CASE("rows, facts and decisions have the bytes that a JSON tree would give them") {
  const json blank = blank_state();
  std::size_t replans = 0;
  for_each_seed("row texts", 8, [&](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed + 6000, true);
    for (int i = 0; i < 120; ++i) {
      world.tick();
      const core::Decision decision = world.engine().decide(world.now());
      REQUIRE(core::decision_text(decision) == decision_by_tree(decision));
      replans += decision.replan ? 1 : 0;
      decide_and_check(world);
      if (rng.chance(0.2)) check_rows(world.state(), blank);
    }
    for (const auto& [at, fact] : world.facts()) REQUIRE(core::fact_text(fact) == fact_by_tree(fact));
  });
  INFO(replans << " decisions with a plan");
  CHECK(replans > 50);
}

TEST_CASE("numbers and texts of all kinds have the bytes that a JSON tree would give them") {
  const json blank = blank_state();
  for_each_seed("row values", 200, [&](std::uint64_t, Rng& rng) {
    core::Job job;
    job.id = JobId(1 + rng.below(1'000));
    const double numbers[] = {0.0,
                              -0.0,
                              1.0,
                              0.1,
                              1e300,
                              1e-300,
                              123456789.0,
                              rng.uniform(),
                              rng.uniform() * 1e20,
                              std::numeric_limits<double>::infinity(),
                              std::nan("")};
    job.progress.first_loss = numbers[rng.below(std::size(numbers))];
    job.progress.last_loss = numbers[rng.below(std::size(numbers))];
    std::string text;
    for (std::uint64_t i = rng.below(12); i > 0; --i) text += static_cast<char>(rng.below(256));
    job.spec.name = text;
    job.spec.labels[text] = "\u00fcber \"quoted\"\n";
    job.spec.run = core::RunSpec{.trainer = "mlp", .args = {{"lr", {core::Argument::Plain(rng.uniform())}}}};
    job.measurements.detector_state[WorkerId(1 + rng.below(9))] = {1.0, rng.uniform()};
    core::ClusterState state;
    state.next_job = 2'000;
    state.jobs.emplace(job.id, std::make_shared<core::Job>(job));
    check_rows(state, blank);
  });
}

}  // namespace tidepool::test
