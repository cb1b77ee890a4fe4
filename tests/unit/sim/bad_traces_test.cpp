// What other schedulers wrote and cannot be read as a trace: told with its place, and never taken for something else.
#include <catch2/catch.hpp>

#include <string>

#include "studies/traces/importers.hpp"

namespace tidepool::sim {
namespace {

std::string reading_error(const Result<Trace>& trace) {
  return trace.ok() ? "none" : trace.error().message;
}

}  // namespace

TEST_CASE("GPUs in Slurm's accounting that are counted by no whole number are an error, and no job without GPUs") {
  for (const std::string wrong : {"gres/gpu=four", "gres/gpu=-4", "gres/gpu:a100=99999999999", "gres/gpu=1e3"}) {
    CAPTURE(wrong);
    const std::string log =
        "JobID|Submit|Start|End|State|AllocTRES\n7|2024-01-01T00:00:00|2024-01-01T00:01:00|2024-01-01T00:02:00|"
        "COMPLETED|" +
        wrong + "\n";
    CHECK(reading_error(import_sacct({.text = log, .file = "log"})) ==
          "log line 2: the GPUs of \"" + wrong + "\" should be counted by a whole number from 0 to 100000");
  }
}

TEST_CASE("a size in a journal that is none is an error with its line") {
  const std::string submitted =
      R"json({"at": "2026-01-01T00:00:00Z", "type": "job.submitted", "job": "job-1", "data": )json";
  const std::string switched =
      R"json({"at": "2026-01-01T00:01:00Z", "type": "generation.switched", "job": "job-1", "data": )json";
  const auto refusal = [](const std::string& events) {
    return reading_error(import_journal({.text = events, .file = "log"}));
  };
  CHECK(refusal(submitted + "{\"preferred\": 5000000000}}\n") ==
        "log line 1: `preferred` should be a whole number from 0 to 100000");
  CHECK(refusal(submitted + "{}}\n" + switched + "{\"to_size\": -2}}\n") ==
        "log line 2: `to_size` should be a whole number from 0 to 100000");
}

TEST_CASE("a table of Gavel's speeds that cannot be read is not taken for one that was not given") {
  TraceText input{.text = "LM\tpython\tdir\t--steps\t1\t240\t2\t1\t-1\t50\n", .file = "t.trace"};
  CHECK(reading_error(import_gavel(input)).find("give --speeds") != std::string::npos);
  input.speeds = "{\"v100\": ";
  CHECK(reading_error(import_gavel(input)) ==
        "the file of --speeds is no JSON object with a table of steps a second by GPU type");
}

}  // namespace tidepool::sim
