// A variable of the environment for the life of one test. For tests of one thread: the environment has no lock.
#pragma once

#include <cstdlib>
#include <string>

namespace tidepool::test {

class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Setting() { ::unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
};

}  // namespace tidepool::test
