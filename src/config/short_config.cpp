#include "config/short_config.h"

#include "core/error.h"

namespace mneme::config {
namespace {

std::string id_of(RunResolver& resolver, const Json& config) {
  try {
    return resolver.resolve(config_from_json(config, "config")).id;
  } catch (const Error&) {
    return "";  // the field that was left out cannot be
  }
}

// Leaves out what it can of a table, field by field; `root` is the whole that the table is part of.
void shorten(Json& root, const Json::json_pointer& at, RunResolver& resolver, const std::string& id) {
  const Json whole = root.at(at);
  for (const auto& [key, value] : whole.items()) {
    const Json::json_pointer field = at / key;
    root.at(at).erase(key);
    if (id_of(resolver, root) == id) continue;
    root[field] = value;
    if (value.is_object()) shorten(root, field, resolver, id);
  }
}

}  // namespace

Json short_config(const Json& complete) {
  RunResolver resolver;
  const std::string id = resolver.resolve(config_from_json(complete, "config")).id;
  Json config = complete;
  shorten(config, Json::json_pointer(), resolver, id);
  return config;
}

}  // namespace mneme::config
