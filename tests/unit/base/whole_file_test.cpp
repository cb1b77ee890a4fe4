#include "base/files/whole_file.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/temporary_folder.hpp"

namespace tidepool {

TEST_CASE("a file is read whole, also one that is longer than a part and one that is empty") {
  const test::TemporaryFolder folder;
  const std::string path = (folder / "text").string();
  for (const std::size_t size : {std::size_t{0}, std::size_t{16'384}, std::size_t{100'001}}) {
    std::string text(size, 'x');
    if (size > 2) text[size / 2] = '\0';
    std::ofstream(path, std::ios::binary) << text;
    CHECK(read_whole_file(path).value() == text);
  }
}

TEST_CASE("a file that cannot be read is named with the reason") {
  const test::TemporaryFolder folder;
  const std::string gone = (folder / "gone").string();
  CHECK(read_whole_file(gone).error().message == "cannot read " + gone + ": No such file or directory");
  const std::string path = folder.path().string();
  CHECK(read_whole_file(path).error().message == "cannot read " + path + ": Is a directory");
}

}  // namespace tidepool
