// A file's text as far as it can be read. A file of /proc gives an error in the middle when its process ends, which an
// istreambuf_iterator would throw out of the test.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

namespace tidepool::test {

inline std::string text_of_file(const std::string& path) {
  const std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return text.str();
}

}  // namespace tidepool::test
