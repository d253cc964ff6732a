# What code a program was built from: a hash of the sources that can change a number, made at build time without git.
# Only src/core/code_identity.cpp reads it, so an edit costs one small compilation more than itself.
#
# Included by CMakeLists.txt it sets up that step; run as a script (cmake -P) it is the step.
if(CMAKE_SCRIPT_MODE_FILE)
  file(STRINGS ${LIST} files)
  set(text "${SETTINGS}\n")
  foreach(file ${files})
    file(SHA256 ${SOURCE}/${file} hash)
    string(APPEND text "${file} ${hash}\n")
  endforeach()
  string(SHA256 hash "${text}")
  string(SUBSTRING ${hash} 0 12 build)
  set(header "#pragma once\n#define MNEME_CODE_VERSION \"${VERSION}\"\n#define MNEME_CODE_BUILD \"${build}\"\n")
  set(present "")
  if(EXISTS ${OUTPUT})
    file(READ ${OUTPUT} present)
  endif()
  if(NOT present STREQUAL header)
    file(WRITE ${OUTPUT} "${header}")
  endif()
  return()
endif()

option(MNEME_RELEASE "This is the source of a release: its version has no suffix" OFF)
set(code_folders core kernels tasks catalog config ops nn mixers python models train worker)
list(TRANSFORM code_folders PREPEND ${PROJECT_SOURCE_DIR}/src/ OUTPUT_VARIABLE code_globs)
set(code_files "")
foreach(folder ${code_globs})
  file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${folder}/*.cpp ${folder}/*.h ${folder}/*.py)
  list(APPEND code_files ${found})
endforeach()
list(APPEND code_files cmake/toolchain.cmake)
list(SORT code_files)
list(JOIN code_files "\n" code_lines)
set(code_directory ${PROJECT_BINARY_DIR}/code_identity)
# Written only when the list changes, so that a new configuration alone rebuilds nothing.
file(CONFIGURE OUTPUT ${code_directory}/files.txt CONTENT "${code_lines}\n" @ONLY)
set(code_version ${PROJECT_VERSION})
if(NOT MNEME_RELEASE)
  string(APPEND code_version "-dev")
endif()
list(TRANSFORM code_files PREPEND ${PROJECT_SOURCE_DIR}/)
add_custom_command(
  OUTPUT ${code_directory}/core/code_identity_of_build.h
  COMMAND ${CMAKE_COMMAND} -DLIST=${code_directory}/files.txt -DSOURCE=${PROJECT_SOURCE_DIR} -DVERSION=${code_version}
    "-DSETTINGS=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_BUILD_TYPE} ${CMAKE_CXX_FLAGS}"
    -DOUTPUT=${code_directory}/core/code_identity_of_build.h -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${code_files} ${code_directory}/files.txt ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Hashing the sources" VERBATIM)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/core/code_identity.cpp PROPERTIES
  OBJECT_DEPENDS ${code_directory}/core/code_identity_of_build.h INCLUDE_DIRECTORIES ${code_directory}
  SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
