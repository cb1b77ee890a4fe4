// A map whose copies share its pages of entries until one of them is written to (copy on write), like a SharedIdTable,
// but for keys that are not ids. A copy costs a pointer per page, which has 16 to 32 entries while none are erased, and
// a write copies at most one page. Copies may be read and dropped on other threads.
//
// Its iterators are read-only; edit() gives write access. An iterator or a reference is valid until the map is written
// to, or copied and then written to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.hpp"

namespace tidepool {

template <class K, class V>
class SharedMap {
 public:
  using key_type = K;
  using mapped_type = V;
  using value_type = std::pair<K, V>;

 private:
  static constexpr std::size_t kMost = 32;  // entries per page
  using Page = std::vector<value_type>;     // ascending, never empty
  using PagePointer = std::shared_ptr<Page>;

 public:
  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = SharedMap::value_type;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = const value_type&;

    const_iterator() = default;
    reference operator*() const { return (**at_)[slot_]; }
    pointer operator->() const { return &**this; }
    const_iterator& operator++() {
      if (++slot_ == (*at_)->size()) *this = const_iterator(at_ + 1, 0);
      return *this;
    }
    const_iterator operator++(int) {
      const const_iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const const_iterator&) const = default;

   private:
    friend class SharedMap;
    const_iterator(const PagePointer* at, std::size_t slot) : at_(at), slot_(slot) {}
    const PagePointer* at_ = nullptr;
    std::size_t slot_ = 0;
  };
  using iterator = const_iterator;

  SharedMap() = default;
  SharedMap(std::initializer_list<value_type> entries) {
    for (const value_type& entry : entries) emplace(entry.first, entry.second);
  }
  SharedMap(const SharedMap&) = default;
  SharedMap& operator=(const SharedMap&) = default;
  SharedMap(SharedMap&& other) noexcept
      : pages_(std::exchange(other.pages_, {})), size_(std::exchange(other.size_, 0)) {}
  SharedMap& operator=(SharedMap&& other) noexcept {
    pages_ = std::exchange(other.pages_, {});
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~SharedMap() = default;

  [[nodiscard]] const_iterator begin() const { return {pages_.data(), 0}; }
  [[nodiscard]] const_iterator end() const { return {pages_.data() + pages_.size(), 0}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  [[nodiscard]] const_iterator find(const K& key) const {
    const Place place = place_of(key);
    return place.has_it ? const_iterator(pages_.data() + place.page, place.slot) : end();
  }
  [[nodiscard]] bool contains(const K& key) const { return place_of(key).has_it; }
  [[nodiscard]] const V& at(const K& key) const {
    const const_iterator found = find(key);
    TP_CHECK(found != end(), "a key that is asked for is in its map");
    return found->second;
  }

  // The value for writing; null: there is none.
  [[nodiscard]] V* edit_if_there(const K& key) {
    const Place place = place_of(key);
    return place.has_it ? &own(place.page)[place.slot].second : nullptr;
  }
  // Requires: the key is there.
  [[nodiscard]] V& edit(const K& key) {
    V* const value = edit_if_there(key);
    TP_CHECK(value != nullptr, "a key that is asked for is in its map");
    return *value;
  }
  // Calls change(key, value) with write access to each value, ascending.
  template <class Change>
  void edit_all(Change change) {
    for (std::size_t page = 0; page < pages_.size(); ++page) {
      for (auto& [key, value] : own(page)) change(std::as_const(key), value);
    }
  }
  V& operator[](const K& key) {
    if (V* const known = edit_if_there(key)) return *known;
    emplace(key, V());
    return edit(key);
  }
  // Returns whether the key is new; no effect if it is there.
  bool emplace(K key, V value) {
    const Place place = place_of(key);
    if (place.has_it) return false;
    if (pages_.empty()) pages_.push_back(std::make_shared<Page>());
    Page& page = own(place.page);
    page.emplace(page.begin() + static_cast<std::ptrdiff_t>(place.slot), std::move(key), std::move(value));
    ++size_;
    if (page.size() > kMost) split(place.page);
    return true;
  }
  void insert_or_assign(const K& key, V value) { (*this)[key] = std::move(value); }

  // Returns the number of erased entries: zero or one.
  std::size_t erase(const K& key) {
    const Place place = place_of(key);
    if (!place.has_it) return 0;
    Page& page = own(place.page);
    page.erase(page.begin() + static_cast<std::ptrdiff_t>(place.slot));
    if (page.empty()) pages_.erase(pages_.begin() + static_cast<std::ptrdiff_t>(place.page));
    --size_;
    return 1;
  }
  template <class Predicate>
  void erase_if(Predicate goes) {
    std::vector<K> gone;
    for (const value_type& entry : *this) {
      if (goes(entry)) gone.push_back(entry.first);
    }
    for (const K& key : gone) erase(key);
  }

  bool operator==(const SharedMap& other) const {
    return size_ == other.size_ && std::equal(begin(), end(), other.begin());
  }

 private:
  struct Place {
    std::size_t page = 0;
    std::size_t slot = 0;  // where the entry is, or would be
    bool has_it = false;
  };
  [[nodiscard]] Place place_of(const K& key) const {
    const auto behind = std::upper_bound(pages_.begin(), pages_.end(), key, [](const K& wanted, const auto& page) {
      return wanted < page->front().first;
    });
    if (behind == pages_.begin()) return {};
    const Page& page = **std::prev(behind);
    const auto slot = std::lower_bound(page.begin(), page.end(), key,
                                       [](const value_type& entry, const K& wanted) { return entry.first < wanted; });
    return {.page = static_cast<std::size_t>(std::prev(behind) - pages_.begin()),
            .slot = static_cast<std::size_t>(slot - page.begin()),
            .has_it = slot != page.end() && !(key < slot->first)};
  }
  // The page for writing; no other map shares it afterwards.
  [[nodiscard]] Page& own(std::size_t at) {
    // Copying the pointer orders later writes after the release of a share by another thread.
    const PagePointer held = pages_[at];
    if (held.use_count() > 2) pages_[at] = std::make_shared<Page>(*held);
    return *pages_[at];
  }
  // Requires: no other map shares the page.
  void split(std::size_t at) {
    Page& lower = *pages_[at];
    const auto middle = lower.begin() + static_cast<std::ptrdiff_t>(lower.size() / 2);
    auto upper = std::make_shared<Page>(std::make_move_iterator(middle), std::make_move_iterator(lower.end()));
    lower.erase(middle, lower.end());
    pages_.insert(pages_.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(upper));
  }

  std::vector<PagePointer> pages_;  // ascending
  std::size_t size_ = 0;
};

}  // namespace tidepool
