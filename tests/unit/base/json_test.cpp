#include <catch2/catch.hpp>

#include "base/json.hpp"

using namespace tidepool;
using nlohmann::json;

TEST_CASE("A document is refused for duplicate keys, depth, size, bad UTF-8 and trailing text") {
  CHECK_FALSE(parse_json(R"({"a":1,"a":2})").ok());
  CHECK_FALSE(parse_json(R"({"a":{"b":1,"b":2}})").ok());
  CHECK_FALSE(parse_json(std::string(33, '[') + std::string(33, ']')).ok());
  CHECK_FALSE(parse_json(std::string(2'000'000, ' ')).ok());
  CHECK_FALSE(parse_json("\"\xff\"").ok());
  CHECK_FALSE(parse_json("{} {}").ok());
  CHECK_FALSE(parse_json("").ok());
  CHECK_FALSE(parse_json("// a comment\n{}").ok());
}

TEST_CASE("A duplicate key is named by at most its first 63 bytes") {
  const auto refused = [](const std::string& key) {
    return parse_json("{\"" + key + "\":1,\"" + key + "\":2}").error().message;
  };
  CHECK(refused("min").find("the key \"min\" appears twice") != std::string::npos);
  CHECK(refused(std::string(63, 'k')).find('"' + std::string(63, 'k') + '"') != std::string::npos);
  CHECK(refused(std::string(100'000, 'k')).find('"' + std::string(63, 'k') + '"') != std::string::npos);
  CHECK(refused(std::string(62, 'k') + "\u00e9").find('"' + std::string(62, 'k') + '"') != std::string::npos);
}

TEST_CASE("A document is read as it stands, whatever it holds") {
  for (const char* text : {"null", "true", "-3", "18446744073709551615", "2.50", "1e3", R"("a\u00e9\n")", "[]", "{}",
                           R"({"a":[1,[2,{"b":[]}],null],"c":{"d":{"e":false}},"":[{"x":1},{"x":2}]})"}) {
    INFO(text);
    const auto read = parse_json(text);
    REQUIRE(read.ok());
    CHECK(*read == json::parse(text));
    CHECK(read->type() == json::parse(text).type());
    CHECK(read->dump() == json::parse(text).dump());
  }
}

TEST_CASE("A document may be as deep, and hold as much, as its limits say") {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(parse_json(nested(3), {.depth_max = 3}).ok());
  CHECK(parse_json(nested(4), {.depth_max = 3}).error().message == "the JSON is nested deeper than 3 levels");
  CHECK(parse_json("[1,2,3]", {.values_max = 5}).ok());  // the list's end counts, too
  CHECK(parse_json("[1,2,3]", {.values_max = 4}).error().message == "the JSON is refused: more values than the limit");
  CHECK(parse_json("[1, 1e999]").error().message.find("not valid JSON: ") == 0);
}

TEST_CASE("The same key in different objects is no duplicate") {
  CHECK(parse_json(R"({"a":{"x":1},"b":{"x":2},"c":[{"x":1},{"x":2}]})").ok());
}

TEST_CASE("A string full of brackets is not deep") {
  CHECK(parse_json('"' + std::string(100, '[') + '"').ok());
}

TEST_CASE("A bomb of a million brackets is refused without recursion") {
  CHECK_FALSE(parse_json(std::string(1'000'000, '['), {.bytes_max = 2'000'000}).ok());
}

TEST_CASE("An unknown field is an error that suggests the nearest known one") {
  std::vector<FieldError> errors;
  const json value = json::parse(R"({"elastc": 1, "min": 2})");
  ObjectReader in(value, "/spec", errors);
  CHECK(in.integer("min", 1, {.low = 1, .high = 4}) == 2);
  CHECK(in.raw("elastic").is_null());
  in.finish();
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].pointer == "/spec/elastc");
  CHECK(errors[0].code == "UnknownField");
  CHECK(errors[0].message.find("\"elastic\"") != std::string::npos);
}

TEST_CASE("Every wrong field of an object is reported, none hides another") {
  std::vector<FieldError> errors;
  const json value = json::parse(R"({"n": 1.5, "low": -1, "name": 7, "flag": "yes", "x": 1e999})", nullptr, false);
  const json fixed = value.is_discarded() ? json::parse(R"({"n": 1.5, "low": -1, "name": 7, "flag": "yes"})") : value;
  ObjectReader in(fixed, "", errors);
  (void)in.integer("n", 0, {});
  (void)in.integer("low", 0, {.low = 0, .high = 9});
  (void)in.text("name", "");
  (void)in.boolean("flag", false);
  (void)in.required_text("missing");
  CHECK(errors.size() == 5);
  CHECK(errors[1].code == "OutOfRange");
  CHECK(errors[4].code == "Missing");
}

TEST_CASE("A number beyond 64 bits is no whole number") {
  std::vector<FieldError> errors;
  const json value = json::parse(R"({"n": 18446744073709551615})");
  ObjectReader in(value, "", errors);
  CHECK(in.integer("n", 5, {}) == 5);
  CHECK(errors.size() == 1);
}

TEST_CASE("A whole number that 64 bits do not hold is too large, and the last that they hold is none") {
  std::vector<FieldError> errors;
  const json value = json::parse(R"({"much": 99999999999999999999, "little": -99999999999999999999, "half": 0.5,
                                     "most": 9223372036854775807, "least": -9223372036854775808})");
  ObjectReader in(value, "", errors);
  CHECK(in.integer("most", 1, {}) == INT64_MAX);
  CHECK(in.integer("least", 1, {.low = INT64_MIN}) == INT64_MIN);
  CHECK(errors.empty());
  (void)in.integer("much", 1, {.low = 1, .high = 4096});
  (void)in.integer("little", 1, {.low = 1, .high = 4096});
  (void)in.integer("half", 1, {});
  REQUIRE(errors.size() == 3);
  CHECK(errors[0].code == "OutOfRange");
  CHECK(errors[0].message.find("is too large; it must lie between 1 and 4096") != std::string::npos);
  CHECK(errors[1].message.find("is too small") != std::string::npos);
  CHECK(errors[2].code == "WrongType");
}

