#include "cli/old_names.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "cli/command.h"

namespace mneme::cli {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value;
}

}  // namespace

void add_old_options(CLI::App& app, Context& context) {
  app.add_option("--claims", context.leases_option)
      ->each([](const std::string&) {
        print_note("--claims is now called --leases; the old name will stop working in the next release");
      })
      ->group("");
}

std::vector<std::string> notes_on_old_names(const store::Lab& lab, const std::string& leases_option) {
  std::vector<std::string> notes;
  if (leases_option.empty() && !is_set("MNEME_LEASES") && is_set("MNEME_CLAIMS"))
    notes.push_back("MNEME_CLAIMS is now called MNEME_LEASES; the old name will stop working in the next release");
  for (const auto& [file, old, name] : {std::tuple{lab.leases(), store::Lab::kOldLeases, "leases.db"},
                                        std::tuple{lab.leases_id(), store::Lab::kOldLeasesId, "leases.id"}})
    if (file.filename() == old)
      notes.push_back(
          fmt::format("{} is now called {}; the old name will stop working in the next release; rename the file when "
                      "nothing is running",
                      file.string(), name));
  return notes;
}

}  // namespace mneme::cli
