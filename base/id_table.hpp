// A map by id in ascending order, for ids that are assigned sequentially. Neighbours share a page of memory, so a
// lookup takes one step and iterating over small values reads memory sequentially. Otherwise it behaves like a
// std::map: a value keeps its address until it is erased. An iterator is valid until an id is added or erased.
//
// A SharedIdTable shares its pages with its copies until one of them is written to (copy on write): a copy costs a
// pointer for every 16 ids, a write copies at most one page. Copies may be read and dropped on other threads. Its
// iterators are read-only; edit() gives write access to a value, which keeps its address until the table is copied.
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

template <class Id, class T, bool kShared = false>
class IdTable {
 public:
  using key_type = Id;
  using mapped_type = T;
  using value_type = std::pair<const Id, T>;
  using size_type = std::size_t;

 private:
  static constexpr std::uint64_t kSlots = 16;  // per page: few enough that an old id alone in its page wastes little

  class Page {
   public:
    explicit Page(std::uint64_t number) : number_(number) {}
    Page(const Page& other) : number_(other.number_) {
      for (std::uint32_t left = other.used_; left != 0; left &= left - 1) {
        const value_type& value = *other.slot(std::countr_zero(left));
        make(std::countr_zero(left), value.first, value.second);
      }
    }
    Page& operator=(const Page&) = delete;
    ~Page() {
      for (std::uint32_t left = used_; left != 0; left &= left - 1) end(std::countr_zero(left));
    }

    [[nodiscard]] std::uint64_t number() const { return number_; }
    [[nodiscard]] std::uint32_t used() const { return used_; }
    [[nodiscard]] bool has(int at) const { return (used_ >> static_cast<unsigned>(at) & 1U) != 0; }
    [[nodiscard]] value_type* slot(int at) { return const_cast<value_type*>(std::as_const(*this).slot(at)); }
    [[nodiscard]] const value_type* slot(int at) const {
      if constexpr (kApart) {
        return room_[at];
      } else {
        return std::launder(reinterpret_cast<const value_type*>(room_[at].bytes));
      }
    }
    template <class... Arguments>
    value_type* make(int at, Id id, Arguments&&... arguments) {
      const auto key = std::forward_as_tuple(id);
      auto value = std::forward_as_tuple(std::forward<Arguments>(arguments)...);
      value_type* made = nullptr;
      if constexpr (kApart) {
        made = room_[at] = new value_type(std::piecewise_construct, key, std::move(value));
      } else {
        made = ::new (static_cast<void*>(room_[at].bytes)) value_type(std::piecewise_construct, key, std::move(value));
      }
      used_ |= 1U << static_cast<unsigned>(at);
      return made;
    }
    void destroy(int at) {
      used_ &= ~(1U << static_cast<unsigned>(at));
      end(at);
    }

