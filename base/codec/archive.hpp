// The one codec for the journal, snapshots and the worker protocol. One description of a struct's fields serves both
// directions: fields(archive, value) names each field once, a Writer puts the fields into JSON and a Reader reads them.
// So what is written is what is read; a missing or an additional field is an error. A third argument is the form of a
// value in JSON, such as a range: archive("step", m.step, codec::Range{0, 100}).
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/codec/forms.hpp"
#include "base/codec/reader_writer.hpp"
#include "base/codec/sparse.hpp"
#include "base/codec/structs.hpp"
#include "base/codec/values.hpp"
#include "base/utf8.hpp"

namespace tidepool::codec {

// Decodes what append_as_row() (text_writer.hpp) wrote for a T into a blank T.
template <class T>
Status decode_sparse(const nlohmann::json& in, const std::string& where, T& value) {
  if constexpr (Described<T>) {
    return decode_fields(in, where, value, true);
  } else {
    if (!in.is_object()) return codec::decode(in, where, value);
    nlohmann::json whole = in;
    fill_in(whole, codec::encode(T{}));
    return codec::decode(whole, where, value);
  }
}

template <class T>
Status decode_sparse(const nlohmann::json& in, const std::string& where, SharedValue<T>& value) {
  T plain{};
  TP_TRY(decode_sparse(in, where, plain));
  value = std::move(plain);
  return ok_status();
}

template <class T>
void Writer::operator()(const char* name, const T& value) {
  out_[name] = codec::encode(value);
}
template <class T, class Form>
void Writer::operator()(const char* name, const T& value, const Form& form) {
  out_[name] = encode_as(value, form);
}

inline const nlohmann::json* Reader::take(const char* name) {
  if (error_ || (sparse_ && asked_ == in_.size())) return nullptr;
  const auto found = in_.find(name);
  if (found == in_.end()) return nullptr;
  ++asked_;
  return &*found;
}
inline void Reader::type(const char* name) {
  const auto* found = take("type");
  if (found == nullptr || *found != name) fail("type", std::string("must be \"") + name + "\"");
}
template <class T>
void Reader::operator()(const char* name, T& value) {
  const auto* found = take(name);
  if (found == nullptr) {
    if (!error_ && !sparse_) fail(name, "is needed");
    return;
  }
  keep(sparse_ ? decode_sparse(*found, at(name), value) : codec::decode(*found, at(name), value));
}
template <class T, class Form>
void Reader::operator()(const char* name, T& value, const Form& form) {
  const auto* found = take(name);
  if (found == nullptr || found->is_null()) return fail(name, "is needed");
  keep(decode_as(*found, at(name), value, form));
}
template <class T, class Form>
void Reader::optional(const char* name, T& value, const Form& form) {
  const auto* found = take(name);
  if (found == nullptr || found->is_null()) return make_none(value);
  keep(decode_as(*found, at(name), value, form));
}
inline void Reader::constant(const char* name, int value) {
  int read = value;
  (*this)(name, read, Range{value, value});
}
inline constexpr std::size_t kToldOfName = 40;
inline void Reader::refuse_unknown(const std::vector<std::string>& known) {
  for (const auto& [name, value] : in_.items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto meant = nearest_word(name, known);
    fail(cut_to(name, kToldOfName),
         "is not a field here" + (meant ? "; did you mean \"" + *meant + "\"?" : std::string()));
  }
}

}  // namespace tidepool::codec
