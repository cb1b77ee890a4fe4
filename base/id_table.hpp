// What is kept by id, in ascending order, for ids that were handed out one after the other: neighbours share a page of
// memory, so looking one up is a step and going through all of them reads memory in a row. A std::map in all else: a
// value stays where it is until it is erased. An iterator is valid until an id comes or goes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/rising_place.hpp"

namespace tidepool {

template <class Id, class T>
class IdTable {
 public:
  using key_type = Id;
  using mapped_type = T;
  using value_type = std::pair<const Id, T>;
  using size_type = std::size_t;

 private:
  static constexpr std::uint64_t kSlots = 16;  // of a page: few enough that an old id alone in its page wastes little

  class Page {
   public:
    explicit Page(std::uint64_t number) : number_(number) {}
    Page(const Page&) = delete;
    Page& operator=(const Page&) = delete;
    ~Page() {
      for (std::uint32_t left = used_; left != 0; left &= left - 1) std::destroy_at(slot(std::countr_zero(left)));
    }

    [[nodiscard]] std::uint64_t number() const { return number_; }
    [[nodiscard]] std::uint32_t used() const { return used_; }
    [[nodiscard]] bool has(int at) const { return (used_ >> static_cast<unsigned>(at) & 1U) != 0; }
    [[nodiscard]] value_type* slot(int at) { return std::launder(reinterpret_cast<value_type*>(room_[at].bytes)); }
    template <class... Arguments>
    value_type* make(int at, Id id, Arguments&&... arguments) {
      value_type* made = ::new (static_cast<void*>(room_[at].bytes))
          value_type(std::piecewise_construct, std::forward_as_tuple(id),
                     std::forward_as_tuple(std::forward<Arguments>(arguments)...));
      used_ |= 1U << static_cast<unsigned>(at);
      return made;
    }
    void destroy(int at) {
      used_ &= ~(1U << static_cast<unsigned>(at));
      std::destroy_at(slot(at));
    }

   private:
    struct alignas(value_type) Slot {
      std::byte bytes[sizeof(value_type)];
    };
    std::uint64_t number_;    // holds the ids from kSlots * number_ on
    std::uint32_t used_ = 0;  // a bit a slot
    Slot room_[kSlots];       // values are made in it as they come
  };
  using Pages = std::vector<std::unique_ptr<Page>>;

  template <bool kConst>
  class Iterator {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = IdTable::value_type;
    using difference_type = std::ptrdiff_t;
    using pointer = std::conditional_t<kConst, const value_type*, value_type*>;
    using reference = std::conditional_t<kConst, const value_type&, value_type&>;

    Iterator() = default;
    template <bool kOther>
      requires(kConst && !kOther)
    // NOLINTNEXTLINE(google-explicit-constructor): as of a std::map
    Iterator(const Iterator<kOther>& other) : at_(other.at_), end_(other.end_), slot_(other.slot_) {}

    reference operator*() const { return *(*at_)->slot(slot_); }
    pointer operator->() const { return (*at_)->slot(slot_); }
    Iterator& operator++() {
      const std::uint32_t left = (*at_)->used() >> static_cast<unsigned>(slot_) >> 1U;
      if (left != 0) {
        slot_ += 1 + std::countr_zero(left);
      } else {
        *this = Iterator(at_ + 1, end_);
      }
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    // Requires: it is not at the first value.
    Iterator& operator--() {
      const std::uint32_t below = at_ == end_ ? 0 : (*at_)->used() & ((1U << static_cast<unsigned>(slot_)) - 1);
      if (below == 0) --at_;
      slot_ = 31 - std::countl_zero(below == 0 ? (*at_)->used() : below);
      return *this;
    }
    Iterator operator--(int) {
      const Iterator before = *this;
      --*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_ && slot_ == other.slot_; }

   private:
    friend class IdTable;
    friend class Iterator<true>;
    using At = const std::unique_ptr<Page>*;
    // At the first value of the page; past all where there is none.
    Iterator(At at, At end) : at_(at), end_(end), slot_(at == end ? 0 : std::countr_zero((*at)->used())) {}
    Iterator(At at, At end, int slot) : at_(at), end_(end), slot_(slot) {}
    At at_ = nullptr;
    At end_ = nullptr;
    int slot_ = 0;
  };

 public:
  using iterator = Iterator<false>;
  using const_iterator = Iterator<true>;

