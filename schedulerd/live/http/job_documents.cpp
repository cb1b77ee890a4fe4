#include "schedulerd/live/http/job_documents.hpp"

#include <utility>

#include "base/json.hpp"

namespace tidepool::live::http {

JobDocument read_document(const core::JobSpec& spec) {
  JobDocument document;
  const auto parsed = parse_json(spec.document);
  if (!parsed) return document;
  document.text = canonical_json(*parsed);
  if (parsed->contains("labels")) document.labels = parsed->at("labels");
  const nlohmann::json::json_pointer steps("/run/args/steps");
  if (parsed->contains(steps) && parsed->at(steps).is_number_integer()) document.steps_total = parsed->at(steps);
  return document;
}

bool is_listed(const core::JobSpec& spec) {
  // Files are stored in canonical form: quotes inside a text are escaped, so none is taken for these names.
  return spec.document.find(R"("labels":{")") != std::string::npos ||
         spec.document.find(R"("steps":)") != std::string::npos;
}

std::shared_ptr<const JobDocument> JobDocuments::listed(const core::Job& job) {
  static const auto kNothing = std::make_shared<const JobDocument>();
  return is_listed(job.spec) ? of(job) : kNothing;
}

std::shared_ptr<const JobDocument> JobDocuments::of(const core::Job& job) {
  const auto found = kept_.find(job.id);
  if (found != kept_.end() && found->second.source == job.spec.document) return found->second.document;
  if (found != kept_.end()) {
    bytes_ -= found->second.bytes();
    kept_.erase(found);
  }
  ++readings_;
  auto document = std::make_shared<const JobDocument>(read_document(job.spec));
  const auto& kept = kept_.emplace(job.id, Kept{.source = job.spec.document, .document = document}).first->second;
  bytes_ += kept.bytes();
  while (bytes_ > bytes_max_) {
    bytes_ -= kept_.begin()->second.bytes();
    kept_.erase(kept_.begin());
  }
  return document;
}

}  // namespace tidepool::live::http
