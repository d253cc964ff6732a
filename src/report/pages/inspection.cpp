#include "report/pages/inspection.h"

#include <algorithm>

#include "catalog/analyses.h"
#include "core/code_identity.h"
#include "core/directory_lock.h"
#include "core/error.h"

namespace mneme::report {
namespace {

// The cells of a table whose numbers are plain already.
Records plain_records(const Table& table) {
  Records records;
  for (const auto& row : table.rows) {
    Record& record = records.emplace_back();
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const Json number = Json::parse(row[i], nullptr, false);
      record[table.columns[i].title] = number.is_number() ? Record(number.get<double>()) : Record(row[i]);
    }
  }
  return records;
}

Path folder_of(const Path& run_directory) { return run_directory / "inspect"; }

Json tables_json(const std::vector<ReportTable>& tables) {
  Json list = Json::array();
  for (const ReportTable& one : tables) {
    Json columns = Json::array();
    for (const Column& column : one.table.columns) columns.push_back(column.title);
    list.push_back(
        {{"name", one.name}, {"title", one.title}, {"note", one.note}, {"columns", columns}, {"rows", one.table.rows}});
  }
  return list;
}

Json section_json(const ReportSection& section) {
  Json figures = Json::array();
  for (const ReportFigure& figure : section.figures)
    figures.push_back({{"name", figure.name}, {"caption", figure.caption}, {"spec", figure.specification}});
  return {{"title", section.title},
          {"sentences", section.findings},
          {"figures", figures},
          {"tables", tables_json(section.tables)}};
}

}  // namespace

std::vector<InspectionResult> kept_inspections(const Path& run_directory) {
  std::vector<InspectionResult> found;
  std::int64_t newest = 0;
  for (const catalog::AnalysisEntry& entry : catalog::analysis_catalog()) {
    const Path file = folder_of(run_directory) / (entry.name + ".json");
    if (!std::filesystem::exists(file)) continue;
    const Json kept = parse_json(read_file(file), file.string());
    try {
      found.push_back({entry.name, kept.at("step"), kept.at("examples"), kept.at("result")});
    } catch (const Json::exception& error) {
      throw Error(ErrorKind::data, file.string(), std::string("not a result of mneme inspect: ") + error.what());
    }
    if (!entry.of_the_record) newest = std::max(newest, found.back().step);
  }
  std::erase_if(found, [&](const InspectionResult& one) {
    return one.step != newest && !catalog::find_analysis(one.analysis).of_the_record;
  });
  return found;
}

std::vector<std::string> keep_inspections(const Path& run_directory, const InspectedRun& run,
                                          const std::vector<InspectionResult>& results, const RenderTools& tools) {
  const Path folder = folder_of(run_directory);
  file_system().create_directories(folder);
  // inspect.json is made of what others kept meanwhile too.
  const DirectoryLock lock(folder);
  for (const InspectionResult& one : results)
    write_file_atomically(folder / (one.analysis + ".json"), canonical({{"analysis", one.analysis},
                                                                        {"run", run.id},
                                                                        {"code", describe(this_code())},
                                                                        {"step", one.step},
                                                                        {"examples", one.examples},
                                                                        {"result", one.result}}) +
                                                                 "\n");
  std::vector<std::string> messages;
  Json sections = Json::array();
  for (const InspectionResult& one : kept_inspections(run_directory)) {
    const ReportSection section = inspection_section(one.analysis, one.result, run);
    sections.push_back(section_json(section));
    const bool is_new = std::any_of(results.begin(), results.end(),
                                    [&](const InspectionResult& result) { return result.analysis == one.analysis; });
    if (!is_new) continue;
    for (const ReportFigure& figure : section.figures) {
      const Rendering rendering = render_figure(figure.specification, folder / figure.name, tools);
      messages.insert(messages.end(), rendering.messages.begin(), rendering.messages.end());
    }
    for (const ReportTable& table : section.tables)
      if (!table.name.empty())
        write_file_atomically(folder / (table.name + ".csv"), to_csv(plain_records(table.table)));
  }
  write_file_atomically(run_directory / "inspect.json", canonical({{"run", run.id}, {"sections", sections}}) + "\n");
  return messages;
}

}  // namespace mneme::report
