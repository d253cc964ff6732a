// Where versions of users' Python sources are kept, each under its hash: SOURCE/files/* and SOURCE/Class.json.
//
// A run is trained from the version that it was planned with, whatever happens to the file meanwhile. The store is in
// MNEME_CACHE, else in ~/.cache/mneme; it can be deleted at any time, and is filled again from the files themselves.
// Each run directory has a place of the same form, `python/`, with what that run was trained from.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "catalog/python_class.h"

namespace mneme::catalog {

// The store of this user.
Path python_store();

// Looks in `place` too, for as long as the process lives: the directory of a run that is to go on.
void also_look_in(const Path& place);

// The class in this version, from the store or another place.
std::optional<PythonClass> stored_class(const PythonName& name, const std::string& source);

// Writes what Python told of a class, {"source", "files": {"x.py": text}, ...}, to a place, unless it is there.
void store_class(const Path& place, const Json& description, const std::string& class_name);

// Copies a class with its files.
void keep_class(const PythonClass& python, const Path& place);

// The version that the files of a class had when it was last described, if none of them has changed since.
std::optional<std::string> unchanged_source(const Path& file, const std::string& class_name);
void remember_files(const Path& file, const std::string& class_name, const Json& description);

// Small facts that took a moment to find out; a miss is null, and an answer that cannot be kept is only lost.
Json remembered_fact(const std::string& key);
void remember_fact(const std::string& key, const Json& value);

}  // namespace mneme::catalog
