#include "schedulerd/live/http/translate.hpp"

#include <catch2/catch.hpp>

namespace tidepool::live::http {
namespace {

TEST_CASE("a job file reaches the engine with every field in its place") {
  const auto document = nlohmann::json::parse(R"({
    "name": "n", "tenant": "t", "run": {"trainer": "charlm"},
    "resources": {"gpus_per_worker": 2, "gpu": {"type": ["h100", "h200"]}},
    "elastic": {"min": 2, "max": 8, "preferred": 4, "sizes": [2, 4, 8],
                "min_runtime": "1s", "cooldown": "2s", "grace": "3s"},
    "batch": {"global": 640, "per_worker_max": 64, "on_resize": "sqrt"},
    "scaling": {"policy": "fixed", "every_steps": 7, "spawn_size": 2, "efficiency_threshold": 0.25,
                "utility": {"piecewise": [["0s", 10], ["1h", 4]]}, "price_cap": "2.50"},
    "work": {"samples": 99, "deadline": "2h"}, "priority": "high", "preemptible": false, "topology": {"pack": "node"},
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
  CHECK(nlohmann::json::parse(spec.document).at("elastic").at("sizes") == nlohmann::json({2, 4, 8}));
}

TEST_CASE("a job that takes any type of slot, among others or alone, asks for none") {
  api::v1::JobSpecV1 spec;
  CHECK(to_core(spec).slot_types.empty());
  spec.resources.gpu_types = {"h100", "any"};
  CHECK(to_core(spec).slot_types.empty());
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
}  // namespace tidepool::live::http
