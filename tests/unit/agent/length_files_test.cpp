// What a program that is started anew at each size writes of the length of its work, and what its agent makes of that.
#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/temporary_folder.hpp"
#include "workers/agent/program_files/length_files.hpp"

namespace tidepool::agent {
namespace {

const WorkerId kTeller(1);

struct LengthBench {
  boost::asio::io_context io;
  test::TemporaryFolder folder;
  std::filesystem::path file = folder / LengthFiles::name_of(kTeller);
  std::vector<api::ReadyMessage> lengths;
  std::vector<std::string> troubles;
  LengthFiles files{io,
                    {.on_length = [this](WorkerId, const api::ReadyMessage& told) { lengths.push_back(told); },
                     .on_trouble = [this](WorkerId, const std::string& what) { troubles.push_back(what); }},
                    std::chrono::milliseconds(5)};

  void write(const std::string& text) const { std::ofstream(file, std::ios::app) << text; }
  void look() {
    io.restart();
    REQUIRE(io.run_one_for(std::chrono::seconds(20)) == 1);
  }
};

}  // namespace

TEST_CASE("a length is one line with steps or samples, or it is refused in words") {
  CHECK(length_of_line(R"({"steps":20000})").value().work_steps == 20'000);
  CHECK_FALSE(length_of_line(R"({"steps":20000})").value().work_samples.has_value());
  CHECK(length_of_line(R"({"samples":1280000})").value().work_samples == 1'280'000);
  for (const char* wrong :
       {"", "20000", "[]", "{}", R"({"steps":0})", R"({"steps":-3})", R"({"steps":"many"})", R"({"steps":1.5})",
        R"({"steps":1,"samples":2})", R"({"steps":1,"more":1})", R"({"samples":9223372036854775807})", "steps=20000"}) {
    INFO(wrong);
    CHECK_FALSE(length_of_line(wrong).ok());
  }
}

TEST_CASE("a length is told when its line is whole, once, and when it changes") {
  LengthBench told;
  told.write("{\"steps\": 7}\n");  // of the program before
  told.files.start(kTeller, told.file);
  told.look();
  CHECK(told.lengths.empty());
  told.write("{\"steps\": 200");
  told.look();
  CHECK(told.lengths.empty());
  told.write("00}\n");
  told.look();
  told.look();
  REQUIRE(told.lengths.size() == 1);
  CHECK(told.lengths[0].work_steps == 20'000);
  told.write("{\"samples\": 640}\n");
  told.look();
  REQUIRE(told.lengths.size() == 2);
  CHECK(told.lengths[1].work_samples == 640);
  told.files.report_again();
  told.look();
  REQUIRE(told.lengths.size() == 3);
  CHECK(told.lengths[2].work_samples == 640);
  told.files.forget(kTeller);
  told.look();
  CHECK(told.troubles.empty());
  CHECK(told.lengths.size() == 3);
  // By an agent that comes after this one.
  told.files.adopt(kTeller, told.file);
  told.look();
  CHECK(told.lengths.size() == 4);
}

TEST_CASE("nonsense in the length file is no length, and what to write is said once") {
  LengthBench told;
  told.files.start(kTeller, told.file);
  told.write("steps=20000\n");
  told.look();
  told.look();
  CHECK(told.lengths.empty());
  REQUIRE(told.troubles.size() == 1);
  CHECK(told.troubles[0].find(R"(write a line such as {"steps": 20000})") != std::string::npos);
  told.write(std::string(1'000'000, '9') + "\n");  // of which no more than a bound is read
  told.look();
  CHECK(told.lengths.empty());
  CHECK(told.troubles.size() == 2);
  CHECK(told.troubles[1].size() < 1'000);
}

TEST_CASE("the newest line that is a length counts, whatever nonsense comes after it") {
  LengthBench told;
  told.files.start(kTeller, told.file);
  told.write("{\"steps\": 100}\n{\"steps\": 200}\n{\"steps\": -3}\n{\"steps\": NaN}\nsteps=7\n\n");
  told.look();
  REQUIRE(told.lengths.size() == 1);
  CHECK(told.lengths[0].work_steps == 200);
  CHECK(told.troubles.size() == 1);
  told.write("many\n");
  told.look();
  CHECK(told.lengths.size() == 1);
  CHECK(told.troubles.size() == 2);
  told.files.report_again();
  told.look();
  REQUIRE(told.lengths.size() == 2);
  CHECK(told.lengths[1].work_steps == 200);
  told.write("{\"steps\": 300}\nmany\n");
  told.look();
  REQUIRE(told.lengths.size() == 3);
  CHECK(told.lengths[2].work_steps == 300);
}

TEST_CASE("of a line that begins before what is read of the file nothing counts, as long as there are others") {
  LengthBench told;
  told.files.start(kTeller, told.file);
  told.write(std::string(5'000, 'x') + "{\"steps\": 7}" + std::string(4'078, ' ') + "\nmany\n");
  told.look();
  CHECK(told.lengths.empty());
  CHECK(told.troubles.size() == 1);
}

TEST_CASE("a link or a folder in the place of the length file is not read") {
  LengthBench told;
  told.files.start(kTeller, told.file);
  std::ofstream(told.folder / "elsewhere") << "{\"steps\": 20000}\n";
  std::filesystem::create_symlink(told.folder / "elsewhere", told.file);
  told.look();
  std::filesystem::remove(told.file);
  std::filesystem::create_directory(told.file);
  told.look();
  CHECK(told.lengths.empty());
  CHECK(std::filesystem::exists(told.folder / "elsewhere"));
}

}  // namespace tidepool::agent
