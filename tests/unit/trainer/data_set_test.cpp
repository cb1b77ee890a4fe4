// The same samples, whatever file they lie in; and what is wrong with a file is said.
#include <catch2/catch.hpp>

#include <cstring>
#include <fstream>

#include "tests/support/temporary_folder.hpp"
#include "workers/trainer/table_data.hpp"
#include "workers/trainer/text_data.hpp"
#include "workers/trainer/token_file.hpp"
#include "workers/trainer/training.hpp"

namespace tidepool::trainer {
namespace {

struct TokenBytes {
  std::string magic = "TIDETOK1";
  std::uint32_t width = 2;
  std::uint32_t vocabulary = 300;
  std::vector<std::uint32_t> tokens = {0, 1, 299, 256, 4, 5};
  std::uint64_t count = 6;

  [[nodiscard]] std::string text() const {
    std::string bytes = magic;
    const auto add = [&](std::uint64_t number, std::size_t width_of) {
      for (std::size_t i = 0; i < width_of; ++i) bytes += static_cast<char>((number >> (8 * i)) & 0xffU);
    };
    add(width, 4);
    add(vocabulary, 4);
    add(count, 8);
    for (const std::uint32_t token : tokens) add(token, width);
    return bytes;
  }
};

class Files : public test::TemporaryFolder {
 public:
  std::filesystem::path write(const std::string& name, const std::string& content) const {
    std::ofstream(path() / name, std::ios::binary) << content;
    return path() / name;
  }
  [[nodiscard]] std::string refusal(const std::string& content, int context = 2) const {
    const auto data = TokenFile::open(write("t.tokens", content), context);
    return data.ok() ? "" : data.error().message;
  }
};

bool says(const std::string& text, const std::string& words) {
  INFO(text);
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("text becomes tokens, each sample the bytes before and the byte after") {
  const auto data = TextData::create("abcab", 2);
  REQUIRE(data.ok());
  CHECK((*data)->samples() == 3);
  CHECK((*data)->inputs() == 2);
  CHECK((*data)->classes() == 3);
  Batch batch;
  batch.numbers = {1, 2, 3};  // of another data set
  REQUIRE((*data)->fill(std::vector<std::uint64_t>{2, 0}, batch).ok());
  CHECK(batch.tokens == std::vector<int>{2, 0, 0, 1});
  CHECK(batch.classes == std::vector<int>{1, 2});
  CHECK(batch.numbers.empty());
}

TEST_CASE("a text with nothing to learn is refused") {
  CHECK(!TextData::create("abc", 5).ok());
  CHECK(!TextData::create(std::string(100, 'x'), 5).ok());
}

TEST_CASE("rows of a table become columns of a batch, and parts of it are its own samples") {
  auto table = read_csv("1,10,a\n3,20,b\n5,60,a\n", "");
  REQUIRE(table.ok());
  const std::vector<float> values = table->values;
  const TableData data(*std::move(table));
  Batch batch;
  REQUIRE(data.fill(std::vector<std::uint64_t>{2, 0}, batch).ok());
  CHECK(batch.numbers == std::vector<float>{values[4], values[5], values[0], values[1]});
  const BatchView second = batch.view().part(1, 1);
  CHECK(second.samples() == 1);
  CHECK(second.numbers.size() == 2);
  CHECK(second.numbers[0] == values[0]);
  CHECK(batch.view().part(2, 0).samples() == 0);
  CHECK(Batch{}.view().part(0, 0).samples() == 0);
}

TEST_CASE("a token file gives the tokens that were written, of two and of four bytes") {
  const Files files;
  for (const std::uint32_t width : {2U, 4U}) {
    TokenBytes bytes{.width = width};
    if (width == 4) bytes.vocabulary = 70'000;
    if (width == 4) bytes.tokens[2] = 69'999;
    const auto data = TokenFile::open(files.write("t.tokens", bytes.text()), 2);
    REQUIRE(data.ok());
    CHECK((*data)->samples() == 4);
    CHECK((*data)->classes() == static_cast<int>(bytes.vocabulary));
    Batch batch;
    REQUIRE((*data)->fill(std::vector<std::uint64_t>{3, 1}, batch).ok());
    CHECK(batch.tokens == std::vector<int>{256, 4, 1, static_cast<int>(bytes.tokens[2])});
    CHECK(batch.classes == std::vector<int>{5, 256});
  }
}

TEST_CASE("a token file that cannot be right is refused with what is wrong") {
  const Files files;
  CHECK(files.refusal(TokenBytes{}.text()).empty());
  CHECK(says(files.refusal(""), "does not begin with a header"));
  CHECK(says(files.refusal(TokenBytes{.magic = "TIDETOK2"}.text()), "does not begin with a header"));
  CHECK(says(files.refusal(TokenBytes{}.text().substr(0, 20)), "does not begin with a header"));
  CHECK(says(files.refusal(TokenBytes{.width = 3}.text()), "3 bytes a token"));
  CHECK(says(files.refusal(TokenBytes{.vocabulary = 1}.text()), "vocabulary of 1"));
  CHECK(says(files.refusal(TokenBytes{.vocabulary = 1U << 25U}.text()), "between 2 and 2^24"));
  CHECK(says(files.refusal(TokenBytes{.count = 7}.text()), "says that it has 7 tokens, but holds 6"));
  CHECK(says(files.refusal(TokenBytes{}.text() + "x"), "write it again"));
  CHECK(says(files.refusal(TokenBytes{.count = UINT64_MAX}.text()), "but holds 6"));
  CHECK(says(files.refusal(TokenBytes{}.text(), 6), "needs more than the context of 6"));
  CHECK(says(TokenFile::open(files.path() / "gone", 2).error().message, "cannot read the data file"));
}

TEST_CASE("a token beyond the vocabulary is found when it is used") {
  const Files files;
  const auto data = TokenFile::open(files.write("t.tokens", TokenBytes{.vocabulary = 299}.text()), 2);
  REQUIRE(data.ok());
  Batch batch;
  CHECK((*data)->fill(std::vector<std::uint64_t>{3}, batch).ok());
  const Status status = (*data)->fill(std::vector<std::uint64_t>{0}, batch);
  REQUIRE(!status.ok());
  CHECK(says(status.error().message, "token 2 of t.tokens is 299"));
}

TEST_CASE("charlm trains from text or from a token file, and not from both at once") {
  const Files files;
  files.write("a.tokens", TokenBytes{}.text());
  files.write("a.txt", "some text");
  const auto build = [&](std::vector<std::string> data) {
    return build_task({.model = "charlm", .data = std::move(data), .hidden = 4, .context = 2}, files.path().string());
  };
  CHECK(build({"a.tokens"})->data->classes() == 300);
  CHECK(build({"a.txt"})->data->classes() == 8);
  const auto both = build({"a.txt", "a.tokens"});
  REQUIRE(!both.ok());
  CHECK(says(both.error().message, "a.tokens is a token file: it must be the only path"));
}

}  // namespace tidepool::trainer
