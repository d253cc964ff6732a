# The dashboard's tests: types, arithmetic, and the page in a real browser where chromium is installed. They have packages of their own
# (tsc, playwright-core), so that who only builds the programs does not download them.
set(dashboard_dir ${PROJECT_BINARY_DIR}/web/npm-dev)
set(web_source ${PROJECT_SOURCE_DIR}/web)
file(GLOB_RECURSE dashboard_sources CONFIGURE_DEPENDS ${web_source}/dashboard/* ${web_source}/src/*)

add_custom_command(
  OUTPUT ${dashboard_dir}/packages.stamp
  COMMAND ${CMAKE_COMMAND} -E make_directory ${dashboard_dir}
  COMMAND ${CMAKE_COMMAND} -E copy ${web_source}/package.json ${web_source}/package-lock.json ${web_source}/.npmrc ${dashboard_dir}
  COMMAND ${CMAKE_COMMAND} -E chdir ${dashboard_dir} ${MNEME_NPM} ci --prefer-offline --loglevel=error
  COMMAND ${CMAKE_COMMAND} -E touch ${dashboard_dir}/packages.stamp
  DEPENDS ${web_source}/package.json ${web_source}/package-lock.json ${web_source}/.npmrc
  COMMENT "Installing the npm packages of the dashboard's tests"
  VERBATIM)
add_custom_command(
  OUTPUT ${dashboard_dir}/sources.stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${dashboard_dir}/src ${dashboard_dir}/dashboard
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${web_source}/src ${dashboard_dir}/src
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${web_source}/dashboard ${dashboard_dir}/dashboard
  COMMAND ${CMAKE_COMMAND} -E touch ${dashboard_dir}/sources.stamp
  DEPENDS ${dashboard_dir}/packages.stamp ${dashboard_sources}
  COMMENT "Preparing the dashboard's tests"
  VERBATIM)
add_custom_target(mneme-dashboard-tests ALL DEPENDS ${dashboard_dir}/sources.stamp)

function(dashboard_test name)
  add_test(NAME Dashboard.${name} COMMAND ${ARGN} WORKING_DIRECTORY ${dashboard_dir})
  set_tests_properties(Dashboard.${name} PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77
    ENVIRONMENT "MNEME_ASSETS=${PROJECT_BINARY_DIR}/web/assets/dashboard;MNEME=${PROJECT_BINARY_DIR}/mneme;OMP_NUM_THREADS=1;OPENBLAS_NUM_THREADS=1")
endfunction()
dashboard_test(Types ${MNEME_NODE} node_modules/typescript/bin/tsc --noEmit -p dashboard)
dashboard_test(Arithmetic ${MNEME_NODE} dashboard/test/unit_test.mjs)
dashboard_test(Browser ${MNEME_NODE} dashboard/test/browser_test.mjs)
# With the real server and a real sweep.
if(EXISTS ${PROJECT_SOURCE_DIR}/src/cli/commands/serve.cpp)
  dashboard_test(Live ${MNEME_NODE} dashboard/test/live_test.mjs)
endif()
