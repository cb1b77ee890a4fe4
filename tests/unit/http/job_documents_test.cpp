// A job's file in the answers about it: the same text as if it were read for each, but read once.
#include "schedulerd/live/http/job_documents.hpp"

#include <catch2/catch.hpp>

#include "base/json.hpp"
#include "schedulerd/live/http/render.hpp"
#include "schedulerd/live/http/translate.hpp"
#include "tests/support/no_history.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

core::Job job_with(std::uint64_t id, const json& file) {
  auto findings = api::v1::read_job_spec(file);
  REQUIRE(findings.errors.empty());
  core::Job job;
  job.id = JobId(id);
  job.spec = to_core(findings.spec);
  return job;
}

json file_of(const std::string& name) {
  return {{"name", name},
          {"run", {{"trainer", "charlm"}, {"args", {{"steps", 400}, {"learning_rate", 1.0e-7}}}}},
          {"labels", {{"quote", "\"\\ \n"}, {"ünï", "\u2028 is a line"}}},
          {"elastic", {{"min", 1}, {"max", 4}}}};
}

TEST_CASE("an answer with a job's file put in as text is what it was with the file read and written anew") {
  const Published seen;
  const Caller caller;
  test::NoHistory past;
  for (const json& file : {file_of("a-job"), json{{"run", {{"trainer", "mlp"}}}}}) {
    const core::Job job = job_with(7, file);
    const JobDocument document = read_document(job.spec);
    const json rendered = render_job({seen, caller, past}, job, document, "USD");
    const std::string text = job_text(rendered, document);
    json whole = rendered;
    whole["spec"] = json::parse(job.spec.document);
    CHECK(text == canonical_json(whole));
    const auto parsed = parse_json(text);
    REQUIRE(parsed);
    CHECK(*parsed == whole);
    CHECK(parsed->at("labels") == whole.at("spec").value("labels", json::object()));
  }
}

TEST_CASE("the file stands in its place, whatever names are before or behind it") {
  const JobDocument document{.text = R"({"a":1})"};
  CHECK(job_text({{"name", "x"}, {"state", "y"}}, document) == R"({"name":"x","spec":{"a":1},"state":"y"})");
  CHECK(job_text({{"name", "x"}}, document) == R"({"name":"x","spec":{"a":1}})");
  CHECK(job_text({{"state", "y"}}, document) == R"({"spec":{"a":1},"state":"y"})");
  CHECK(job_text(json::object(), document) == R"({"spec":{"a":1}})");
}

TEST_CASE("a file that cannot be read is shown as an empty one") {
  core::JobSpec spec;
  spec.document = "{not JSON";
  CHECK(read_document(spec).text == "{}");
  CHECK(read_document(spec).labels == json::object());
  CHECK(read_document(spec).steps_total.is_null());
}

TEST_CASE("a job's file is read once, and again when the job has another one") {
  JobDocuments documents;
  core::Job job = job_with(7, file_of("a-job"));
  const auto first = documents.of(job);
  CHECK(first->steps_total == 400);
  job.progress.step = 10;  // all but the file may change
  CHECK(documents.of(core::Job(job)) == first);
  CHECK(documents.readings() == 1);
  json other = file_of("a-job");
  other["run"]["args"]["steps"] = 500;
  CHECK(documents.of(job_with(7, other))->steps_total == 500);
  CHECK(documents.of(job_with(8, file_of("a-job")))->steps_total == 400);
  CHECK(documents.readings() == 3);
  CHECK(first->steps_total == 400);  // whoever holds it may go on reading
}

TEST_CASE("a list has labels and steps of every file, and reads only those that have some") {
  JobDocuments documents;
  const json plain = {{"name", "plain"},
                      {"run", {{"trainer", "mlp"}, {"args", {{"data", R"("labels":{"x" "steps":)"}}}}}};
  CHECK(documents.listed(job_with(1, plain))->labels == json::object());
  CHECK(documents.listed(job_with(1, plain))->steps_total.is_null());
  CHECK(documents.readings() == 0);
  json labelled = plain;
  labelled["labels"] = {{"team", "a"}};
  CHECK(documents.listed(job_with(2, labelled))->labels == labelled.at("labels"));
  CHECK(documents.listed(job_with(3, file_of("steps")))->steps_total == 400);
}

TEST_CASE("beyond the limit the files of the oldest jobs are not kept") {
  const core::Job old = job_with(1, file_of("old"));
  const core::Job young = job_with(2, file_of("young"));
  const std::size_t one = 2 * old.spec.document.size() + sizeof(JobDocument);
  JobDocuments documents(one + one / 2);
  for (int round = 0; round < 3; ++round) {
    CHECK(documents.of(young)->text == young.spec.document);
    CHECK(documents.of(old)->text == old.spec.document);
  }
  CHECK(documents.readings() == 1 + 3);  // the young one's was kept
}

}  // namespace
}  // namespace tidepool::live::http
