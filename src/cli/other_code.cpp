#include "cli/other_code.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <set>

#include "cli/command.h"
#include "cli/confirm.h"
#include "core/error.h"
#include "core/text.h"
#include "store/lease_holder.h"
#include "store/run_code.h"
#include "store/trash.h"

namespace mneme::cli {
namespace {

std::string count_of(std::size_t runs) { return fmt::format("{} run{}", runs, runs == 1 ? "" : "s"); }

std::string makers(const store::OtherCode& found) {
  std::vector<std::string> parts;
  for (const auto& [code, runs] : found.made_by)
    parts.push_back(found.made_by.size() == 1 ? code : fmt::format("{} ({})", code, runs));
  return join(parts, "; ");
}

void train_again(const store::OtherCode& found, const store::Lab& lab, bool yes) {
  std::vector<std::string> ids = found.other;
  ids.insert(ids.end(), found.unknown.begin(), found.unknown.end());
  if (ids.empty()) return;
  if (!confirmed(fmt::format("move {} made by other or unknown code to {} and train again", count_of(ids.size()),
                             lab.trash().string()),
                 yes))
    throw Error(ErrorKind::usage, "--same-code", "nothing was done");
  const auto leases = store::open_leases(lab, {.holder = store::our_holder()});
  for (const std::string& id : ids) store::move_to_trash(lab, id, *leases);
  print_note(fmt::format("moved {} to {}", count_of(ids.size()), lab.trash().string()));
}

}  // namespace

void CodeChoice::add(CLI::App& app) {
  app.add_flag("--same-code", same_code,
               "do not reuse runs made by other code: move them to the lab's trash and train again");
  app.add_flag("--yes", yes, "with --same-code: do not ask");
}

void reckon_with_other_code(std::span<const std::string> ids, const store::Lab& lab, const CodeChoice& choice) {
  // A search comes with more runs round after round: each is spoken of once.
  static std::set<std::string> told;
  std::vector<std::string> untold;
  for (const std::string& id : ids)
    if (told.insert(id).second) untold.push_back(id);
  const store::OtherCode found = store::find_other_code(lab, untold);
  if (choice.same_code) return train_again(found, lab, choice.yes);
  if (!found.other.empty())
    print_warning(fmt::format(
        "{} made by other code ({}; this program is {}) and reused as {}. To train again: --same-code (train, sweep) "
        "or `mneme retry --done`",
        found.other.size() == 1 ? fmt::format("run {} was", found.other.front())
                                : fmt::format("{} were", count_of(found.other.size())),
        makers(found), describe(this_code()), found.other.size() == 1 ? "it is" : "they are"));
  if (!found.unknown.empty())
    print_note(fmt::format("{} from before the code was recorded; reused as {}", count_of(found.unknown.size()),
                           found.unknown.size() == 1 ? "it is" : "they are"));
}

}  // namespace mneme::cli