  IdTable() = default;
  IdTable(const IdTable& other) { copy(other); }
  IdTable(IdTable&& other) noexcept : pages_(std::move(other.pages_)), size_(std::exchange(other.size_, 0)) {
    other.pages_.clear();
  }
  IdTable& operator=(const IdTable& other) {
    if (this != &other) *this = IdTable(other);
    return *this;
  }
  IdTable& operator=(IdTable&& other) noexcept {
    pages_ = std::move(other.pages_);
    other.pages_.clear();
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~IdTable() = default;

  [[nodiscard]] iterator begin() { return {first_page(), last_page()}; }
  [[nodiscard]] iterator end() { return {last_page(), last_page()}; }
  [[nodiscard]] const_iterator begin() const { return {first_page(), last_page()}; }
  [[nodiscard]] const_iterator end() const { return {last_page(), last_page()}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  // The largest id. Requires: not empty.
  [[nodiscard]] Id last() const {
    TP_CHECK(size_ > 0, "an empty table has no last id");
    return pages_.back()->slot(31 - std::countl_zero(pages_.back()->used()))->first;
  }

  [[nodiscard]] iterator find(Id id) { return found<iterator>(id); }
  [[nodiscard]] const_iterator find(Id id) const { return found<const_iterator>(id); }
  [[nodiscard]] bool contains(Id id) const { return found<const_iterator>(id) != end(); }
  [[nodiscard]] T& at(Id id) { return present(find(id))->second; }
  [[nodiscard]] const T& at(Id id) const { return present(find(id))->second; }
  T& operator[](Id id) { return try_emplace(id).first->second; }

  // The first value whose id is not below, or above `id`.
  [[nodiscard]] const_iterator lower_bound(Id id) const {
    const std::uint64_t number = id.number() / kSlots;
    const std::size_t at = place_of(number);
    if (at == pages_.size() || pages_[at]->number() != number) return {first_page() + at, last_page()};
    const std::uint32_t left = pages_[at]->used() >> static_cast<unsigned>(slot_of(id));
    if (left == 0) return {first_page() + at + 1, last_page()};
    return {first_page() + at, last_page(), slot_of(id) + std::countr_zero(left)};
  }
  [[nodiscard]] const_iterator upper_bound(Id id) const {
    const const_iterator found = lower_bound(id);
    return found != end() && found->first == id ? std::next(found) : found;
  }

  // Nothing happens if the id is there.
  template <class... Arguments>
  std::pair<iterator, bool> try_emplace(Id id, Arguments&&... arguments) {
    const std::uint64_t number = id.number() / kSlots;
    const std::size_t at = place_of(number);
    if (at == pages_.size() || pages_[at]->number() != number) {
      pages_.insert(pages_.begin() + static_cast<std::ptrdiff_t>(at), std::make_unique<Page>(number));
    }
    Page& page = *pages_[at];
    const int slot = slot_of(id);
    const bool is_new = !page.has(slot);
    if (is_new) {
      page.make(slot, id, std::forward<Arguments>(arguments)...);
      ++size_;
    }
    return {iterator(first_page() + at, last_page(), slot), is_new};
  }
  template <class... Arguments>
  std::pair<iterator, bool> emplace(Id id, Arguments&&... arguments) {
    return try_emplace(id, std::forward<Arguments>(arguments)...);
  }
  std::pair<iterator, bool> insert_or_assign(Id id, T value) {
    auto made = try_emplace(id, std::move(value));
    // Where the id is new the value has been taken already, else it is untouched.
    if (!made.second) made.first->second = std::move(value);  // NOLINT(bugprone-use-after-move)
    return made;
  }
  template <class Iterator>
  void insert(Iterator first, Iterator last) {
    for (; first != last; ++first) try_emplace(first->first, first->second);
  }

  // How many there were: none or one.
  std::size_t erase(Id id) {
    const auto found = find(id);
    if (found == end()) return 0;
    erase(found);
    return 1;
  }
  void erase(const_iterator where) {
    const auto at = static_cast<std::ptrdiff_t>(where.at_ - first_page());
    Page& page = **where.at_;
    page.destroy(where.slot_);
    if (page.used() == 0) pages_.erase(pages_.begin() + at);
    --size_;
  }
  void clear() {
    pages_.clear();
    size_ = 0;
  }

 private:
  static int slot_of(Id id) { return static_cast<int>(id.number() % kSlots); }
  [[nodiscard]] const std::unique_ptr<Page>* first_page() const { return pages_.data(); }
  [[nodiscard]] const std::unique_ptr<Page>* last_page() const { return pages_.data() + pages_.size(); }

  // Of the page, or of the first one behind where it would be.
  [[nodiscard]] std::size_t place_of(std::uint64_t number) const {
    return rising_place(pages_, number, [](const auto& page) { return page->number(); });
  }
  template <class Found>
  [[nodiscard]] Found found(Id id) const {
    const std::size_t at = place_of(id.number() / kSlots);
    const bool is_there =
        at < pages_.size() && pages_[at]->number() == id.number() / kSlots && pages_[at]->has(slot_of(id));
    return is_there ? Found(first_page() + at, last_page(), slot_of(id)) : Found(last_page(), last_page());
  }
  template <class Found>
  [[nodiscard]] Found present(Found found) const {
    TP_CHECK(found.at_ != last_page(), "an id that is asked for is in its table");
    return found;
  }
  void copy(const IdTable& other) {
    pages_.reserve(other.pages_.size());
    for (const auto& page : other.pages_) {
      Page& made = *pages_.emplace_back(std::make_unique<Page>(page->number()));
      for (std::uint32_t left = page->used(); left != 0; left &= left - 1) {
        const int at = std::countr_zero(left);
        const value_type& value = *page->slot(at);
        made.make(at, value.first, value.second);
        ++size_;
      }
    }
  }

  Pages pages_;  // by number; none is empty
  std::size_t size_ = 0;
};

}  // namespace tidepool