   private:
    // A large value is allocated separately: in a table of sparse ids, such as the jobs of one tenant, a page would
    // reserve memory for 16 values and contain one.
    static constexpr bool kApart = !kShared && sizeof(value_type) > 128;
    struct alignas(value_type) Room {
      std::byte bytes[sizeof(value_type)];
    };
    using Slot = std::conditional_t<kApart, value_type*, Room>;
    void end(int at) {
      if constexpr (kApart) {
        delete slot(at);
      } else {
        std::destroy_at(slot(at));
      }
    }
    std::uint64_t number_;    // contains the ids from kSlots * number_ on
    std::uint32_t used_ = 0;  // one bit per slot
    Slot room_[kSlots];       // values are constructed in it when they are added
  };
  using PagePointer = std::conditional_t<kShared, std::shared_ptr<Page>, std::unique_ptr<Page>>;
  using Pages = std::vector<PagePointer>;

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
    // Requires: the iterator is not at the first value.
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
    using At = const PagePointer*;
    // At the first value of the page; past the end if there is no page.
    Iterator(At at, At end) : at_(at), end_(end), slot_(at == end ? 0 : std::countr_zero((*at)->used())) {}
    Iterator(At at, At end, int slot) : at_(at), end_(end), slot_(slot) {}
    At at_ = nullptr;
    At end_ = nullptr;
    int slot_ = 0;
  };

 public:
  using iterator = Iterator<kShared>;
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
  [[nodiscard]] T& at(Id id)
    requires(!kShared)
  {
    return present(find(id))->second;
  }
  [[nodiscard]] const T& at(Id id) const { return present(find(id))->second; }
  // Returns the value for writing. Requires: the id is there.
  [[nodiscard]] T& edit(Id id) {
    const auto found = present(find(id));
    return own(static_cast<std::size_t>(found.at_ - first_page())).slot(found.slot_)->second;
  }
  T& operator[](Id id) {
    try_emplace(id);
    return edit(id);
  }

  // lower_bound: the first value whose id is not below `id`; upper_bound: the first whose id is above it.
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

  // Has no effect if the id is there.
  template <class... Arguments>
  std::pair<iterator, bool> try_emplace(Id id, Arguments&&... arguments) {
    const std::uint64_t number = id.number() / kSlots;
    const std::size_t at = place_of(number);
    if (at == pages_.size() || pages_[at]->number() != number) {
      pages_.insert(pages_.begin() + static_cast<std::ptrdiff_t>(at), PagePointer(std::make_unique<Page>(number)));
    }
    const int slot = slot_of(id);
    const bool is_new = !pages_[at]->has(slot);
    if (is_new) {
      own(at).make(slot, id, std::forward<Arguments>(arguments)...);
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
    // If the id is new, `value` has been moved from; else it is untouched.
    if (!made.second) edit(id) = std::move(value);  // NOLINT(bugprone-use-after-move)
    return made;
  }
  template <class Iterator>
  void insert(Iterator first, Iterator last) {
    for (; first != last; ++first) try_emplace(first->first, first->second);
  }

  // Returns the number of erased values: zero or one.
  std::size_t erase(Id id) {
    const auto found = find(id);
    if (found == end()) return 0;
    erase(found);
    return 1;
  }
  void erase(const_iterator where) {
    const auto at = static_cast<std::size_t>(where.at_ - first_page());
    const int slot = where.slot_;
    Page& page = own(at);
    page.destroy(slot);
    if (page.used() == 0) pages_.erase(pages_.begin() + static_cast<std::ptrdiff_t>(at));
    --size_;
  }
  void clear() {
    pages_.clear();
    size_ = 0;
  }

  // Calls on_id(id), ascending, for every id on a page that the two tables do not share; these ids include all
  // differences.
  template <class OnId>
  static void for_each_unshared(const IdTable& one, const IdTable& other, const OnId& on_id)
    requires(kShared)
  {
    auto a = one.pages_.begin();
    auto b = other.pages_.begin();
    while (a != one.pages_.end() || b != other.pages_.end()) {
      const bool has_a = a != one.pages_.end() && (b == other.pages_.end() || (*a)->number() <= (*b)->number());
      const bool has_b = b != other.pages_.end() && (a == one.pages_.end() || (*b)->number() <= (*a)->number());
      const Page& page = has_a ? **a : **b;
      const bool shared = has_a && has_b && *a == *b;
      std::uint32_t left = shared ? 0 : (has_a ? (*a)->used() : 0) | (has_b ? (*b)->used() : 0);
      if (has_a) ++a;
      if (has_b) ++b;
      for (; left != 0; left &= left - 1) {
        on_id(Id(page.number() * kSlots + static_cast<std::uint64_t>(std::countr_zero(left))));
      }
    }
  }

 private:
  static int slot_of(Id id) { return static_cast<int>(id.number() % kSlots); }
  [[nodiscard]] const PagePointer* first_page() const { return pages_.data(); }
  [[nodiscard]] const PagePointer* last_page() const { return pages_.data() + pages_.size(); }

  // The position of the page, or of the first page after the place where it would be.
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
    size_ = other.size_;
    if constexpr (kShared) {
      pages_ = other.pages_;
    } else {
      pages_.reserve(other.pages_.size());
      for (const auto& page : other.pages_) pages_.push_back(std::make_unique<Page>(*page));
    }
  }
  // The page for writing; no other table shares it afterwards.
  [[nodiscard]] Page& own(std::size_t at) {
    if constexpr (kShared) {
      // Copying the pointer orders later writes after the release of a share by another thread.
      const PagePointer held = pages_[at];
      if (held.use_count() > 2) pages_[at] = std::make_shared<Page>(*held);
    }
    return *pages_[at];
  }

  Pages pages_;  // ordered by number; no page is empty
  std::size_t size_ = 0;
};

template <class Id, class T>
using SharedIdTable = IdTable<Id, T, true>;

}  // namespace tidepool
