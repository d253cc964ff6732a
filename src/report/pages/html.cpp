#include "report/pages/html.h"

#include <fmt/format.h>

#include "report/pages/assets.h"

namespace mneme::report {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light; --ink: #1f2328; --quiet: #5f6771; --line: #d9dde2; --paper: #fff; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, "Liberation Sans", sans-serif; }
main { max-width: 54rem; margin: 0 auto; padding: 3rem 1.5rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; letter-spacing: -0.015em; margin: 0 0 .6rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.6rem 0 .7rem; overflow-wrap: anywhere; }
p { margin: 0 0 .8rem; max-width: 44rem; }
.summary { font-size: 1.08rem; color: var(--quiet); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.2rem; margin: 1.2rem 0 0; font-size: .92rem; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
h2.section { font-size: 1.45rem; margin-top: 4rem; padding-top: 1.2rem; border-top: 1px solid var(--line); }
ul { margin: 1.6rem 0 0; padding-left: 1.2rem; max-width: 44rem; }
figure { margin: 2.2rem 0; }
.figure { width: 100%; min-height: 4rem; }
.figure svg { min-width: min(38rem, 100%); max-width: 100%; height: auto; }
.figure.failed { color: #a40000; border: 1px solid currentColor; border-radius: 4px; padding: 1rem; }
figcaption, .note { font-size: .9rem; color: var(--quiet); max-width: 44rem; margin-top: .6rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .32rem .9rem .32rem 0; border-bottom: 1px solid var(--line); vertical-align: top;
  white-space: nowrap; }
th { font-weight: 600; border-bottom: 1.5px solid var(--ink); }
.number { text-align: right; }
.sentence { white-space: normal; min-width: 12rem; }
summary { cursor: pointer; font-size: 1.15rem; font-weight: 600; margin: 2.6rem 0 .7rem; }
a { color: #0059a8; text-underline-offset: .15em; }
footer { margin-top: 3rem; padding-top: .8rem; border-top: 1px solid var(--line); font-size: .82rem; color: var(--quiet); }
@media print {
  main { max-width: none; padding: 0; }
  body { font-size: 10pt; }
  figure, tr { break-inside: avoid; }
  .vega-embed details, noscript { display: none; }
}
)css";

std::string render_facts(const Facts& facts) {
  if (facts.empty()) return "";
  std::string html = "<dl>\n";
  for (const auto& [name, value] : facts)
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(name), escape_html(value));
  return html + "</dl>\n";
}

std::string render_figure(const ReportFigure& figure, std::size_t number) {
  return fmt::format(
      "<figure>\n<div class=\"figure\" data-figure=\"figure-{0}\" data-name=\"{1}\">"
      "<noscript>The figure is drawn by a script in this file; scripts are switched off.</noscript></div>\n"
      "<script type=\"application/json\" id=\"figure-{0}\">{2}</script>\n"
      "<figcaption>{3}</figcaption>\n</figure>\n",
      number, escape_html(figure.name), json_for_script(figure.specification), escape_html(figure.caption));
}

std::string render_table(const ReportTable& table) {
  const std::string title = escape_html(table.title);
  std::string body = fmt::format("<div class=\"scroll\">\n{}</div>\n", to_html(table.table));
  if (!table.note.empty()) body += fmt::format("<p class=\"note\">{}</p>\n", escape_html(table.note));
  return table.folded ? fmt::format("<details>\n<summary>{}</summary>\n{}</details>\n", title, body)
                      : fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", title, body);
}

std::string render_section(const ReportSection& section, std::size_t& number) {
  std::string body;
  if (!section.title.empty())
    body += fmt::format("<h2 class=\"section\"{}>{}</h2>\n",
                        section.anchor.empty() ? "" : fmt::format(" id=\"{}\"", escape_html(section.anchor)),
                        escape_html(section.title));
  body += render_facts(section.facts);
  if (!section.findings.empty()) {
    body += "<ul>\n";
    for (const std::string& finding : section.findings) body += fmt::format("<li>{}</li>\n", escape_html(finding));
    body += "</ul>\n";
  }
  for (const ReportFigure& figure : section.figures) body += render_figure(figure, ++number);
  for (const ReportTable& table : section.tables) body += render_table(table);
  return body;
}

}  // namespace

std::string json_for_script(const Json& value) {
  const std::string json = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    switch (c) {
      case '<': safe += "\\u003c"; break;
      case '>': safe += "\\u003e"; break;
      case '&': safe += "\\u0026"; break;
      default: safe += c;
    }
  }
  return safe;
}

std::string render_page(const ReportPage& page) {
  std::string body;
  std::size_t figures = 0;
  for (const ReportSection& section : page.sections) body += render_section(section, figures);
  const std::string summary =
      page.summary.empty() ? "" : fmt::format("<p class=\"summary\">{}</p>\n", escape_html(page.summary));
  // Vega sets style attributes and one style element; scripts are limited to the one with this hash.
  const std::string policy = fmt::format(
      "default-src 'none'; script-src '{}'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
      "form-action 'none'",
      asset("figure.js.integrity"));
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
      "<h1>{title}</h1>\n{summary}{facts}{body}<footer>{footer}</footer>\n</main>\n"
      "<script>{script}</script>\n</body>\n</html>\n",
      fmt::arg("policy", policy), fmt::arg("title", escape_html(page.title)), fmt::arg("style", kStyle),
      fmt::arg("summary", summary), fmt::arg("facts", render_facts(page.facts)), fmt::arg("body", body),
      fmt::arg("footer", escape_html(page.footer)), fmt::arg("script", asset("figure.js")));
}

}  // namespace mneme::report
