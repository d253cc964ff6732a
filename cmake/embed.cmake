# A static library that holds the texts of some files: mneme_embed(TARGET FOLDER PATTERN DELIMITER SOURCE_TEMPLATE).
# In the template @entries@ becomes one line {"NAME", R"DELIMITER(text)DELIMITER"}, for each file, by name; NAME is its
# path in the folder without extension. The file is written again only if it differs.
function(mneme_embed target folder pattern delimiter template)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/${pattern})
  list(SORT files)
  set(entries "")
  foreach(file ${files})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${file})
    string(REGEX REPLACE "\\.[^.]*$" "" name ${file})
    file(READ ${folder}/${file} text)
    string(APPEND entries "    {\"${name}\", R\"${delimiter}(${text})${delimiter}\"},\n")
  endforeach()
  configure_file(${template} ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp @ONLY)
  add_library(${target} STATIC ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src)
endfunction()
