#include "schedctl/job_file.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace tidepool::ctl {
namespace {

using nlohmann::json;

json parsed(const std::string& text) {
  FieldLines lines;
  const auto document = parse_job_text(text, lines);
  INFO((document.ok() ? "" : document.error().message));
  REQUIRE(document.ok());
  return *document;
}

std::string refused(const std::string& text) {
  FieldLines lines;
  const auto document = parse_job_text(text, lines);
  REQUIRE_FALSE(document.ok());
  return document.error().message;
}

TEST_CASE("plain scalars get their type by YAML's core schema") {
  const json document = parsed(
      "whole: 400\nplus: +7\nnegative: -3\nhex: 0x1F\noctal: 0o17\nreal: 0.1\nexponent: 1e3\npoint: .5\n"
      "yes_bool: true\nno_bool: False\nnothing: ~\nempty:\nword: 30s\nyes: yes\non: on\nunder: 1_000\nversion: "
      "1.2.3\n");
  CHECK(document.at("whole") == 400);
  CHECK(document.at("whole").is_number_integer());
  CHECK(document.at("plus") == 7);
  CHECK(document.at("negative") == -3);
  CHECK(document.at("hex") == 31);
  CHECK(document.at("octal") == 15);
  CHECK(document.at("real") == 0.1);
  CHECK(document.at("exponent") == 1000.0);
  CHECK(document.at("point") == 0.5);
  CHECK(document.at("yes_bool") == true);
  CHECK(document.at("no_bool") == false);
  CHECK(document.at("nothing").is_null());
  CHECK(document.at("empty").is_null());
  CHECK(document.at("word") == "30s");
  CHECK(document.at("yes") == "yes");
  CHECK(document.at("on") == "on");
  CHECK(document.at("under") == "1_000");
  CHECK(document.at("version") == "1.2.3");
}

TEST_CASE("a comma in a number makes it a text, and within braces ends it") {
  CHECK(parsed("limit: 1,00\n") == json{{"limit", "1,00"}});
  CHECK(parsed("budget: {limit: 1,00}\n") == json{{"budget", {{"limit", 1}, {"00", nullptr}}}});
}

TEST_CASE("a quoted scalar stays a text") {
  const json document = parsed("a: \"1\"\nb: 'true'\nc: !!str 5\nd: \"\"\ne: |\n  12\n");
  CHECK(document.at("a") == "1");
  CHECK(document.at("b") == "true");
  CHECK(document.at("c") == "5");
  CHECK(document.at("d") == "");
  CHECK(document.at("e") == "12\n");
}

TEST_CASE("a JSON file is read by JSON's rules") {
  const json document = parsed("{\n\t\"name\": \"\\ud83d\\ude00\",\n\t\"n\": 1\n}\n");
  CHECK(document.at("name") == "\xf0\x9f\x98\x80");
  CHECK(document.at("n") == 1);
  CHECK(parsed("{name: flow, sizes: [1, 2]}").at("sizes") == json({1, 2}));
}

TEST_CASE("a field that appears twice is refused with its line") {
  CHECK(refused("name: a\nelastic:\n  min: 1\n  min: 2\n") ==
        "line 4: the field \"min\" appears twice; keep one of them");
  CHECK(refused("{\"a\": 1,\n\"a\": 2}").find("line 2: the field \"a\" appears twice") == 0);
}

TEST_CASE("what JSON cannot say is refused with its line") {
  CHECK(refused("a: 1\nb: .inf\n").find("line 2: .inf is not a number") == 0);
  CHECK(refused("a: -.NaN\n").find("line 1: ") == 0);
  CHECK(refused("a: 1e999\n").find("line 1: 1e999 is too large") == 0);
  CHECK(refused("a: !mine 1\n").find("line 1: the tag !mine") == 0);
  CHECK(refused("? [a, b]\n: 1\n").find("a field's name must be a plain word") != std::string::npos);
}

TEST_CASE("what is no UTF-8 is refused with its line") {
  for (const char* bytes :
       {"\xe9t\xe9", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf0\x9f\x8c"}) {
    CHECK(refused("# \xc3\xa9\nrun: {}\nname: " + std::string(bytes)) ==
          "line 3: not valid UTF-8; save the file in this encoding");
  }
  CHECK(parsed("name: \xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\x8a").at("name") == "\xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\x8a");
}

TEST_CASE("broken YAML names the line") {
  CHECK(refused("name: a\n  bad: [1\n").find("line 2") == 0);
  CHECK(refused("name: \"open").find("not valid YAML") != std::string::npos);
  const std::string tab = ": not valid YAML: a tab cannot indent a line; write spaces in its place";
  CHECK(refused("\tname: a\n") == "line 1" + tab);
  CHECK(refused("run:\n\ttrainer: mlp\n") == "line 2" + tab);
  CHECK(refused("run:\n  trainer: mlp\n  \targs: {}\n") == "line 3" + tab);
  CHECK(refused("steps:\n\t- 1\n\t- 2\n") == "line 2" + tab);
  CHECK(refused("name: a\n  bad: [1\n").find("tab") == std::string::npos);
  CHECK(refused("") == "the file has no content");
  CHECK(refused("# only a comment\n") == "the file has no content");
  CHECK(refused("a: 1\n---\nb: 2\n").find("a second document begins; a file holds one") != std::string::npos);
}

TEST_CASE("a file that would grow without end is refused") {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += (k > 0 ? ", " : "") + before;
    bomb += "]\n";
  }
  CHECK(refused(bomb).find("more values than a file may have") != std::string::npos);
  CHECK(refused("a: &a\n  b: *a\n").find("nested deeper") != std::string::npos);
  CHECK(refused(std::string(2'000'000, 'x')).find("at most 1048576") != std::string::npos);
  CHECK(refused(std::string(100'000, '[')).find("line 1") == 0);
}

TEST_CASE("a pointer finds the line of its field, else of its nearest parent") {
  FieldLines lines;
  REQUIRE(parse_job_text("name: a\nelastic:\n  min: 8\n  sizes: [1,\n    2]\na/b: 1\n", lines).ok());
  CHECK(lines.line_of("/name") == 1);
  CHECK(lines.line_of("/elastic/min") == 3);
  CHECK(lines.line_of("/elastic/sizes/1") == 5);
  CHECK(lines.line_of("/elastic/missing") == 2);
  CHECK(lines.line_of("/a~1b") == 6);
  CHECK(lines.line_of("/nothing/here") == 1);
  CHECK(FieldLines().line_of("/name") == 0);
}

TEST_CASE("what is written as YAML reads back the same") {
  const json document = {{"text", "12"},          {"word", "plain"},
                         {"flag", "true"},        {"empty", ""},
                         {"none", nullptr},       {"real", 0.1},
                         {"whole", -4},           {"yes", true},
                         {"list", {1, "2"}},      {"nothing", json::array()},
                         {"no", json::object()},  {"colon", "a: b # c"},
                         {"lines", "one\ntwo\n"}, {"inner", {{"deep", {{"x", "~"}}}}}};
  CHECK(parsed(to_yaml(document)) == document);
}

}  // namespace
}  // namespace tidepool::ctl
