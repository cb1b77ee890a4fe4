#include "api/v1/job_spec.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

namespace tidepool::api::v1 {
namespace {

using nlohmann::json;

// The job file of the documentation, as JSON.
json full_document() {
  return json::parse(R"({
    "name": "charlm-demo", "tenant": "demo",
    "run": {"trainer": "charlm", "args": {"data": ["README.md", "docs"], "steps": 400},
            "env": {"OMP_NUM_THREADS": "1"}},
    "resources": {"gpus_per_worker": 1, "gpu": {"type": ["any"]}, "cpus": 1},
    "elastic": {"min": 1, "max": 4, "preferred": 2, "sizes": [1, 2, 4], "step": null,
                "min_runtime": "30s", "cooldown": "20s", "grace": "30s"},
    "batch": {"global": 512, "per_worker_max": 256, "on_resize": "constant"},
    "scaling": {"policy": "default", "every_steps": 20, "efficiency_threshold": 0.1,
                "utility": {"linear": {"value": 100, "zero_at": "3h"}}, "price_cap": 3.5},
    "straggler": {"detector": "z_score"},
    "work": {"samples": 2000000}, "priority": "normal", "preemptible": true,
    "checkpoint": {"every": "10m", "dir": "./ckpt"},
    "topology": {"pack": "node"}, "limits": {"max_duration": "2h", "max_restarts": 3}, "labels": {"project": "demo"}
  })");
}

json with(const char* pointer, json value) {
  json document = full_document();
  document[json::json_pointer(pointer)] = std::move(value);
  return document;
}

bool has_finding(const JobSpecFindings& findings, const std::string& pointer, const std::string& code) {
  return std::any_of(findings.errors.begin(), findings.errors.end(),
                     [&](const FieldError& error) { return error.pointer == pointer && error.code == code; });
}

TEST_CASE("a job that changes its size while it steps has no more workers than sum together") {
  const auto read = [](int min, int max, const char* resize) {
    return read_job_spec({{"run", {{"command", json::array({"train"})}, {"resize", resize}}},
                          {"elastic", {{"min", min}, {"max", max}}},
                          {"batch", {{"global", 8'192}}}});
  };
  CHECK(read(1, 1'024, "live").errors.empty());
  CHECK(read(1'025, 4'096, "restart").errors.empty());
  const auto grows = read(1, 1'025, "live");
  REQUIRE(grows.errors.size() == 1);
  CHECK(has_finding(grows, "/elastic/max", "OutOfRange"));
  CHECK(grows.errors.front().message.find("max is 1025; it must be at most 1024") != std::string::npos);
  const auto starts = read(1'025, 1'030, "live");
  REQUIRE(starts.errors.size() == 1);
  CHECK(has_finding(starts, "/elastic/min", "OutOfRange"));
}

TEST_CASE("a field that stands in the wrong place is told where it belongs") {
  const auto message = [](const char* pointer, json value) {
    const auto findings = read_job_spec(with(pointer, std::move(value)));
    REQUIRE(findings.errors.size() == 1);
    return findings.errors.front().message;
  };
  CHECK(message("/resize", "restart") == "resize is not a field here; write it as run.resize");
  CHECK(message("/max_restarts", 1) == "max_restarts is not a field here; write it as limits.max_restarts");
  CHECK(message("/limits/args", json::object()) == "args is not a field here; write it as run.args");
  CHECK(message("/elastic/priority", "low") ==
        "priority is not a field here; write it as priority, outside of elastic");
  CHECK(message("/colour", 1) == "colour is not a field here");
}

TEST_CASE("a name is not of the form of an id") {
  for (const char* name : {"job-1", "job-007", "job-99999999999999999999999"}) {
    CHECK(has_finding(read_job_spec(with("/name", name)), "/name", "Invalid"));
  }
  for (const char* name : {"job-", "job", "job-1a", "a-job-1"}) {
    CHECK(read_job_spec(with("/name", name)).errors.empty());
  }
}

TEST_CASE("labels have keys as labels of nodes have, and printable values") {
  for (const json& labels : {json{{"", "x"}}, json{{"a b", "x"}}, json{{"a", "x\ny"}}, json{{"a", "\u202egnp"}},
                             json{{std::string("a\0", 2), "x"}}}) {
    INFO(labels.dump());
    CHECK(has_finding(read_job_spec(with("/labels", labels)), "/labels", "Invalid"));
  }
  CHECK(read_job_spec(with("/labels", {{"team/x", ""}, {"v", "1.2_a-B"}, {"owner", "Jane <jane@lab.org>"}}))
            .errors.empty());
  const auto findings = read_job_spec(with("/labels", {{"a", "\u202e"}}));
  CHECK(findings.errors.front().message.find("\\u202e") != std::string::npos);  // shown, not carried out
  CHECK(has_finding(read_job_spec(with("/labels", {{"a", std::string(256, 'x')}})), "/labels", "WrongType"));
  const auto number = read_job_spec(with("/labels", {{"x", 1}})).errors;
  REQUIRE(number.size() == 1);
  CHECK(number.front().message.find(R"(at most 255 bytes; quote numbers: "1", and in a shell 'labels.KEY="1"')") !=
        std::string::npos);
}

TEST_CASE("resize belongs to a command, and a restarted one leaves its ranks to the daemon") {
  const auto read = [](const char* run) { return read_job_spec({{"run", json::parse(run)}, {"resources", {}}}); };
  const auto restarted = read(R"({"command": ["train"], "resize": "restart"})");
  REQUIRE(restarted.errors.empty());
  CHECK(restarted.spec.run.restart);
  CHECK(effective_document(restarted.spec)["run"]["resize"] == "restart");
  CHECK(read_job_spec(effective_document(restarted.spec)).spec.run.restart);
  const auto plain = read(R"({"command": ["train"], "env": {"RANK": "1"}})");
  CHECK(plain.errors.empty());
  CHECK(effective_document(plain.spec)["run"]["resize"] == "live");
  CHECK(has_finding(read(R"({"trainer": "charlm", "resize": "restart"})"), "/run/resize", "Invalid"));
  CHECK(has_finding(read(R"({"command": ["train"], "resize": "restrat"})"), "/run/resize", "Invalid"));
  CHECK(has_finding(read(R"({"command": ["train"], "resize": "restart", "env": {"MASTER_PORT": "1"}})"), "/run/env",
                    "Invalid"));
}

TEST_CASE("what cannot work is refused with what to do") {
  const auto told = [](const json& document, const std::string& pointer) {
    for (const FieldError& error : read_job_spec(document).errors) {
      if (error.pointer == pointer) return error.message;
    }
    return std::string("nothing");
  };
  CHECK(told(with("/limits/max_duration", "0s"), "/limits/max_duration").find("leave it out") != std::string::npos);
  CHECK(told(with("/checkpoint/every", "0s"), "/checkpoint/every").find("1s or longer") != std::string::npos);
  CHECK(told(with("/checkpoint/every", "500ms"), "/checkpoint/every").find("1s or longer") != std::string::npos);
  CHECK(read_job_spec(with("/checkpoint/every", "1s")).errors.empty());
  CHECK(told(with("/elastic/min_runtime", "1000h"), "/elastic/min_runtime") ==
        "min_runtime is 1000h; it must be from 0s to 1d");
  CHECK(read_job_spec(with("/elastic/min_runtime", "24h")).errors.empty());
  CHECK(read_job_spec(with("/elastic/cooldown", "24h")).errors.empty());
  const json empty = {{"run", {{"command", json::array({""})}}}, {"resources", json::object()}};
  CHECK(told(empty, "/run/command").find("name the program") != std::string::npos);
}

TEST_CASE("what a worker is started with fits into the order that starts it") {
  json document = {{"run", {{"command", json::array()}}}, {"resources", json::object()}};
  for (int i = 0; i < 110; ++i) document["run"]["command"].push_back(std::string(4096, 'x'));
  CHECK(read_job_spec(document).errors.empty());
  for (int i = 0; i < 5; ++i) document["run"]["command"].push_back(std::string(4096, 'x'));
  const auto findings = read_job_spec(document);
  REQUIRE(has_finding(findings, "/run/command", "OutOfRange"));
  CHECK(findings.errors.front().message.find("at most 458752 fit") != std::string::npos);
}

TEST_CASE("the job file of the documentation is read without a finding") {
  const auto findings = read_job_spec(full_document());
  for (const auto& error : findings.errors) UNSCOPED_INFO(error.pointer << ": " << error.message);
  REQUIRE(findings.errors.empty());
  const auto& spec = findings.spec;
  CHECK(spec.elastic.sizes == std::vector<int>{1, 2, 4});
  CHECK(spec.scaling.utility_linear_zero_at == Duration::seconds(3 * 3600));
  CHECK(spec.scaling.price_cap == Money::micros(3'500'000));
  CHECK(spec.straggler_detector == "z_score");
  CHECK(spec.work_samples == 2'000'000);
  CHECK(spec.checkpoint_every == Duration::seconds(600));
  CHECK(spec.topology.pack_node);
  CHECK(spec.labels.at("project") == "demo");
}

TEST_CASE("types of slot are a name, a list, or names with speeds, and are given back as they were told") {
  const auto read = [](const char* type) {
    json document = {{"run", {{"trainer", "mlp"}, {"args", {{"data", "x.csv"}}}}}};
    document["resources"]["gpu"]["type"] = json::parse(type);
    return read_job_spec(document);
  };
  CHECK(read(R"("h100")").spec.resources.gpu_types == std::vector<std::string>{"h100"});
  CHECK(read(R"(["h100", "a100"])").spec.resources.gpu_types == std::vector<std::string>{"h100", "a100"});
  const auto told = read(R"({"v100": 0.4, "h100": 1, "a100": 0.4})");
  REQUIRE(told.errors.empty());
  CHECK(told.spec.resources.gpu_types == std::vector<std::string>{"h100", "a100", "v100"});
  CHECK(told.spec.resources.gpu_speeds.at("v100") == 0.4);
  const json document = effective_document(told.spec);
  CHECK(document["resources"]["gpu"]["type"]["a100"] == 0.4);
  CHECK_FALSE(document["resources"]["gpu"].contains("mixed"));
  CHECK(effective_document(read_job_spec(document).spec) == document);
  for (const char* wrong : {"{}", R"({"h100": 0})", R"({"h100": "fast"})", R"({"any": 1})", R"({"h100": -1})", "7",
                            R"("a\u001b[31m")", R"(["h100", "a\u007f"])", R"({"a\n": 1})"}) {
    INFO(wrong);
    CHECK_FALSE(read(wrong).errors.empty());
  }
}

TEST_CASE("a job needs nothing but what to run") {
  const auto findings = read_job_spec({{"run", {{"trainer", "mlp"}, {"args", {{"data", "x.csv"}}}}}});
  REQUIRE(findings.errors.empty());
  const auto& spec = findings.spec;
  CHECK(spec.name == "mlp");
  CHECK(spec.tenant == "default");
  CHECK(spec.elastic.sizes == std::vector<int>{1});
  CHECK(spec.elastic.cooldown == Duration::seconds(20));
  CHECK(spec.max_restarts == 3);
}

TEST_CASE("max and preferred default to min, and sizes to all between") {
  const auto findings = read_job_spec(
      {{"run", {{"trainer", "mlp"}, {"args", {{"data", "x.csv"}}}}}, {"elastic", {{"min", 2}, {"max", 4}}}});
  REQUIRE(findings.errors.empty());
  CHECK(findings.spec.elastic.preferred == 2);
  CHECK(findings.spec.elastic.sizes == std::vector<int>{2, 3, 4});
  const auto stepped = read_job_spec({{"run", {{"trainer", "mlp"}, {"args", {{"data", "x.csv"}}}}},
                                      {"elastic", {{"min", 2}, {"max", 9}, {"step", 3}}}});
  REQUIRE(stepped.errors.empty());
  CHECK(stepped.spec.elastic.sizes == std::vector<int>{2, 5, 8});
}

TEST_CASE("with groups every size is whole groups, of which the smallest is one") {
  const auto of = [](const json& elastic) {
    return read_job_spec({{"run", {{"command", json::array({"train"})}}}, {"elastic", elastic}});
  };
  const auto grouped = of({{"group", 4}, {"max", 12}});
  REQUIRE(grouped.errors.empty());
  CHECK(grouped.spec.elastic.group == 4);
  CHECK(grouped.spec.elastic.min == 4);
  CHECK(grouped.spec.elastic.sizes == std::vector<int>{4, 8, 12});
  CHECK(effective_document(grouped.spec).at("elastic").at("group") == 4);
  CHECK(of({{"group", 2}, {"max", 10}, {"step", 4}}).spec.elastic.sizes == std::vector<int>{2, 6, 10});
  CHECK(of({{"group", 2}, {"max", 8}, {"sizes", {2, 8}}}).errors.empty());
  const auto plain = of({{"min", 3}, {"max", 5}});
  CHECK(plain.spec.elastic.sizes == std::vector<int>{3, 4, 5});
  CHECK_FALSE(effective_document(plain.spec).at("elastic").contains("group"));
}

TEST_CASE("a size that is not whole groups is refused at its field, with the size of a group") {
  const auto refused = [](const json& elastic, const char* pointer) {
    const auto findings = read_job_spec({{"run", {{"command", json::array({"train"})}}}, {"elastic", elastic}});
    INFO(elastic.dump());
    REQUIRE(findings.errors.size() == 1);
    CHECK(findings.errors[0].pointer == pointer);
    CHECK(findings.errors[0].code == "Invalid");
    CHECK(findings.errors[0].message.find("must be a multiple of group, which is 4") != std::string::npos);
  };
  refused({{"group", 4}, {"min", 2}, {"max", 8}, {"preferred", 4}}, "/elastic/min");
  refused({{"group", 4}, {"max", 10}}, "/elastic/max");
  refused({{"group", 4}, {"max", 12}, {"preferred", 6}}, "/elastic/preferred");
  refused({{"group", 4}, {"max", 12}, {"step", 2}}, "/elastic/step");
  refused({{"group", 4}, {"max", 12}, {"sizes", {4, 6, 12}}}, "/elastic/sizes");
  const auto none = read_job_spec({{"run", {{"command", json::array({"train"})}}}, {"elastic", {{"group", 0}}}});
  CHECK(has_finding(none, "/elastic/group", "OutOfRange"));
}

TEST_CASE("groups are brought together, so a strategy that keeps workers apart is refused beside them") {
  for (const char* strategy : {"spread", "strict_spread"}) {
    const auto findings = read_job_spec({{"run", {{"command", json::array({"train"})}}},
                                         {"elastic", {{"group", 2}, {"max", 4}}},
                                         {"topology", {{"strategy", strategy}}}});
    CHECK(has_finding(findings, "/topology/strategy", "Invalid"));
  }
  const auto packed = read_job_spec({{"run", {{"command", json::array({"train"})}}},
                                     {"elastic", {{"group", 2}, {"max", 4}}},
                                     {"topology", {{"strategy", "strict_pack"}, {"key", "rack"}}}});
  CHECK(packed.errors.empty());
}

TEST_CASE("the effective document reads back as the same spec and the same document") {
  const auto once = read_job_spec(full_document());
  const json document = effective_document(once.spec);
  const auto twice = read_job_spec(document);
  for (const auto& error : twice.errors) UNSCOPED_INFO(error.pointer << ": " << error.message);
  REQUIRE(twice.errors.empty());
  CHECK(effective_document(twice.spec) == document);

  for (
      const char* other :
      {R"({"run": {"command": ["python3", "train.py"], "workdir": "/data"}})",
       R"({"run": {"trainer": "mlp", "args": {"data": "x.csv"}}, "elastic": {"min": 1, "max": 7, "step": 2}})",
       R"({"run": {"trainer": "mlp", "args": {"data": "x.csv"}}, "elastic": {"max": 8, "group": 2}})",
       R"({"run": {"trainer": "mlp", "args": {"data": "x.csv"}}, "scaling": {"utility": {"piecewise": [["0s", 9], ["1h", 2]]}}})",
       R"({"run": {"trainer": "mlp", "args": {"data": "x.csv"}}, "scaling": {"utility": {"piecewise": [["0s", 1e12], ["1h", -1e12]]}}})"}) {
    const auto first = read_job_spec(json::parse(other));
    REQUIRE(first.errors.empty());
    const auto again = read_job_spec(effective_document(first.spec));
    REQUIRE(again.errors.empty());
    CHECK(effective_document(again.spec) == effective_document(first.spec));
  }
}

TEST_CASE("an unknown field is a finding that names the nearest known one") {
  json document = full_document();
  document["elastc"] = document["elastic"];
  document["elastic"]["minn"] = 3;
  const auto findings = read_job_spec(document);
  REQUIRE(findings.errors.size() == 2);
  CHECK(has_finding(findings, "/elastc", "UnknownField"));
  CHECK(has_finding(findings, "/elastic/minn", "UnknownField"));
  CHECK(findings.errors[0].message.find("did you mean \"min\"?") != std::string::npos);
}

TEST_CASE("a command that is one line is answered with the list that it would be") {
  const auto said = [](const char* line) {
    json document = {{"run", {{"command", line}}}};
    const auto findings = read_job_spec(document);
    REQUIRE_FALSE(findings.errors.empty());
    return findings.errors.front().message;
  };
  CHECK(said("python3 train.py --epochs 5") ==
        R"(command must be a list of 1 to 256 texts, such as ["python3","train.py","--epochs","5"])");
  CHECK(said("sh -c 'a b'") == "command must be a list of 1 to 256 texts");
  CHECK(said("") == "command must be a list of 1 to 256 texts");
}

TEST_CASE("a maximal global batch belongs to a batch that follows the size, and is no smaller than it") {
  const auto read = [](const json& batch) {
    json document = full_document();
    document["batch"] = batch;
    return read_job_spec(document);
  };
  const auto fits = read({{"global", 512}, {"on_resize", "fixed_local"}, {"global_max", 2'048}});
  CHECK(fits.errors.empty());
  CHECK(fits.spec.batch.global_max == 2'048);
  CHECK(effective_document(fits.spec).at("batch").at("global_max") == 2'048);
  CHECK(effective_document(read({{"on_resize", "linear"}}).spec).at("batch").at("global_max").is_null());
  const auto finds = [&](const json& batch, const char* code) {
    return has_finding(read(batch), "/batch/global_max", code);
  };
  CHECK(finds({{"on_resize", "fixed_local"}}, "Missing"));
  CHECK(finds({{"global_max", 2'048}}, "Invalid"));
  CHECK(finds({{"on_resize", "callback"}, {"global_max", 2'048}}, "Invalid"));
  CHECK(finds({{"global", 512}, {"on_resize", "sqrt"}, {"global_max", 511}}, "OutOfRange"));
}

TEST_CASE("all findings come at once, none hidden by another") {
  json document = full_document();
  document["name"] = "Not A Name";
  document["elastic"]["min"] = 8;
  document["batch"]["on_resize"] = "linaer";
  document["scaling"]["every_steps"] = 0;
  document["limits"]["max_duration"] = "soon";
  const auto findings = read_job_spec(document);
  CHECK(has_finding(findings, "/name", "Invalid"));
  CHECK(has_finding(findings, "/elastic/min", "OutOfRange"));
  CHECK(has_finding(findings, "/batch/on_resize", "Invalid"));
  CHECK(has_finding(findings, "/scaling/every_steps", "OutOfRange"));
  CHECK(has_finding(findings, "/limits/max_duration", "Invalid"));
  CHECK(findings.errors.size() == 5);
}

struct RuleCase {
  const char* set;  // this field
  json value;       // to this value
  const char* pointer;
  const char* code;
};

void check_cases(const std::vector<RuleCase>& cases) {
  for (const auto& entry : cases) {
    const auto findings = read_job_spec(with(entry.set, entry.value));
    INFO(entry.set << " = " << entry.value.dump());
    for (const auto& error : findings.errors)
      UNSCOPED_INFO("found " << error.pointer << " " << error.code << ": " << error.message);
    CHECK(has_finding(findings, entry.pointer, entry.code));
  }
}

TEST_CASE("each rule of the job file is held, with the pointer of the field") {
  const std::vector<RuleCase> cases = {
      {"/elastic/min", 5, "/elastic/min", "OutOfRange"},
      {"/elastic/min", 0, "/elastic/min", "OutOfRange"},
      {"/elastic/min", 1.5, "/elastic/min", "WrongType"},
      {"/elastic/max", 5000, "/elastic/max", "OutOfRange"},
      {"/elastic/preferred", 5, "/elastic/preferred", "OutOfRange"},
      {"/elastic/preferred", 3, "/elastic/preferred", "Invalid"},
      {"/elastic/sizes", {1, 4, 2}, "/elastic/sizes", "Invalid"},
      {"/elastic/sizes", {1, 1, 2}, "/elastic/sizes", "Invalid"},
      {"/elastic/sizes", {2, 4}, "/elastic/sizes", "Invalid"},
      {"/elastic/sizes", {1, 2, 8}, "/elastic/sizes", "OutOfRange"},
      {"/elastic/sizes", "all", "/elastic/sizes", "WrongType"},
      {"/elastic/step", 1, "/elastic/step", "Invalid"},
      {"/elastic/grace", 30, "/elastic/grace", "WrongType"},
      {"/elastic/grace", "25h", "/elastic/grace", "OutOfRange"},
      {"/elastic/min_runtime", "25h", "/elastic/min_runtime", "OutOfRange"},
      {"/elastic/cooldown", "1000h", "/elastic/cooldown", "OutOfRange"},
      {"/batch/global", 3, "/batch/global", "OutOfRange"},
      {"/batch/per_worker_max", 0, "/batch/per_worker_max", "OutOfRange"},
      {"/run/trainer", "charml", "/run/trainer", "Invalid"},
      {"/run/command", json::array({"true"}), "/run/command", "Invalid"},
      {"/run/command", json::array(), "/run/command", "WrongType"},
      {"/run/env/LD_PRELOAD", "x.so", "/run/env", "Invalid"},
      {"/run/env/PATH", "/bin", "/run/env", "Invalid"},
      {"/run/env/TIDEPOOL_JOB", "job-1", "/run/env", "Invalid"},
      {"/run/env/lower", "x", "/run/env", "Invalid"},
      {"/run/env/NUMBER", 1, "/run/env", "WrongType"},
      {"/run/workdir", "relative", "/run/workdir", "Invalid"},
      {"/run/args/nested", json::object(), "/run/args", "WrongType"},
      {"/run/args/nested", json::array({1, json::array({2})}), "/run/args", "WrongType"},
      {"/resources/gpus_per_worker", 65, "/resources/gpus_per_worker", "OutOfRange"},
      {"/resources/gpu/type", 7, "/resources/gpu/type", "WrongType"},
      {"/resources/gpu/type", "", "/resources/gpu/type", "Invalid"},
      {"/resources/gpu/type", json::array({"h100", ""}), "/resources/gpu/type", "Invalid"},
      {"/scaling/efficiency_threshold", 1.5, "/scaling/efficiency_threshold", "OutOfRange"},
      {"/straggler/detector", 3, "/straggler/detector", "WrongType"},
      {"/priority", "urgent", "/priority", "Invalid"},
      {"/priority", 1001, "/priority", "OutOfRange"},
      {"/preemptible", "yes", "/preemptible", "WrongType"},
      {"/resources/cpus", 0, "/resources/cpus", "OutOfRange"},
      {"/resources/cpus", "all", "/resources/cpus", "WrongType"},
      {"/resources/memory", 64, "/resources/memory", "WrongType"},
      {"/resources/memory", "64", "/resources/memory", "Invalid"},
      {"/resources/memory", "0MiB", "/resources/memory", "Invalid"},
      {"/resources/memory", "1025TiB", "/resources/memory", "Invalid"},
      {"/budget", {{"ref", "demo-monthly"}, {"on_exhaust", "shrink"}}, "/budget", "NotBuilt"},
      {"/budget", json::object(), "/budget", "NotBuilt"},
      {"/topology/pack", "rack", "/topology/pack", "Invalid"},
      {"/work/samples", 0, "/work/samples", "OutOfRange"},
      {"/tenant", "a//b", "/tenant", "Invalid"},
      {"/name", std::string(64, 'a'), "/name", "Invalid"},
      {"/labels", {{"n", 1}}, "/labels", "WrongType"},
  };
  check_cases(cases);
}

TEST_CASE("each rule of prices and utilities is held, with the pointer of the field") {
  check_cases({
      {"/scaling/price_cap", "a lot", "/scaling/price_cap", "Invalid"},
      {"/scaling/price_cap", -1, "/scaling/price_cap", "Invalid"},
      {"/scaling/utility/linear/zero_at", "0s", "/scaling/utility/linear/zero_at", "OutOfRange"},
      {"/scaling/utility/linear", {{"value", 1}}, "/scaling/utility/linear/zero_at", "Missing"},
      {"/scaling/utility", {{"piecewise", {{"0s", 1}}}}, "/scaling/utility/piecewise", "WrongType"},
      {"/scaling/utility",
       {{"piecewise", json::array({json::array({"0s", 1}), json::array({"1h", 1})})}},
       "/scaling/utility/piecewise",
       "Invalid"},
      {"/scaling/utility/piecewise", json::array({json::array({"0s", 2}), json::array({"1h", 1})}),
       "/scaling/utility/piecewise", "Invalid"},
      {"/scaling/utility",
       {{"piecewise", json::array({json::array({"0s", 1e308}), json::array({"1s", -1e308})})}},
       "/scaling/utility/piecewise",
       "OutOfRange"},
      {"/scaling/utility",
       {{"piecewise", json::array({json::array({"0s", 1}), json::array({"87600h", -1.1e12})})}},
       "/scaling/utility/piecewise",
       "OutOfRange"},
      {"/scaling/utility/linear/value", 1.1e12, "/scaling/utility/linear/value", "OutOfRange"},
  });
}

TEST_CASE("a setting that its trainer cannot have is refused, with its pointer") {
  check_cases({
      {"/run/args/steps", 0, "/run/args/steps", "OutOfRange"},
      {"/run/args/steps", "many", "/run/args/steps", "WrongType"},
      {"/run/args/data", nullptr, "/run/args", "WrongType"},
      {"/run/args/data", " ", "/run/args/data", "WrongType"},
      {"/run/args/data", json::array({1}), "/run/args/data", "WrongType"},
      {"/run/args", json::object(), "/run/args/data", "Missing"},
      {"/run/args/stpes", 5, "/run/args/stpes", "UnknownField"},
      {"/run/args/label", "class", "/run/args/label", "UnknownField"},
      {"/run/args/lr", 0, "/run/args/lr", "OutOfRange"},
      {"/run/args/momentum", 1, "/run/args/momentum", "OutOfRange"},
      {"/run/args/device", "tpu", "/run/args/device", "Invalid"},
      {"/run/args/slow_worker", "rank 2", "/run/args/slow_worker", "Invalid"},
  });
}

TEST_CASE("the settings of a trainer are checked by its own table") {
  json document = full_document();
  document["run"]["args"] = {{"data", "a.csv, b.csv"}, {"label", "class"}, {"seed", 7}, {"slow_worker", "w-2"}};
  document["run"]["trainer"] = "mlp";
  CHECK(read_job_spec(document).errors.empty());
  document["run"]["args"]["context"] = 4;  // of charlm
  const auto findings = read_job_spec(document);
  REQUIRE(findings.errors.size() == 1);
  CHECK(findings.errors[0].pointer == "/run/args/context");
  document["run"]["trainer"] = "other";  // whose settings nothing is known of
  CHECK(read_job_spec(document).errors.size() == 1);
}

TEST_CASE("each rule of a selector is held, with the pointer of the label") {
  const std::vector<RuleCase> cases = {
      {"/placement", "r1", "/placement", "WrongType"},
      {"/placement", {{"selectors", json::object()}}, "/placement/selectors", "UnknownField"},
      {"/placement", {{"selector", "r1"}}, "/placement/selector", "WrongType"},
      {"/placement", {{"selector", {{"rack", json::array()}}}}, "/placement/selector/rack", "OutOfRange"},
      {"/placement", {{"selector", {{"rack", 1}}}}, "/placement/selector/rack", "Invalid"},
      {"/placement", {{"selector", {{"rack", "r 1"}}}}, "/placement/selector/rack", "Invalid"},
      {"/placement", {{"selector", {{"a rack", "r1"}}}}, "/placement/selector/a rack", "Invalid"},
      {"/placement", {{"selector", {{"node", ""}}}}, "/placement/selector/node", "Invalid"},
  };
  check_cases(cases);
}

TEST_CASE("each rule of how workers lie is held, with the pointer of the field") {
  const std::vector<RuleCase> cases = {
      {"/topology", "pack", "/topology", "WrongType"},
      {"/topology", {{"strategy", "packed"}}, "/topology/strategy", "Invalid"},
      {"/topology", {{"strategy", "strict_pack"}, {"key", "a rack"}}, "/topology/key", "Invalid"},
      {"/topology", {{"strategy", "spread"}, {"key", ""}}, "/topology/key", "Invalid"},
      {"/topology", {{"strategy", "spread"}, {"key", 1}}, "/topology/key", "WrongType"},
      {"/topology", {{"strategy", "spread"}, {"pack", "node"}}, "/topology/pack", "Invalid"},
      {"/topology", {{"strategies", "spread"}}, "/topology/strategies", "UnknownField"},
      {"/placement", {{"exclusive", "yes"}}, "/placement/exclusive", "WrongType"},
  };
  check_cases(cases);
}

TEST_CASE("strategy, key and exclusive are echoed where they are asked for, and not told otherwise") {
  const auto effective = [](const json& topology, const json& placement) {
    const auto findings = read_job_spec({{"run", {{"trainer", "mlp"}, {"args", {{"data", "x.csv"}}}}},
                                         {"topology", topology},
                                         {"placement", placement}});
    REQUIRE(findings.errors.empty());
    return effective_document(findings.spec);
  };
  CHECK(effective(nullptr, nullptr).at("topology") == json{{"pack", "none"}});
  CHECK(effective({{"strategy", "pack"}}, {{"exclusive", false}}).at("topology") == json{{"pack", "none"}});
  CHECK_FALSE(effective(nullptr, {{"exclusive", false}}).contains("placement"));
  CHECK(effective({{"key", "rack"}}, nullptr).at("topology") ==
        json{{"pack", "none"}, {"strategy", "pack"}, {"key", "rack"}});
  CHECK(effective({{"strategy", "strict_spread"}}, nullptr).at("topology") ==
        json{{"pack", "none"}, {"strategy", "strict_spread"}, {"key", "node"}});
  CHECK(effective(nullptr, {{"exclusive", true}}).at("placement") == json{{"exclusive", true}});
}

TEST_CASE("a selector takes a value or a list of them, and is echoed as lists") {
  const auto findings =
      read_job_spec(with("/placement", {{"selector", {{"rack", "r1"}, {"slot_type", {"NVIDIA H200", "cpu"}}}}}));
  REQUIRE(findings.errors.empty());
  CHECK(findings.spec.placement.selector.at("rack") == std::vector<std::string>{"r1"});
  const json echo = effective_document(findings.spec);
  CHECK(echo.at("placement").at("selector").at("slot_type") == json::array({"NVIDIA H200", "cpu"}));
  CHECK(read_job_spec(echo).spec.placement.selector == findings.spec.placement.selector);
}

TEST_CASE("a budget is refused beside every other finding, and is in no job file that the daemon gives back") {
  json document = full_document();
  document["budget"] = {{"ref", "demo-monthly"}, {"on_exhaust", "shrink"}};
  document["priority"] = "urgent";
  const auto findings = read_job_spec(document);
  REQUIRE(findings.errors.size() == 2);
  CHECK(has_finding(findings, "/budget", "NotBuilt"));
  CHECK(findings.errors.back().message == "budget is not supported; remove it");
  CHECK_FALSE(effective_document(read_job_spec(full_document()).spec).contains("budget"));
}

TEST_CASE("a worker asks for CPUs of its own only where the job file says so") {
  const auto asks = read_job_spec(with("/resources/cpus", 3));
  REQUIRE(asks.errors.empty());
  CHECK(asks.spec.resources.cpus == 3);
  CHECK(effective_document(asks.spec)["resources"]["cpus"] == 3);
  const auto silent = read_job_spec({{"run", {{"trainer", "mlp"}, {"args", {{"data", "x.csv"}}}}}});
  CHECK_FALSE(silent.spec.resources.cpus);
  CHECK(effective_document(silent.spec)["resources"]["cpus"].is_null());
}

TEST_CASE("a worker's memory is a size, echoed where it is asked for and not told otherwise") {
  const auto asks = read_job_spec(with("/resources/memory", "65536MiB"));
  REQUIRE(asks.errors.empty());
  CHECK(asks.spec.resources.memory == std::int64_t{64} << 30U);
  CHECK(effective_document(asks.spec)["resources"]["memory"] == "64GiB");
  CHECK(read_job_spec(effective_document(asks.spec)).spec.resources.memory == asks.spec.resources.memory);
  const auto silent = read_job_spec(with("/resources/memory", nullptr));
  REQUIRE(silent.errors.empty());
  CHECK_FALSE(silent.spec.resources.memory);
  CHECK_FALSE(effective_document(silent.spec)["resources"].contains("memory"));
}

TEST_CASE("a deadline is a time after submission, and needs to know how much work there is") {
  const auto due = read_job_spec(with("/work", {{"samples", 2'000'000}, {"deadline", "90m"}}));
  REQUIRE(due.errors.empty());
  CHECK(due.spec.deadline == Duration::seconds(5'400));
  CHECK(effective_document(due.spec)["work"]["deadline"] == "90m");
  CHECK(read_job_spec(effective_document(due.spec)).spec.deadline == due.spec.deadline);
  CHECK_FALSE(read_job_spec(full_document()).spec.deadline);
  CHECK(has_finding(read_job_spec(with("/work", {{"deadline", "90m"}})), "/work/deadline", "Invalid"));
  CHECK(has_finding(read_job_spec(with("/work", {{"samples", 1}, {"deadline", 90}})), "/work/deadline", "WrongType"));
}

TEST_CASE("priority is a word or a number") {
  CHECK(read_job_spec(with("/priority", "high")).spec.priority == 10);
  CHECK(read_job_spec(with("/priority", "low")).spec.priority == -10);
  CHECK(read_job_spec(with("/priority", -7)).spec.priority == -7);
}

TEST_CASE("what is no object, or says nothing to run, is one clear finding") {
  CHECK(read_job_spec(json::array()).errors.size() == 1);
  const auto empty = read_job_spec(json::object());
  REQUIRE(empty.errors.size() == 1);
  CHECK(empty.errors[0].pointer == "/run");
  CHECK(empty.errors[0].code == "Missing");
  const auto neither = read_job_spec({{"run", json::object()}});
  CHECK(has_finding(neither, "/run/trainer", "Missing"));
}

}  // namespace
}  // namespace tidepool::api::v1
