# Compiler settings common to every target.
find_program(CCACHE ccache)
if(CCACHE)
  # The precompiled torch header is cached too; ccache must be told that its defines are honest. Paths inside the tree count
  # as relative ones, so that every clone on a machine shares one cache.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()

# No -ffast-math and no contraction: the same expression gives the same bits in every kernel.
add_compile_options(-ffp-contract=off -fno-omit-frame-pointer)
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
add_compile_definitions(_GLIBCXX_ASSERTIONS)

if(MNEME_SANITIZE)
  add_compile_options(-fsanitize=${MNEME_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${MNEME_SANITIZE})
endif()

add_library(mneme_warnings INTERFACE)
target_compile_options(mneme_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wnon-virtual-dtor;-Woverloaded-virtual>
  $<$<BOOL:${MNEME_WERROR}>:-Werror>)
