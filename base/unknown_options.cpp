#include "base/unknown_options.hpp"

#include "base/json.hpp"

namespace tidepool {

std::vector<std::string> unknown_options(const std::vector<std::string>& words, const std::vector<std::string>& known) {
  std::vector<std::string> sentences;
  bool is_value = false;
  for (const std::string& word : words) {
    const bool is_option = word.size() > 1 && word.starts_with('-');
    if (!is_option && is_value) {
      is_value = false;
      continue;
    }
    const std::string name = word.substr(0, word.find('='));
    const auto near = name.starts_with("--") ? nearest_word(name, known) : std::nullopt;
    if (is_option) {
      sentences.push_back(name + ": no such option" + (near ? "; did you mean " + *near + "?" : ""));
    } else {
      sentences.push_back("\"" + word + "\" is not expected here");
    }
    is_value = is_option && name == word;
  }
  return sentences;
}

}  // namespace tidepool