TEST_CASE("What is no JSON is told in plain words, and no more of it than shows where") {
  const std::string number =
      parse_json("[" + std::string(1'000'000, '9') + "e999]", {.bytes_max = 2'000'000}).error().message;
  CHECK(number.starts_with("not valid JSON: number overflow parsing '999"));
  CHECK(number.size() < 200);
  const std::string word = parse_json("[x]").error().message;
  CHECK(word.starts_with("not valid JSON: parse error at line 1, column 2: "));
  CHECK(word.find("json.exception") == std::string::npos);
  CHECK(parse_json("[" + std::string(5'000, 'x') + "]").error().message.size() < 300);
}

TEST_CASE("Pointers escape slashes and tildes") {
  std::vector<FieldError> errors;
  const json value = json::parse(R"({"a/b~c": 1})");
  ObjectReader in(value, "", errors);
  in.finish();
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].pointer == "/a~1b~0c");
}

TEST_CASE("A suggestion differs in case only, begins with the word, or is at most two edits away") {
  CHECK(nearest_word("gpus", {"cpus", "gpus_per_worker", "memory"}) == "gpus_per_worker");
  CHECK(nearest_word("polcy", {"policy", "price"}) == "policy");
  CHECK(nearest_word("H100", {"a100", "h100"}) == "h100");
  CHECK_FALSE(nearest_word("colour", {"policy", "price"}).has_value());
  CHECK_FALSE(nearest_word("", {"_policy", "price"}).has_value());
}

TEST_CASE("Canonical JSON does not depend on the order of insertion") {
  json a;
  a["x"] = 1;
  a["a"] = 2;
  json b;
  b["a"] = 2;
  b["x"] = 1;
  CHECK(canonical_json(a) == R"({"a":2,"x":1})");
  CHECK(canonical_json(a) == canonical_json(b));
}

TEST_CASE("An amount is told in digits, as people write it") {
  CHECK(amount_text(json::parse("0.000001")) == "0.000001");
  CHECK(amount_text(json::parse("0.0000001")) == "0.0000001");
  CHECK(amount_text(json::parse("-0.00002")) == "-0.00002");
  CHECK(amount_text(json::parse("99999999999999999999")) == "100000000000000000000");
  CHECK(amount_text(json::parse("2.5")) == "2.5");
  CHECK(amount_text(json::parse("7")) == "7");
  CHECK(amount_text(json("2.50")) == "2.50");
  CHECK(amount_text(json(nullptr)) == "null");
}
