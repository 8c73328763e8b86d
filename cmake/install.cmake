# cmake --install: program, libraries, headers, what pkg-config and find_package read. All of it is relocatable. Components are
# the Debian packages that they become (cmake/packages.cmake).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(GALE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/gale)
set(GALE_PKGCONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Where the prefix is, seen from the folder of the .pc files.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(GALE_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH up /${GALE_PKGCONFIG_DIR} /)
  string(REGEX REPLACE "/$" "" up ${up})
  set(GALE_PC_PREFIX "\${pcfiledir}/${up}")
endif()
foreach(kind LIB INCLUDE)
  if(IS_ABSOLUTE ${CMAKE_INSTALL_${kind}DIR})
    set(GALE_PC_${kind}DIR ${CMAKE_INSTALL_${kind}DIR})
  else()
    set(GALE_PC_${kind}DIR "\${prefix}/${CMAKE_INSTALL_${kind}DIR}")
  endif()
endforeach()

# gale_install_library(OUTPUT TEXT COMPONENT [BESIDE LIBRARY...] [PACKAGES PC...] [LIBS -lX...])
#   COMPONENT   libgale for libgale0 and libgale-dev
#   BESIDE      others of gale's libraries that a static one needs
#   PACKAGES    what it needs of others, by their names in pkg-config; LIBS: without one
# Adds itself to GALE_INSTALLED, a line of gale-config.cmake.
set(GALE_INSTALLED)
function(gale_install_library output text component)
  cmake_parse_arguments(PARSE_ARGV 3 of "" "" "BESIDE;PACKAGES;LIBS")
  string(REPLACE - _ target ${output})
  string(REPLACE gale- "" name ${output})
  install(TARGETS ${target}_shared_library ${target}_static_library
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component}0 NAMELINK_COMPONENT ${component}-dev
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component}-dev)
  set(GALE_PC_NAME ${output})
  set(GALE_PC_TEXT ${text})
  list(JOIN of_LIBS " " GALE_PC_LIBS)
  list(JOIN of_BESIDE " " beside)
  list(JOIN of_PACKAGES " " packages)
  set(GALE_PC_REQUIRES)
  if(NOT output STREQUAL gale)
    set(GALE_PC_REQUIRES "gale = ${PROJECT_VERSION}")
    # Finds libgale beside it, wherever the prefix is.
    set_target_properties(${target}_shared_library PROPERTIES INSTALL_RPATH "\$ORIGIN")
  endif()
  string(STRIP "${beside} ${packages}" GALE_PC_PRIVATE)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/package/library.pc.in ${PROJECT_BINARY_DIR}/install/${output}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/install/${output}.pc DESTINATION ${GALE_PKGCONFIG_DIR} COMPONENT ${component}-dev)
  list(TRANSFORM of_BESIDE REPLACE "gale-" "" OUTPUT_VARIABLE beside)
  string(REPLACE ";" " " beside "${beside}")
  set(GALE_INSTALLED "${GALE_INSTALLED}gale_import(${name} ${output} \"${beside}\" \"${packages}\" \"${GALE_PC_LIBS}\")\n"
      PARENT_SCOPE)
endfunction()

gale_install_library(gale "Storm's processing model: spouts, bolts, acked tuple trees" libgale LIBS -pthread)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/gale DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libgale-dev
        FILES_MATCHING PATTERN "*.h")

set(headers_front)
set(beside_front)
if(TARGET gale_store_shared_library)
  gale_install_library(gale-store "the store of gale's durable runs" libgale-front PACKAGES sqlite3)
  list(APPEND headers_front store)
endif()
if(TARGET gale_gzip_shared_library)
  gale_install_library(gale-gzip "packed files for gale's file sink" libgale-front PACKAGES zlib)
  list(APPEND headers_front gzip)
  list(APPEND beside_front gale-gzip)
endif()
if(TARGET gale_script_shared_library)
  gale_install_library(gale-script "gale's bolts of expressions and patterns" libgale-front
                       PACKAGES ${GALE_LUA_PACKAGE} libpcre2-8 LIBS -lm)
  list(APPEND headers_front script)
  list(APPEND beside_front gale-script)
endif()
if(TARGET gale_front_shared_library)
  gale_install_library(gale-front "gale's topologies from files" libgale-front BESIDE ${beside_front}
                       PACKAGES yaml-0.1 LIBS -lm)
  list(APPEND headers_front front)
