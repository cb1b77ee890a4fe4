// Stands in for libFuzzer in ordinary builds: runs a target on every file of its corpus, and on five
// hundred cuts and flips of each, the same ones every time.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/check.hpp"
#include "base/rng.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

namespace {

constexpr int kVariants = 500;

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::string variant_of(std::string input, tidepool::Rng& rng) {
  for (std::uint64_t change = 0; change <= rng.below(4); ++change) {
    const std::size_t at = rng.below(input.size() + 1);
    switch (rng.below(4)) {
      case 0: input.resize(at); break;
      case 1: input.insert(at, 1, static_cast<char>(rng.below(256))); break;
      case 2: input.insert(at, input.substr(rng.below(input.size() + 1), 16)); break;
      default:
        if (at < input.size()) input[at] = static_cast<char>(rng.below(256));
    }
  }
  return input;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER\n", arguments[0]);
    return 2;
  }
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(arguments[1])) {
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string input{std::istreambuf_iterator<char>(stream), {}};
    ++files;
    tidepool::set_running_seed(entry.path().filename().string());
    run(input);
    tidepool::Rng rng(static_cast<std::uint64_t>(input.size()) + 1);
    for (int i = 0; i < kVariants; ++i) run(variant_of(input, rng));
  }
  std::printf("%d files, %d variants of each\n", files, kVariants);
  return files > 0 ? 0 : 1;
}
