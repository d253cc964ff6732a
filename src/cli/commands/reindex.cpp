#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/terminal/terminal.h"
#include "core/error.h"
#include "core/text.h"
#include "store/sqlite.h"

namespace mneme::cli {
namespace {

// Where its file cannot be used, the index settles for memory. That helps every command but this one.
void check_file(const Path& file, std::int64_t runs) {
  store::Database database(file);
  store::Transaction(database).commit();  // fails where nothing can be written
  store::Statement count(database, "SELECT count(*) FROM runs");
  count.step();
  if (count.integer(0) != runs)
    throw Error(ErrorKind::io, file.string(),
                fmt::format("has {} runs, expected {}: it could not be written", count.integer(0), runs));
}

int reindex(const Context& context) {
  const store::Lab lab = context.lab();
  lab.require();
  store::Index index = store::Index::open(lab);
  for (const std::string& notice : index.notices()) print_note(notice);
  index.rebuild();
  const std::int64_t runs = index.count();
  check_file(lab.index(), runs);
  if (context.json) {
    print_json({{"index", lab.index().string()}, {"runs", runs}, {"damaged", index.damaged()}});
    return 0;
  }
  for (const std::string& damage : index.damaged()) print_warning("damaged run: " + damage);
  fmt::print("{} in {}\n", counted(static_cast<std::size_t>(runs), "run"), lab.index().string());
  if (!index.damaged().empty())
    fmt::print("{} run directories could not be read and were skipped; nothing in them was changed\n",
               index.damaged().size());
  return 0;
}

}  // namespace

void add_reindex(CLI::App& app, Context& context) {
  app.callback([&context] { context.action = [&context] { return reindex(context); }; });
  add_examples(app, "  mneme reindex --lab lab");
}

}  // namespace mneme::cli
