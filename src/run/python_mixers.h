// Python mixers for the front end, which has no Python: a worker is asked, and only for what the store does not know.
#pragma once

#include <memory>

#include "catalog/python_mixer.h"
#include "core/subprocess.h"

namespace mneme::run {

class AskedMixers : public catalog::PythonMixers {
 public:
  Json describe(const Path& file, const std::string& class_name) override;
  Json measure(const catalog::PythonClass& python, const catalog::MixerContext& context, const Json& options) override;
  Json try_order(const catalog::PythonClass& python, const Json& options) override;

 private:
  // One worker answers all questions: loading Python and torch takes seconds, an answer takes milliseconds.
  Json answer(const Json& request, std::string_view event, const char* field);
  std::unique_ptr<LineProcess> worker_;
};

}  // namespace mneme::run
