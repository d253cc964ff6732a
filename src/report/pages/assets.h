// Files built from web/ and compiled into the program.
#pragma once

#include <string_view>

namespace mneme::report {

// The bytes of an asset, valid for the life of the program:
//   "figure.js"            the browser bundle: Vega, Vega-Lite and drawFigures(), all ASCII
//   "figure.js.integrity"  "sha256-..." of it, as a Content-Security-Policy names it
//   "render.cjs"           a Node program: Vega-Lite on standard input, SVG on standard output
//   "dashboard/index.html", "dashboard/app.css", "dashboard/app.js"   the dashboard of `mneme serve`
// Throws std::logic_error for any other name.
std::string_view asset(std::string_view name);

}  // namespace mneme::report
