// Words as one phrase: "a, b, c" of what there is to choose from, "a, b and c", "a, b and 3 more".
// The words stand in the order in which they are given.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tidepool {

// `word` says what of each entry stands in the list, such as &TraceFormat::name: something that can be added to a
// string. No entries are an empty phrase.
template <class Entries, class Word = std::identity>
[[nodiscard]] std::string word_list(const Entries& entries, Word word = {}) {
  std::string text;
  bool first = true;
  for (const auto& entry : entries) {
    if (!first) text += ", ";
    text += std::invoke(word, entry);
    first = false;
  }
  return text;
}

// The same of whole numbers.
template <class Numbers>
[[nodiscard]] std::string number_list(const Numbers& numbers) {
  return word_list(numbers, [](auto number) { return std::to_string(number); });
}

// "a, b and c", of a sentence that says something of all of them.
[[nodiscard]] inline std::string word_series(std::span<const std::string> words) {
  if (words.size() < 2) return word_list(words);
  return word_list(words.first(words.size() - 1)) + " and " + words.back();
}

// At most so many, and what `others` says of the number left out: "a, b and 3 more".
template <class Entry, class Others, class Word = std::identity>
[[nodiscard]] std::string first_words(const std::vector<Entry>& entries, std::size_t most, Others others,
                                      Word word = {}) {
  const std::span<const Entry> all(entries);
  if (all.size() <= most) return word_list(all, word);
  return word_list(all.first(most), word) + " and " + others(all.size() - most);
}

}  // namespace tidepool
