// A job's file in the answers about it.
#include <catch2/catch.hpp>

#include "base/json.hpp"
#include "schedulerd/leader/job_change.hpp"
#include "schedulerd/leader/job_file.hpp"
#include "schedulerd/live/http/render.hpp"
#include "tests/support/no_history.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

core::Job job_with(std::uint64_t id, const json& file) {
  auto findings = api::v1::read_job_spec(file);
  REQUIRE(findings.errors.empty());
  core::Job job;
  job.id = JobId(id);
  job.spec = leader::to_core(findings.spec);
  return job;
}

json file_of(const std::string& name) {
  return {{"name", name},
          {"run", {{"trainer", "charlm"}, {"args", {{"data", "x"}, {"steps", 400}, {"lr", 1.0e-7}}}}},
          {"labels", {{"quote", "\"\\ /"}, {"empty", ""}}},
          {"elastic", {{"min", 1}, {"max", 4}}}};
}

TEST_CASE("an answer with a job's file put in as text is the answer with the file as a field") {
  const Published seen;
  const Caller caller;
  test::NoHistory past;
  for (const json& file : {file_of("a-job"), json{{"run", {{"trainer", "mlp"}, {"args", {{"data", "x.csv"}}}}}}}) {
    const core::Job job = job_with(7, file);
    const json rendered = render_job({seen, caller, past}, job, "USD");
    const std::string text = job_text(rendered, leader::file_text(job));
    json whole = rendered;
    whole["spec"] = leader::job_document(job.spec);
    CHECK(text == canonical_json(whole));
    const auto parsed = parse_json(text);
    REQUIRE(parsed);
    CHECK(*parsed == whole);
    CHECK(parsed->at("labels") == file.value("labels", json::object()));
    CHECK(parsed->at("progress").at("steps_total") == (file.contains("labels") ? json(400) : json(nullptr)));
  }
}

TEST_CASE("a saved state is told with its node's name, as long as the node is known") {
  Published seen;
  const Caller caller;
  test::NoHistory past;
  core::Job job = job_with(7, file_of("a-job"));
  job.recovery.checkpoint = core::SavedState{.step = 100, .node = NodeId(1), .at = {}, .origin = {}};
  const auto saved = [&] { return render_job({seen, caller, past}, job, "USD").at("saved_state"); };
  CHECK(saved().at("node") == "node-1");
  CHECK(saved().at("node_name").is_null());
  core::Node node;
  node.id = NodeId(1);
  node.name = "n1";
  seen.state.nodes.emplace(node.id, node);
  CHECK(saved().at("node") == "node-1");
  CHECK(saved().at("node_name") == "n1");
}

TEST_CASE("the file stands in its place, whatever names are before or behind it") {
  const std::string document = R"({"a":1})";
  CHECK(job_text({{"name", "x"}, {"state", "y"}}, document) == R"({"name":"x","spec":{"a":1},"state":"y"})");
  CHECK(job_text({{"name", "x"}}, document) == R"({"name":"x","spec":{"a":1}})");
  CHECK(job_text({{"state", "y"}}, document) == R"({"spec":{"a":1},"state":"y"})");
  CHECK(job_text(json::object(), document) == R"({"spec":{"a":1}})");
}

}  // namespace
}  // namespace tidepool::live::http