endif()
if(TARGET gale_serve_shared_library)
  set(serve_packages yaml-0.1 zlib)
  if(TARGET gale_script_shared_library)
    list(APPEND serve_packages ${GALE_LUA_PACKAGE} libpcre2-8)
  endif()
  gale_install_library(gale-serve "what others see of a run: gale's page, REST and metrics" libgale-front
                       PACKAGES ${serve_packages} LIBS -lm)
  list(APPEND headers_front serve)
endif()
if(TARGET gale_sim_shared_library)
  gale_install_library(gale-sim "gale's simulator: topologies on virtual time, with faults" libgale)
  install(FILES ${PROJECT_SOURCE_DIR}/include/gale_sim.h ${PROJECT_SOURCE_DIR}/include/gale_test.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libgale-dev)
endif()
foreach(header ${headers_front})
  install(FILES ${PROJECT_SOURCE_DIR}/include/gale_${header}.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          COMPONENT libgale-front-dev)
endforeach()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/package/gale-config.cmake.in
  ${PROJECT_BINARY_DIR}/install/gale-config.cmake INSTALL_DESTINATION ${GALE_CMAKE_DIR}
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/install/gale-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/install/gale-config.cmake ${PROJECT_BINARY_DIR}/install/gale-config-version.cmake
        DESTINATION ${GALE_CMAKE_DIR} COMPONENT libgale-dev)

if(TARGET gale)
  install(TARGETS gale RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT gale)
  # The program writes its own manual page.
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/install/gale.1 DEPENDS gale
    COMMAND gale help --man > ${PROJECT_BINARY_DIR}/install/gale.1 COMMENT "Writing gale.1")
  add_custom_target(gale_man ALL DEPENDS ${PROJECT_BINARY_DIR}/install/gale.1)
  install(FILES ${PROJECT_BINARY_DIR}/install/gale.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT gale)
  set(GALE_SYSTEMD_DIR lib/systemd/system CACHE STRING "Where systemd looks for unit files")
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/package/gale@.service DESTINATION ${GALE_SYSTEMD_DIR} COMPONENT gale)
  set(GALE_ZSH_DIR ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "Where zsh looks for completions")
  set(completion ${PROJECT_SOURCE_DIR}/completion)
  install(FILES ${completion}/gale.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME gale
          COMPONENT gale)
  install(FILES ${completion}/_gale DESTINATION ${GALE_ZSH_DIR} COMPONENT gale)
  install(FILES ${completion}/gale.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT gale)
  # README and docs/, whose links hold where they are installed.
  install(CODE "execute_process(COMMAND \${CMAKE_COMMAND} -DFROM=${PROJECT_SOURCE_DIR} -DTO=${PROJECT_BINARY_DIR}/install/documents
                                        -P ${PROJECT_SOURCE_DIR}/cmake/documents.cmake COMMAND_ERROR_IS_FATAL ANY)" COMPONENT gale)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/install/documents/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT gale)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT gale
          REGEX "/examples/CMakeLists.txt$" EXCLUDE PATTERN build EXCLUDE)
endif()

# gale's connectors, each a package: where the program looks for plugins, which moves with the prefix.
set(GALE_PLUGIN_DESTINATION ${GALE_PLUGIN_FOLDER})
if(GALE_PLUGINS_MOVE)
  file(RELATIVE_PATH GALE_PLUGIN_DESTINATION ${CMAKE_INSTALL_PREFIX} ${GALE_PLUGIN_FOLDER})
endif()
get_property(GALE_INSTALLED_CONNECTORS GLOBAL PROPERTY GALE_BUILT_CONNECTORS)
foreach(name ${GALE_INSTALLED_CONNECTORS})
  install(TARGETS gale_connector_${name} LIBRARY DESTINATION ${GALE_PLUGIN_DESTINATION} COMPONENT gale-${name})
endforeach()

# The package for Python, which finds libgale by libdir.txt wherever both are moved to; below /usr the system finds it.
set(GALE_PYTHON_DIR lib/python3/dist-packages CACHE STRING "Where Python looks for packages")
if(NOT IS_ABSOLUTE ${GALE_PYTHON_DIR} AND NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  file(RELATIVE_PATH libdir /${GALE_PYTHON_DIR}/gale /${CMAKE_INSTALL_LIBDIR})
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/install/libdir.txt CONTENT "${libdir}\n")
  if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    install(FILES ${PROJECT_BINARY_DIR}/install/libdir.txt DESTINATION ${GALE_PYTHON_DIR}/gale COMPONENT python3-gale)
  endif()
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/python/gale DESTINATION ${GALE_PYTHON_DIR} COMPONENT python3-gale
        FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)

add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DMANIFESTS=${PROJECT_BINARY_DIR}/install_manifest*.txt
                  -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake COMMENT "Removing what was installed" VERBATIM)
