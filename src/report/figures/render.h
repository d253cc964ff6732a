// Figures as files: the specification itself, SVG and PNG.
#pragma once

#include <string>
#include <vector>

#include "core/files.h"
#include "core/json.h"

namespace mneme::report {

// The programs that draw; names are looked up on PATH.
struct RenderTools {
  std::string node = "node";
  std::string rsvg_convert = "rsvg-convert";
};

struct Rendering {
  std::vector<Path> written;          // in the order .vl.json, .svg, .png; as far as it got
  std::vector<std::string> messages;  // one for each file that could not be drawn, with the reason
};

// Writes `stem`.vl.json, `stem`.svg (by node) and `stem`.png (by rsvg-convert, three pixels for
// each of the figure's). A missing or failing program costs the files that need it and is a message; the
// HTML report needs neither. Throws Error(io) only if a file cannot be written.
Rendering render_figure(const Json& figure, const Path& stem, const RenderTools& tools = {});

}  // namespace mneme::report
