#include "schedctl/summary.hpp"

#include "tests/unit/ctl/examples.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

SummaryFacts finished() {
  SummaryFacts facts{.job = example("job.json"),
                     .metrics = example("job_metrics.json"),
                     .kept_size = 2,
                     .kept_why = "keeps 2 workers: a third would add too little"};
  facts.job["state"] = "succeeded";
  facts.job["progress"]["samples"] = 200'000;
  facts.job["sizes"].push_back(
      {{"size", 4}, {"steps", 40}, {"step_ms", 51.2}, {"samples_per_second", 10'000.0}, {"efficiency", 0.05}});
  facts.job["cost"] = {{"amount", "0.0100"}, {"currency", "USD"}, {"slot_seconds", 40.0}};
  return facts;
}

TEST_CASE("staying at the maximum is priced by the throughput measured there") {
  const auto maximum = compare_with_maximum(finished());
  REQUIRE(maximum);
  CHECK(maximum->measured);
  CHECK(maximum->seconds == Approx(20));         // 200,000 samples at 10,000/s
  CHECK(maximum->slot_seconds == Approx(80));    // 4 workers
  CHECK(maximum->cost.value() == Approx(0.02));  // twice the slot-seconds of the job
}

TEST_CASE("an error is told once, and a loss that a job has outlived is none") {
  SummaryFacts facts = finished();
  facts.job["error"] = "w-2 exited with code 3";
  CHECK(summary_text(facts, {}).find("\nLast loss: w-2 exited with code 3\n") != std::string::npos);
  facts.job["state"] = "failed";
  CHECK(summary_text(facts, {}).find("\nError: w-2 exited with code 3\n") != std::string::npos);
  facts.error_told = true;  // by "failed: w-2 exited with code 3" above it
  CHECK(summary_text(facts, {}).find("w-2") == std::string::npos);
}

TEST_CASE("workers of several slots count each slot") {
  SummaryFacts facts = finished();
  facts.job["spec"] = {{"resources", {{"gpus_per_worker", 2}}}};
  CHECK(compare_with_maximum(facts)->slot_seconds == Approx(160));
}

TEST_CASE("an untried maximum is taken from the curve, and nothing is invented without one") {
  SummaryFacts facts = finished();
  facts.job["sizes"].erase(2);
  CHECK_FALSE(compare_with_maximum(facts));
  CHECK(summary_text(facts, {}).find("Nothing was measured") != std::string::npos);
  facts.metrics["fit"]["curve"].push_back({{"size", 4}, {"samples_per_second", 8000.0}});
  const auto maximum = compare_with_maximum(facts);
  REQUIRE(maximum);
  CHECK_FALSE(maximum->measured);
  CHECK(maximum->seconds == Approx(25));
  facts.metrics = nullptr;
  CHECK_FALSE(compare_with_maximum(facts));
}

TEST_CASE("a job that had its largest size throughout is compared with nothing") {
  SummaryFacts facts = finished();
  const json largest = facts.job["sizes"].back();
  facts.job["sizes"] = json::array({largest});
  CHECK(summary_text(facts, {}).find("all the time") == std::string::npos);
  CHECK(summary_text(facts, {}).find("Held 40.0 slot-seconds, 0.0100 USD.\n") != std::string::npos);
  facts = finished();
  facts.job["min"] = facts.job["max"];
  CHECK(summary_text(facts, {}).find("all the time") == std::string::npos);
}

TEST_CASE("the summary tells loss, sizes, the kept one and the cost") {
  const std::string text = summary_text(finished(), {.width = 80});
  INFO(text);
  CHECK(widest_line(text) <= 80);
  CHECK(text.find("charlm-demo succeeded\nLoss 4.52 -> 2.31, down 49 % in 120 steps, 200,000 samples\n") == 0);
  CHECK(text.find("62 %  <- kept\n") != std::string::npos);
  CHECK(text.find("Kept 2 workers: a third would add too little\n") != std::string::npos);
  SummaryFacts pinned = finished();
  pinned.kept_why = "going 1 -> 2, as requested";
  CHECK(summary_text(pinned, {.width = 80}).find("Kept 2 workers: as requested\n") != std::string::npos);
  CHECK(text.find("Held 40.0 slot-seconds, 0.0100 USD.") != std::string::npos);
  CHECK(summary_text(finished(), {.width = 300}).find("0.0200 USD; the job used 50 % less.") != std::string::npos);
}

TEST_CASE("the audits of the data are summed up, and a broken one is not hidden") {
  SummaryFacts facts = finished();
  CHECK(summary_text(facts, {}).find("audited") == std::string::npos);
  facts.epochs_sound = 3;
  CHECK(summary_text(facts, {}).find("3 epochs audited: each sample was used exactly once\n") != std::string::npos);
  facts.epochs_broken = 1;
  CHECK(summary_text(facts, {}).find("4 epochs audited: in 1 of them samples were lost or used twice") !=
        std::string::npos);
}

TEST_CASE("a job that paid more than the maximum is told so") {
  SummaryFacts facts = finished();
  facts.job["cost"]["slot_seconds"] = 100.0;
  CHECK(summary_text(facts, {.width = 200}).find("the job used 25 % more.") != std::string::npos);
}

TEST_CASE("a failed job's summary names the error and invents no loss") {
  SummaryFacts facts;
  facts.job = {{"name", "x"}, {"state", "failed"}, {"error", "no such file"}, {"progress", json::object()}};
  const std::string text = summary_text(facts, {});
  CHECK(text.find("x failed\nError: no such file\nLoss: none was reported\n") == 0);
  CHECK(text.find("Kept") == std::string::npos);
  CHECK(text.find("maximum") == std::string::npos);
}

}  // namespace
}  // namespace tidepool::ctl
