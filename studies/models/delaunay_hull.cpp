#include "studies/models/delaunay_hull.hpp"

extern "C" {
#include <libqhull_r/qhull_ra.h>
}

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace tidepool::policies {
namespace {

// What Qhull prints, kept in memory.
class Complaint {
 public:
  Complaint() : stream_(open_memstream(&text_, &size_)) {}
  Complaint(const Complaint&) = delete;
  Complaint& operator=(const Complaint&) = delete;
  ~Complaint() {
    std::fclose(stream_);
    std::free(text_);  // allocated by open_memstream
  }
  [[nodiscard]] FILE* stream() const { return stream_; }
  [[nodiscard]] std::string text() const {
    std::fflush(stream_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  FILE* stream_;
};

// Qhull's memory.
class Run {
 public:
  Run() { qh_zero(&qh_, complaint_.stream()); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() {
    qh_freeqhull(&qh_, !qh_ALL);
    int left = 0;
    int bytes = 0;
    qh_memfreeshort(&qh_, &left, &bytes);
  }

  // d: Delaunay; Qt: tetrahedra only; Qbb, Qz: for points on a sphere or a grid; Qc: keep coplanar points; Q12: accept
  // wide facets. `coordinates` must outlive the run.
  Status triangulate(std::vector<double>& coordinates) {
    std::string command = "qhull d Qt Qbb Qc Qz Q12";
    const int failed = qh_new_qhull(&qh_, 3, static_cast<int>(coordinates.size() / 3), coordinates.data(), 0,
                                    command.data(), nullptr, complaint_.stream());
    if (failed != 0) return invalid_argument("the points cannot be triangulated: " + complaint_.text());
    return ok_status();
  }

  [[nodiscard]] DelaunayHull found() {
    DelaunayHull hull;
    if (qh_.SCALElast != 0U) {
      hull.lift_scale = qh_.last_newhigh / (qh_.last_high - qh_.last_low);
      hull.lift_shift = -qh_.last_low * hull.lift_scale;
    }
    std::map<unsigned, int> number_of;
    for (const facetT* facet = qh_.facet_list; facet != nullptr && facet->next != nullptr; facet = facet->next) {
      if (is_lower(*facet)) number_of.emplace(facet->id, static_cast<int>(number_of.size()));
    }
    for (const facetT* facet = qh_.facet_list; facet != nullptr && facet->next != nullptr; facet = facet->next) {
      if (is_lower(*facet)) hull.facets.push_back(copied(*facet, number_of));
    }
    return hull;
  }

 private:
  [[nodiscard]] bool is_lower(const facetT& facet) const { return facet.upperdelaunay == qh_.UPPERdelaunay; }

  LiftedFacet copied(const facetT& facet, const std::map<unsigned, int>& number_of) {
    LiftedFacet copy;
    for (std::size_t i = 0; i < copy.corners.size(); ++i) {
      copy.corners[i] = qh_pointid(&qh_, static_cast<vertexT*>(facet.vertices->e[i].p)->point);
      const auto neighbour = number_of.find(static_cast<facetT*>(facet.neighbors->e[i].p)->id);
      copy.neighbours[i] = neighbour == number_of.end() ? -1 : neighbour->second;
    }
    for (std::size_t i = 0; i < 4; ++i) copy.plane[i] = facet.normal[i];
    copy.plane[4] = facet.offset;
    return copy;
  }

  Complaint complaint_;
  qhT qh_{};
};

}  // namespace

Result<DelaunayHull> delaunay_hull(std::vector<double> coordinates) {
  Run run;
  TP_TRY(run.triangulate(coordinates));
  return run.found();
}

}  // namespace tidepool::policies
