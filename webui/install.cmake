# Runs `npm ci` unless the packages are at least as new as the lock file. Called under a lock.
set(lock_file ${CMAKE_CURRENT_LIST_DIR}/package-lock.json)
if(EXISTS ${STAMP} AND NOT ${lock_file} IS_NEWER_THAN ${STAMP})
  return()
endif()
set(ENV{PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD} 1)
execute_process(COMMAND ${NPM} ci --no-audit --no-fund --loglevel=error
  WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "npm ci failed (${result}). It needs the npm registry once; check the network and the messages "
    "above, or configure with -DTIDEPOOL_WEBUI=OFF for a daemon without dashboard.")
endif()
file(TOUCH ${STAMP})
