// A set of ids in ascending order, for ids that are assigned sequentially: one bit per id, in words of 64 neighbours.
// A lookup takes one step if the ids are dense, else a binary search over the words; iteration reads memory
// sequentially. The words alone determine the contents, so equal sets have equal words. An iterator is valid until the
// set changes.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <vector>

#include "base/rising_place.hpp"

namespace tidepool {

template <class Id>
class IdSet {
 private:
  struct Word {
    std::uint64_t number = 0;  // contains the ids from 64 * number on
    std::uint64_t bits = 0;    // never 0
    bool operator==(const Word&) const = default;
  };

 public:
  using value_type = Id;
  using size_type = std::size_t;

  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Id;
    using difference_type = std::ptrdiff_t;
    using pointer = const Id*;
    using reference = Id;

    const_iterator() = default;
    Id operator*() const { return Id(64 * at_->number + static_cast<std::uint64_t>(std::countr_zero(bits_))); }
    const_iterator& operator++() {
      bits_ &= bits_ - 1;
      if (bits_ == 0 && ++at_ != end_) bits_ = at_->bits;
      return *this;
    }
    const_iterator operator++(int) {
      const const_iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const const_iterator&) const = default;

   private:
    friend class IdSet;
    const_iterator(const Word* at, const Word* end) : at_(at), end_(end), bits_(at == end ? 0 : at->bits) {}
    const Word* at_ = nullptr;
    const Word* end_ = nullptr;
    std::uint64_t bits_ = 0;  // the bits of the word that are still to come
  };
  using iterator = const_iterator;

  IdSet() = default;
  IdSet(std::initializer_list<Id> ids) { insert(ids.begin(), ids.end()); }
  template <class Iterator>
  IdSet(Iterator first, Iterator last) {
    insert(first, last);
  }

  [[nodiscard]] const_iterator begin() const { return {words_.data(), words_.data() + words_.size()}; }
  [[nodiscard]] const_iterator end() const { return {words_.data() + words_.size(), words_.data() + words_.size()}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] bool contains(Id id) const {
    const std::size_t at = place_of(id.number() / 64);
    return at < words_.size() && words_[at].number == id.number() / 64 && (words_[at].bits & bit_of(id)) != 0;
  }

  // Returns whether the id is new.
  bool insert(Id id) {
    const std::uint64_t number = id.number() / 64;
    const std::size_t at = place_of(number);
    if (at == words_.size() || words_[at].number != number) {
      words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(at), {.number = number, .bits = 0});
    }
    const bool is_new = (words_[at].bits & bit_of(id)) == 0;
    words_[at].bits |= bit_of(id);
    size_ += is_new ? 1 : 0;
    return is_new;
  }
  template <class Iterator>
  void insert(Iterator first, Iterator last) {
    for (; first != last; ++first) insert(*first);
  }
  // Inserts all ids of another set, word by word.
  void insert(const IdSet& other) {
    if (words_.empty()) {
      *this = other;
      return;
    }
    for (const Word& word : other.words_) {
      const std::size_t at = place_of(word.number);
      if (at == words_.size() || words_[at].number != word.number) {
        words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(at), {.number = word.number, .bits = 0});
      }
      size_ += static_cast<std::size_t>(std::popcount(word.bits & ~words_[at].bits));
      words_[at].bits |= word.bits;
    }
  }
  // Returns whether the id was there.
  bool erase(Id id) {
    const std::uint64_t number = id.number() / 64;
    const std::size_t at = place_of(number);
    if (at == words_.size() || words_[at].number != number || (words_[at].bits & bit_of(id)) == 0) return false;
    words_[at].bits &= ~bit_of(id);
    if (words_[at].bits == 0) words_.erase(words_.begin() + static_cast<std::ptrdiff_t>(at));
    --size_;
    return true;
  }
  void clear() {
    words_.clear();
    size_ = 0;
  }

  bool operator==(const IdSet&) const = default;

 private:
  static std::uint64_t bit_of(Id id) { return std::uint64_t{1} << (id.number() % 64); }

  // The position of the word, or of the first word after the place where it would be.
  [[nodiscard]] std::size_t place_of(std::uint64_t number) const {
    return rising_place(words_, number, [](const Word& word) { return word.number; });
  }

  std::vector<Word> words_;  // ordered by number
  std::size_t size_ = 0;
};

}  // namespace tidepool
