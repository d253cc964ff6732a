#include "serve/figure_json.h"

namespace mneme::serve {

Json table_json(const report::Table& table) {
  Json columns = Json::array();
  for (const report::Column& column : table.columns) columns.push_back(column.title);
  return {{"columns", columns}, {"rows", table.rows}};
}

Json figures_json(const std::vector<report::FigureReport>& reports, const std::vector<report::FigureRequest>& requests,
                  const std::string& title) {
  Json figures = Json::array();
  for (std::size_t i = 0; i < reports.size(); ++i) {
    Json tables = Json::array();
    for (const report::ReportTable& one : reports[i].tables) {
      Json table = table_json(one.table);
      table.update(
          {{"name", one.name}, {"title", one.title}, {"note", one.note}, {"csv", report::to_csv(one.records)}});
      tables.push_back(std::move(table));
    }
    const std::string& kind = requests[i].kind->name;
    // A kind that draws nothing still has its tables.
    Json first = {{"name", kind}, {"kind", kind}, {"title", title}, {"caption", ""}, {"spec", Json()}};
    first.update({{"tables", tables}, {"findings", reports[i].findings}});
    for (std::size_t j = 0; j < std::max<std::size_t>(reports[i].figures.size(), 1); ++j) {
      Json figure = first;
      if (j < reports[i].figures.size()) {
        const report::ReportFigure& drawn = reports[i].figures[j];
        figure.update({{"name", drawn.name}, {"caption", drawn.caption}, {"spec", drawn.specification}});
      }
      if (j > 0) figure.update({{"tables", Json::array()}, {"findings", Json::array()}});
      figures.push_back(std::move(figure));
    }
  }
  return figures;
}

Json claims_json(const std::vector<report::JudgedClaim>& claims) {
  Json list = Json::array();
  for (const report::JudgedClaim& claim : claims) {
    Json one = report::claim_json(claim);
    one["id"] = claim.claim->id;
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace mneme::serve
