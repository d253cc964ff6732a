#include "mixers/declaration.h"

#include <fmt/format.h>

#include "core/error.h"

namespace mneme::mixers {
namespace {

void require_equal(const catalog::MixerEntry& entry, const char* what, std::int64_t found, std::int64_t declared) {
  if (found == declared) return;
  throw Error(ErrorKind::mismatch, "model.mixer",
              fmt::format("{} has {} {}, its catalog entry declares {}; correct the entry (`mneme check {}` shows all)",
                          entry.name, found, what, declared, entry.name));
}

}  // namespace

void hold_to_declaration(const Mixer& mixer, const catalog::MixerEntry& entry, const catalog::MixerContext& context,
                         const Options& options) {
  // What a Python mixer declares was measured on the module itself.
  if (entry.python) return;
  std::int64_t parameters = 0;
  for (const auto& parameter : mixer.parameters()) parameters += parameter.numel();
  require_equal(entry, "parameters", parameters, entry.parameters(context, options));
  if (!mixer.has_step()) return;
  catalog::MixerContext longer = context;
  longer.length *= 2;
  const std::int64_t declared = entry.state(context, options);
  if (entry.state(longer, options) == declared)
    require_equal(entry, "numbers of state", mixer.initial_state(1).size(), declared);
}

}  // namespace mneme::mixers
