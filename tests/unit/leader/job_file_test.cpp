#include "schedulerd/leader/job_file.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "base/json.hpp"
#include "core/codec/codec.hpp"
#include "core/codec/row_texts.hpp"
#include "core/codec/state_rows.hpp"
#include "schedulerd/leader/job_change.hpp"
#include "schedulerd/leader/start_order.hpp"

namespace tidepool::leader {
namespace {

using nlohmann::json;

// Job files, and what the last version of schema 9 stored and sent of them.
json stored_by_schema_9() {
  const char* source = std::getenv("TIDEPOOL_SOURCE_DIR");
  REQUIRE(source != nullptr);
  std::ifstream in(std::string(source) + "/tests/data/specs_v9.json");
  REQUIRE(in.good());
  return json::parse(in);
}

TEST_CASE("a job file reaches the engine with every field in its place") {
  const auto document = nlohmann::json::parse(R"({
    "name": "n", "tenant": "t", "run": {"trainer": "charlm", "args": {"data": "x"}},
    "resources": {"gpus_per_worker": 2, "gpu": {"type": ["h100", "h200"]}},
    "elastic": {"min": 2, "max": 8, "preferred": 4, "sizes": [2, 4, 8],
                "min_runtime": "1s", "cooldown": "2s", "grace": "3s"},
    "batch": {"global": 640, "per_worker_max": 64, "on_resize": "sqrt"},
    "scaling": {"policy": "fixed", "every_steps": 7, "spawn_size": 2, "efficiency_threshold": 0.25,
                "utility": {"piecewise": [["0s", 10], ["1h", 4]]}, "price_cap": "2.50"},
    "work": {"samples": 99, "deadline": "2h"}, "priority": "high", "preemptible": false,
    "topology": {"strategy": "strict_pack", "key": "rack", "pack": "node"},
    "placement": {"selector": {"rack": ["r1", "r2"]}, "exclusive": true},
    "limits": {"max_duration": "5m", "max_restarts": 0}})");
  const auto findings = api::v1::read_job_spec(document);
  REQUIRE(findings.errors.empty());
  const core::JobSpec spec = to_core(findings.spec);
  CHECK(spec.name == "n");
  CHECK(spec.tenant == "t");
  CHECK(spec.priority == 10);
  CHECK(!spec.preemptible);
  CHECK(spec.gpus_per_worker == 2);
  CHECK(spec.pack_node);
  CHECK(spec.placement.strategy == core::TopologyStrategy::kStrictPack);
  CHECK(spec.placement.key == "rack");
  CHECK(spec.placement.exclusive);
  CHECK(spec.placement.selector == core::Selector{{"rack", {"r1", "r2"}}});
  CHECK(spec.elastic ==
        core::ElasticSpec{2, 8, 4, {2, 4, 8}, Duration::seconds(1), Duration::seconds(2), Duration::seconds(3)});
  CHECK(spec.batch == core::BatchSpec{640, 64, core::OnResize::kSqrt});
  CHECK(spec.scaling.policy == "fixed");
  CHECK(spec.scaling.every_steps == 7);
  CHECK(spec.scaling.spawn_size == 2);
  CHECK(spec.scaling.efficiency_threshold == 0.25);
  CHECK(!spec.scaling.linear_utility);
  REQUIRE(spec.scaling.piecewise_utility);
  CHECK(spec.scaling.piecewise_utility->points[1].at == Duration::seconds(3600));
  CHECK(spec.scaling.price_cap == Money::micros(2'500'000));
  CHECK(spec.slot_types == std::vector<std::string>{"h100", "h200"});
  CHECK(spec.work_samples == 99);
  CHECK(spec.deadline == Duration::seconds(7200));
  CHECK(spec.max_duration == Duration::seconds(300));
  CHECK(spec.max_restarts == 0);
  CHECK(job_document(spec).at("elastic").at("sizes") == json({2, 4, 8}));
  CHECK(job_document(spec).at("topology") == document.at("topology"));
  CHECK(job_document(spec).at("placement") == document.at("placement"));
}

TEST_CASE("a job stored with a minimum run time beyond the bound may change otherwise, and to none beyond it") {
  core::JobSpec stored = to_core(api::v1::read_job_spec({{"run", {{"command", json::array({"true"})}}}}).spec);
  stored.elastic.min_runtime = Duration::seconds(1'000 * 3'600);
  const auto urgent = changed_spec(stored, {{"priority", 1}});
  CHECK(urgent.errors.empty());
  CHECK(urgent.spec.elastic.min_runtime == stored.elastic.min_runtime);
  const auto within = [&](const char* time) { return changed_spec(stored, {{"elastic", {{"min_runtime", time}}}}); };
  const auto longer = within("2000h").errors;
  REQUIRE(longer.size() == 1);
  CHECK(longer.front().message == "min_runtime is 2000h; it must be from 0s to 1d");
  CHECK(within("24h").errors.empty());
}

TEST_CASE("a job stored with more workers than sum together may change otherwise, and to what can") {
  const json file = {{"run", {{"command", json::array({"true"})}}}, {"elastic", {{"min", 1}, {"max", 300}}}};
  const core::JobSpec stored = to_core(api::v1::read_job_spec(file).spec);
  REQUIRE(stored.elastic.sizes.size() == 300);
  CHECK(changed_spec(stored, {{"priority", 1}}).errors.empty());
  const auto fewer = changed_spec(stored, {{"elastic", {{"max", 256}}}});
  CHECK(fewer.errors.empty());
  CHECK(fewer.spec.elastic.sizes.size() == 256);
  CHECK_FALSE(changed_spec(stored, {{"elastic", {{"max", 280}}}}).errors.empty());
}

TEST_CASE("a job stored with a utility beyond the bound keeps all of it when something else changes") {
  core::JobSpec stored = to_core(api::v1::read_job_spec({{"run", {{"command", json::array({"true"})}}}}).spec);
  stored.scaling.piecewise_utility = core::PiecewiseUtility{
      .points = {{.at = Duration(), .value = 100}, {.at = Duration::seconds(3'600), .value = -1e13}}};
  const auto urgent = changed_spec(stored, {{"priority", 1}});
  CHECK(urgent.errors.empty());
  CHECK(urgent.spec.scaling.piecewise_utility == stored.scaling.piecewise_utility);
}

TEST_CASE("another size of groups is refused for what it is, and the same one is no change") {
  const auto job = [](json elastic) {
    return to_core(api::v1::read_job_spec({{"run", {{"command", json::array({"true"})}}}, {"elastic", elastic}}).spec);
  };
  const core::JobSpec single = job({{"min", 1}, {"max", 3}});
  const auto refused = changed_spec(single, {{"elastic", {{"group", 2}}}}).errors;
  REQUIRE(refused.size() == 1);
  CHECK(refused.front().pointer == "/elastic/group");
  CHECK(refused.front().code == "Unchangeable");
  CHECK(changed_spec(single, {{"elastic", {{"group", 1}, {"max", 4}}}}).errors.empty());
  const core::JobSpec grouped = job({{"group", 2}, {"max", 4}});
  CHECK(changed_spec(grouped, {{"elastic", {{"group", nullptr}}}}).errors.size() == 1);
  CHECK(changed_spec(grouped, {{"elastic", {{"group", 2}, {"max", 6}}}}).errors.empty());
}

TEST_CASE("a preferred size that is the smallest one follows it upwards, and any other stays or is refused") {
  const auto job = [](json elastic) {
    return to_core(api::v1::read_job_spec({{"run", {{"command", json::array({"true"})}}}, {"elastic", elastic}}).spec);
  };
  const core::JobSpec smallest = job({{"max", 4}});
  const auto raised = changed_spec(smallest, {{"elastic", {{"min", 2}}}});
  CHECK(raised.errors.empty());
  CHECK(raised.spec.elastic.min == 2);
  CHECK(raised.spec.elastic.preferred == 2);
  CHECK(raised.spec.elastic.sizes == std::vector<int>{2, 3, 4});
  CHECK(changed_spec(raised.spec, {{"elastic", {{"min", 1}}}}).spec.elastic.preferred == 2);
  const core::JobSpec larger = job({{"max", 4}, {"preferred", 2}});
  CHECK(changed_spec(larger, {{"elastic", {{"min", 2}}}}).spec.elastic.preferred == 2);
  for (const auto& [spec, elastic] :
       {std::pair(larger, json{{"min", 3}}), {smallest, {{"min", 2}, {"preferred", 1}}}}) {
    const auto refused = changed_spec(spec, {{"elastic", elastic}}).errors;
    REQUIRE(refused.size() == 1);
    CHECK(refused.front().pointer == "/elastic/preferred");
  }
}

TEST_CASE("the file that is shown and sent to workers is to the letter what it was when it was kept as a text") {
  core::Node node;
  node.slot_type = "cpu";
  const json jobs = stored_by_schema_9();
  for (const auto& [name, stored] : jobs.items()) {
    INFO(name);
    const auto findings = api::v1::read_job_spec(stored.at("file"));
    for (const FieldError& error : findings.errors) {  // labels of any characters and any settings were stored then
      CHECK((error.pointer == "/labels" || error.pointer.starts_with("/run/args/")));
    }
    core::Job job;
    job.id = JobId(7);
    job.spec = to_core(findings.spec);
    CHECK(canonical_json(job_document(job.spec)) == stored.at("document").get<std::string>());
    core::Worker worker;
    worker.id = WorkerId(3);
    worker.slots = {0, 1};
    api::StartWorker order = start_order(worker, job, node).value();
    order.started_at = order.submitted_at = std::nullopt;  // which it did not tell
    CHECK(api::encode(api::DaemonToAgent(order)) == stored.at("order").get<std::string>());
  }
}

TEST_CASE("what schema 9 stored of a job, with its file as a text, is read as the job of today") {
  const json jobs = stored_by_schema_9();
  for (const auto& [name, stored] : jobs.items()) {
    INFO(name);
    const core::JobSpec spec = to_core(api::v1::read_job_spec(stored.at("file")).spec);
    const auto submitted = core::fact_from_text(stored.at("fact").get<std::string>());
    REQUIRE(submitted.ok());
    CHECK(std::get<core::JobSubmitted>(*submitted).spec == spec);
    const auto whole = core::fact_from_json(json::parse(stored.at("whole_fact").get<std::string>()));
    REQUIRE(whole.ok());
    CHECK(std::get<core::JobChanged>(*whole).spec == spec);
    const std::string row = stored.at("job");
    const auto job = core::job_from_text(row);
    REQUIRE(job.ok());
    CHECK((*job)->spec == spec);
    core::ClusterState head;
    head.next_job = 8;
    core::StateFromRows rows;
    REQUIRE(rows.put({core::RowKind::kJob, 7}, row).ok());
    const auto state = std::move(rows).finish(core::head_text(head));
    REQUIRE(state.ok());
    CHECK(state->find_job(JobId(7))->spec == spec);
    CHECK(core::job_text(**job).size() < row.size());
    CHECK(core::job_text(**core::job_from_text(core::job_text(**job))) == core::job_text(**job));
  }
}

TEST_CASE("a stored spec whose file cannot be read is refused in words, and one with an empty file is read") {
  const auto read = [](const char* text) {
    return core::fact_from_text(std::string(R"({"fact":"job_submitted","job":"job-7","spec":{"document":)") + text +
                                "}}");
  };
  CHECK(read(R"("{}")").ok());
  CHECK_FALSE(read(R"("{not JSON")").ok());
  CHECK_FALSE(read("7").ok());
  CHECK_FALSE(read(R"("{\"run\":{\"env\":{\"A\":1}}}")").ok());
  CHECK_FALSE(read(R"("{\"run\":{\"args\":{\"a\":null}}}")").ok());
  CHECK_FALSE(read(R"("{\"labels\":[]}")").ok());
}

TEST_CASE("a job that takes any type of slot, among others or alone, asks for none") {
  api::v1::JobSpecV1 spec;
  CHECK(to_core(spec).slot_types.empty());
  spec.resources.gpu_types = {"h100", "any"};
  CHECK(to_core(spec).slot_types.empty());
  CHECK(to_file(to_core(spec)).resources.gpu_types == spec.resources.gpu_types);
}

TEST_CASE("what a job says of its types of slot is part of its file") {
  api::v1::JobSpecV1 spec;
  spec.resources.gpu_types = {"h100", "v100"};
  spec.resources.gpu_speeds = {{"h100", 1}, {"v100", 0.25}};
  spec.resources.mixed_types = true;
  const core::JobSpec told = to_core(spec);
  CHECK(told.slot_types == spec.resources.gpu_types);
  CHECK(told.type_speeds == spec.resources.gpu_speeds);
  CHECK(told.mixed_types);
  CHECK(to_file(told).resources.gpu_speeds == spec.resources.gpu_speeds);
  CHECK(to_file(told).resources.mixed_types);
}

TEST_CASE("each way to treat the batch has its own value") {
  std::vector<core::OnResize> seen;
  for (const char* word : {"constant", "linear", "sqrt", "adascale", "callback", "fixed_local"}) {
    api::v1::JobSpecV1 spec;
    spec.batch.on_resize = word;
    seen.push_back(to_core(spec).batch.on_resize);
  }
  CHECK(seen == std::vector{core::OnResize::kConstant, core::OnResize::kLinear, core::OnResize::kSqrt,
                            core::OnResize::kAdaScale, core::OnResize::kCallback, core::OnResize::kFixedLocal});
}

}  // namespace
}  // namespace tidepool::leader
