#include "report/pages/study_record.h"

#include <algorithm>
#include <tuple>

#include "core/config.h"

namespace mneme::report {
namespace {

// "train.lr" -> /train/lr.
Json value_at(const Json& config, std::string path) {
  std::replace(path.begin(), path.end(), '.', '/');
  const Json::json_pointer at("/" + path);
  return config.contains(at) ? config.at(at) : Json();
}

}  // namespace

void remember_study(const store::Lab& lab, const study::Study& study) {
  Json ids = Json::array(), fields = Json::array(), points = Json::array(), figures = Json::array();
  for (const study::Axis& axis : study.axes) fields.push_back(axis.path);
  for (const config::RunConfig& run : study.runs) {
    ids.push_back(run.id);
    Json point = Json::array();
    const Json config = run.json();
    for (const study::Axis& axis : study.axes) point.push_back(value_at(config, axis.path));
    points.push_back(std::move(point));
  }
  for (const ConfigValue& figure : study.figures) figures.push_back(config_to_json(figure));
  write_file_atomically(lab.studies() / (study.file_name() + ".json"), Json{{"name", study.name},
                                                                            {"title", study.title},
                                                                            {"scale", study.scale},
                                                                            {"runs", ids},
                                                                            {"overrides", study.overrides},
                                                                            {"fields", fields},
                                                                            {"points", points},
                                                                            {"figures", figures}}
                                                                               .dump() +
                                                                           "\n");
}

std::vector<StudyRecord> remembered_studies(const store::Lab& lab) {
  std::vector<StudyRecord> studies;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(lab.studies(), none)) {
    try {
      const Json json = parse_json(read_file(entry.path()), entry.path().string());
      studies.push_back({entry.path().stem().string(), json.at("name"), json.at("title"), json.at("scale"),
                         json.at("runs"), json.value("overrides", std::vector<std::string>{}),
                         json.value("fields", std::vector<std::string>{}), json.value("points", Json::array()),
                         json.value("figures", Json::array())});
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
