#include <catch2/catch.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/support/temporary_folder.hpp"
#include "workers/trainer/data_files.hpp"
#include "workers/trainer/settings.hpp"
#include "workers/trainer/slowdown.hpp"

namespace tidepool::trainer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Folder : test::TemporaryFolder {
  void write(const std::string& name, const std::string& content) const {
    fs::create_directories((path() / name).parent_path());
    std::ofstream(path() / name) << content;
  }
};

}  // namespace

TEST_CASE("data may be one path, several separated by commas, or a list") {
  const auto data = [](const json& value) { return read_settings("charlm", {{"data", value}})->data; };
  CHECK(data("a.txt") == std::vector<std::string>{"a.txt"});
  CHECK(data("a.txt, docs") == std::vector<std::string>{"a.txt", "docs"});
  CHECK(data({"a.txt", "docs"}) == std::vector<std::string>{"a.txt", "docs"});
}

TEST_CASE("every wrong argument is named at once") {
  const auto settings = read_settings("mlp", {{"context", 3}, {"steps", -1}, {"momentum", "much"}});
  REQUIRE(!settings.ok());
  for (const char* word : {"context", "steps", "momentum", "data"}) {
    CHECK(settings.error().message.find(word) != std::string::npos);
  }
}

TEST_CASE("arguments of the command line win over the document's") {
  const auto settings = read_job_document(
      R"({"run": {"trainer": "charlm", "args": {"data": "a", "steps": 7, "lr": 0.5}}, "batch": {"global": 64}})", "",
      {{"steps", 9}});
  REQUIRE(settings.ok());
  CHECK(settings->model == "charlm");
  CHECK(settings->steps == 9);
  CHECK(settings->lr == 0.5);
  CHECK(settings->global_batch == 64);
  CHECK(settings->per_worker_max == 64);
}

TEST_CASE("files of a folder are read in one order, hidden and binary ones passed over") {
  const Folder folder;
  folder.write("docs/b.md", "second\n");
  folder.write("docs/a.md", "first");
  folder.write("docs/.git/x", "hidden\n");
  folder.write("docs/picture", std::string("\0\1\2", 3));
  folder.write("c.md", "third\n");
  const auto text = read_data_files(folder.path(), {"docs", "c.md", "docs/a.md"});
  REQUIRE(text.ok());
  CHECK(*text == "third\nfirst\nsecond\n");
  CHECK(!read_data_files(folder.path(), {"docs", "gone"}).ok());
}

TEST_CASE("a slowdown meets the named worker only, from the named step on") {
  const SlowdownSettings settings{.worker = "w-2", .factor = 3, .from_step = 10};
  Slowdown slow(settings, "w-2");
  CHECK(slow.factor(9) == 1);
  CHECK(slow.factor(10) == 3);
  CHECK(Slowdown(settings, "w-4").factor(10) == 1);
}

TEST_CASE("a slowdown can be told to a worker while it runs, and taken back") {
  const Folder folder;
  const std::string file = folder.path() / "slow";
  Slowdown slow({.file = file}, "w-2");
  const auto settled = [&] {
    for (int step = 0; step < 10; ++step) static_cast<void>(slow.factor(step));
    return slow.factor(10);
  };
  CHECK(settled() == 1);
  folder.write("slow", "w-1 4\nw-2 2.5\n");
  CHECK(settled() == 2.5);
  fs::remove(file);
  CHECK(settled() == 1);
}

TEST_CASE("the rule of the batch comes from the job, and the size that it is meant for") {
  const auto of = [](const std::string& parts) {
    return read_job_document(R"({"run": {"trainer": "charlm", "args": {"data": "a"}})" + parts + "}", "",
                             json::object());
  };
  const auto plain = of("");
  CHECK(plain->on_resize == runtime::OnResize::kConstant);
  CHECK(plain->base_size == 1);
  CHECK(plain->warmup_steps == 8);
  const auto scaled = of(R"(, "batch": {"global": 64, "on_resize": "linear"}, "elastic": {"min": 2, "preferred": 3})");
  CHECK(scaled->on_resize == runtime::OnResize::kLinear);
  CHECK(scaled->base_size == 3);
  CHECK(of(R"(, "elastic": {"min": 2, "max": 8})")->base_size == 2);
  CHECK(scaled->global_batch_max == 0);
  const auto local = of(R"(, "batch": {"global": 64, "on_resize": "fixed_local", "global_max": 256})");
  CHECK(local->on_resize == runtime::OnResize::kFixedLocal);
  CHECK(local->global_batch_max == 256);
  const auto wrong = of(R"(, "batch": {"on_resize": "cubic"})");
  REQUIRE(!wrong.ok());
  CHECK(wrong.error().message.find("use constant, linear, sqrt, adascale") != std::string::npos);
}

}  // namespace tidepool::trainer
