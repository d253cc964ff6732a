// Commands by which people say what they think of runs: tag, note.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/command.h"
#include "cli/run_selection.h"
#include "cli/terminal/fit.h"
#include "cli/terminal/terminal.h"
#include "core/error.h"
#include "core/text.h"
#include "store/run_notes.h"

namespace mneme::cli {
namespace {

struct TagOptions {
  std::string tag;
  RunSelection runs;
  bool remove = false;
};

int list_tags(store::Index& index, bool json) {
  const auto tags = index.tags();
  if (json) {
    print_json({{"tags", tags}});
    return 0;
  }
  report::Table table{.columns = {{"tag"}, {"runs", report::Align::right}}, .rows = {}};
  for (const auto& [tag, count] : tags) table.rows.push_back({tag, std::to_string(count)});
  fmt::print("{}", tags.empty() ? "no run is tagged; tag one with `mneme tag NAME RUN`\n" : fit(table));
  return 0;
}

int tag(const TagOptions& options, const Context& context) {
  const store::Lab lab = context.lab();
  lab.require();
  store::Index index = open_index(lab);
  if (options.tag.empty() && options.runs.empty() && !options.remove) return list_tags(index, context.json);
  store::check_tag(options.tag);
  options.runs.require_some();
  const std::vector<std::string> ids = options.runs.ids(index);
  std::vector<std::string> changed;
  for (const std::string& id : ids)
    store::change_notes(lab.run(id), [&](store::RunNotes& notes) {
      const auto found = std::find(notes.tags.begin(), notes.tags.end(), options.tag);
      if ((found != notes.tags.end()) != options.remove) return;
      changed.push_back(id);
      if (options.remove)
        notes.tags.erase(found);
      else
        notes.tags.push_back(options.tag);
    });
  index.rebuild_runs(changed);
  if (context.json)
    print_json({{"tag", options.tag}, {options.remove ? "removed" : "tagged", changed}, {"selected", ids.size()}});
  else
    fmt::print("{} {} '{}'{}\n", counted(changed.size(), "run"), options.remove ? "lost the tag" : "tagged",
               options.tag,
               changed.size() < ids.size() ? fmt::format("; {} {}", ids.size() - changed.size(),
                                                         options.remove                     ? "did not have it"
                                                         : ids.size() - changed.size() == 1 ? "has it already"
                                                                                            : "have it already")
                                           : "");
  return 0;
}

struct NoteOptions {
  std::string run;
  std::vector<std::string> words;
  bool remove = false;
};

int note(const NoteOptions& options, const Context& context) {
  if (options.remove && !options.words.empty())
    throw Error(ErrorKind::usage, "note", "got both a text and --remove, expected only one of them");
  const store::Lab lab = context.lab();
  lab.require();
  store::Index index = open_index(lab);
  const std::string id = find_run_id(index, options.run);
  if (options.remove || !options.words.empty()) {
    store::change_notes(lab.run(id), [&](store::RunNotes& notes) { notes.note = join(options.words, " "); });
    index.rebuild_runs({id});
  }
  const std::string text = store::read_notes(lab.run(id)).note;
  if (context.json) {
    print_json({{"id", id}, {"note", text}});
    return 0;
  }
  fmt::print("{}: {}\n", id, text.empty() ? "no note" : harmless(text));
  return 0;
}

}  // namespace

void add_tag(CLI::App& app, Context& context) {
  auto options = std::make_shared<TagOptions>();
  app.add_option("tag", options->tag, "the tag; without it, list the tags of this lab")->type_name("TAG");
  options->runs.add(app);
  app.add_flag("--remove", options->remove, "remove the tag");
  app.callback([options, &context] { context.action = [options, &context] { return tag(*options, context); }; });
  add_examples(app,
               "  mneme tag baseline 3f2a 9b1c\n  mneme tag good mixer=mamba 'test>=90%'\n"
               "  mneme tag --remove good 3f2a\n  mneme runs tag=baseline");
}

void add_note(CLI::App& app, Context& context) {
  auto options = std::make_shared<NoteOptions>();
  app.add_option("run", options->run, "a run id, or its first digits")->required()->type_name("RUN");
  app.add_option("text", options->words, "the text of the note; without it, print the note")->type_name("TEXT");
  app.add_flag("--remove", options->remove, "remove the note");
  app.callback([options, &context] { context.action = [options, &context] { return note(*options, context); }; });
  add_examples(app,
               "  mneme note 3f2a \"loss spike at step 900; rerun with clipping\"\n  mneme note 3f2a\n"
               "  mneme runs note=spike");
}

}  // namespace mneme::cli
