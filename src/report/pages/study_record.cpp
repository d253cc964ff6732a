#include "report/pages/study_record.h"

#include <algorithm>
#include <tuple>

namespace mneme::report {

void remember_study(const store::Lab& lab, const study::Study& study) {
  Json ids = Json::array();
  for (const config::RunConfig& run : study.runs) ids.push_back(run.id);
  write_file_atomically(lab.studies() / (study.file_name() + ".json"), Json{{"name", study.name},
                                                                            {"title", study.title},
                                                                            {"scale", study.scale},
                                                                            {"runs", ids},
                                                                            {"overrides", study.overrides}}
                                                                               .dump() +
                                                                           "\n");
}

std::vector<StudyRecord> remembered_studies(const store::Lab& lab) {
  std::vector<StudyRecord> studies;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(lab.studies(), none)) {
    try {
      const Json json = parse_json(read_file(entry.path()), entry.path().string());
      studies.push_back({json.at("name"), json.at("title"), json.at("scale"), json.at("runs"),
                         json.value("overrides", std::vector<std::string>{})});
    } catch (const std::exception&) {
      // A record is a convenience: the next sweep writes it again.
    }
  }
  std::sort(studies.begin(), studies.end(), [](const StudyRecord& a, const StudyRecord& b) {
    return std::tie(a.name, a.scale, a.overrides) < std::tie(b.name, b.scale, b.overrides);
  });
  return studies;
}

}  // namespace mneme::report
