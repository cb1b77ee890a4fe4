// Words as one phrase: "a, b, c" for a list of choices, "a, b and c", "a, b and 3 more". The words keep their
// order.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tidepool {

// `word` selects the text of each entry, such as &TraceFormat::name; the result must be appendable to a string. No
// entries give an empty phrase.
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

// The same for whole numbers.
template <class Numbers>
[[nodiscard]] std::string number_list(const Numbers& numbers) {
  return word_list(numbers, [](auto number) { return std::to_string(number); });
}

// "a, b and c", for a sentence about all of them.
[[nodiscard]] inline std::string word_series(std::span<const std::string> words) {
  if (words.size() < 2) return word_list(words);
  return word_list(words.first(words.size() - 1)) + " and " + words.back();
}

// At most `most` entries, and the text that `others` returns for the number left out: "a, b and 3 more".
template <class Entry, class Others, class Word = std::identity>
[[nodiscard]] std::string first_words(const std::vector<Entry>& entries, std::size_t most, Others others,
                                      Word word = {}) {
  const std::span<const Entry> all(entries);
  if (all.size() <= most) return word_list(all, word);
  return word_list(all.first(most), word) + " and " + others(all.size() - most);
}

}  // namespace tidepool
