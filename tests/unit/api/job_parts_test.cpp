// The parts of a job file one by one; what holds between them is in job_spec_test.cpp.
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/v1/elastic_fields.hpp"
#include "api/v1/optional_fields.hpp"
#include "api/v1/run_fields.hpp"
#include "api/v1/scaling_fields.hpp"
#include "api/v1/text_fields.hpp"

namespace tidepool::api::v1 {
namespace {

using nlohmann::json;
using Errors = std::vector<FieldError>;

TEST_CASE("a part that is left out is read with its defaults, and each part reads back as it was written") {
  Errors errors;
  const json elastic = elastic_document(read_elastic(nullptr, errors));
  const json scaling = scaling_document(read_scaling(nullptr, errors));
  const json run = run_document(read_run({{"command", {"python3", "train.py"}}, {"resize", "restart"}}, errors));
  CHECK(elastic_document(read_elastic(elastic, errors)) == elastic);
  CHECK(scaling_document(read_scaling(scaling, errors)) == scaling);
  CHECK(run_document(read_run(run, errors)) == run);
  CHECK(errors.empty());

  CHECK(elastic.at("sizes") == json::array({1}));
  CHECK(elastic.at("cooldown") == "20s");
  CHECK(scaling.at("utility").is_null());
  CHECK(run.at("resize") == "restart");
}

TEST_CASE("sizes follow from min, max and group where they are not listed") {
  Errors errors;
  CHECK(read_elastic({{"group", 2}, {"max", 6}}, errors).sizes == std::vector{2, 4, 6});
  CHECK(read_elastic({{"min", 3}, {"max", 8}, {"step", 2}}, errors).sizes == std::vector{3, 5, 7});
  CHECK(errors.empty());
}

TEST_CASE("a finding of a part is at the part's own pointer") {
  Errors errors;
  static_cast<void>(read_elastic({{"min", 4}, {"max", 2}}, errors));
  static_cast<void>(read_scaling({{"price_cap", "much"}}, errors));
  static_cast<void>(read_run({{"trainer", "mlp"}, {"env", {{"LD_PRELOAD", "x"}}}}, errors));
  const auto is_at = [&](const std::string& pointer) {
    for (const FieldError& error : errors) {
      if (error.pointer == pointer) return true;
    }
    return false;
  };
  CHECK(is_at("/elastic/min"));
  CHECK(is_at("/scaling/price_cap"));
  CHECK(is_at("/run/env"));
}

TEST_CASE("a field that may be left out is none where it is missing or null, and is written as null") {
  Errors errors;
  const json document = {{"given", "90s"}, {"none", nullptr}, {"wrong", 90}};
  ObjectReader in(document, "", errors);
  CHECK(optional_duration(in, "given") == Duration::seconds(90));
  CHECK_FALSE(optional_duration(in, "none").has_value());
  CHECK_FALSE(optional_duration(in, "missing").has_value());
  CHECK(errors.empty());
  CHECK_FALSE(optional_duration(in, "wrong").has_value());
  CHECK(errors.size() == 1);

  CHECK(or_null(std::optional<Duration>()).is_null());
  CHECK(or_null(std::optional(Duration::seconds(90))) == "90s");
  CHECK(or_null(std::string()).is_null());
}

TEST_CASE("a map of texts has its own bound and advice") {
  Errors errors;
  const json document = {{"labels", {{"a", "four"}, {"b", "fifth"}}}};
  ObjectReader in(document, "", errors);
  const TextMapForm form{.entries_max = 2, .bytes_max = 4, .advice = "say less"};
  CHECK(text_map(in, "labels", form) == std::map<std::string, std::string>{{"a", "four"}});
  REQUIRE(errors.size() == 1);
  CHECK(errors.front().message == "labels has an entry \"b\" that is no text of at most 4 bytes; say less");
}

TEST_CASE("an entry of a map of texts that is no text is a finding, and the others stay") {
  Errors errors;
  const json document = {{"env", {{"A", "1"}, {"B", 2}}}};
  ObjectReader in(document, "", errors);
  CHECK(text_map(in, "env", {.entries_max = 2}) == std::map<std::string, std::string>{{"A", "1"}});
  REQUIRE(errors.size() == 1);
  CHECK(errors.front().message == "env has an entry \"B\" that is no text of at most 4096 bytes; quote numbers");
  CHECK(text_map(in, "env", {.entries_max = 1}).empty());
}

}  // namespace
}  // namespace tidepool::api::v1
