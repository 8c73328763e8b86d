# Debian packages by CPack: libgale0, libgale-dev, libgale-front0, libgale-front-dev, gale, python3-gale, and gale-NAME for each
# connector that is built as a plugin. script/package makes them; the build that they are made of is configured for /usr.
set(GALE_PACKAGE_CONTACT "The gale maintainers <maintainers@gale.invalid>" CACHE STRING "Who answers for the packages")
set(CPACK_PACKAGE_NAME gale)
set(CPACK_PACKAGE_CONTACT ${GALE_PACKAGE_CONTACT})
set(CPACK_PACKAGE_VENDOR gale)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
    WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package/stage.cmake)
set(CPACK_GALE_COPYRIGHT ${PROJECT_SOURCE_DIR}/cmake/package/copyright) # for that script
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SOURCE gale)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_COMPONENTS_ALL)

set(same "(= ${PROJECT_VERSION})")
set(about "gale is Apache Storm's processing model in C: spouts and bolts, tuple trees
that are acked or fail and come again, groupings, tick tuples, windows and
rankings. One process on one machine does what takes others a cluster.")

# gale_package(NAME SECTION SUMMARY TEXT DEPENDS...): what has programs or shared libraries depends on what they need besides.
macro(gale_package name section summary text)
  list(APPEND CPACK_COMPONENTS_ALL ${name})
  string(TOUPPER ${name} upper)
  string(REPLACE ";" ", " depends "${ARGN}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${about}\n\n${text}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_SHLIBDEPS ON)
  if("${section}" STREQUAL libdevel)
    set(CPACK_DEBIAN_${upper}_PACKAGE_SHLIBDEPS OFF)
  endif()
endmacro()

# gale_package_libraries(NAME LIBRARY...): who links one of them depends on the package, and the linker's cache is renewed.
macro(gale_package_libraries name)
  set(folder ${PROJECT_BINARY_DIR}/package/${name})
  set(lines "")
  foreach(library ${ARGN})
    string(APPEND lines "lib${library} ${PROJECT_VERSION_MAJOR} ${name} (>= ${PROJECT_VERSION})\n")
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/shlibs CONTENT "${lines}")
  file(CONFIGURE OUTPUT ${folder}/triggers CONTENT "activate-noawait ldconfig\n")
  string(TOUPPER ${name} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${folder}/shlibs ${folder}/triggers)
endmacro()

gale_package(libgale0 libs "stream processing after Storm's model (libraries)"
  "This package has libgale and its simulator, which need the C library alone.")
gale_package_libraries(libgale0 gale gale-sim)
gale_package(libgale-dev libdevel "stream processing after Storm's model (development)"
  "This package has headers, static libraries and what CMake and pkg-config need
for libgale and libgale-sim." "libgale0 ${same}" libc6-dev)
gale_package(libgale-front0 libs "stream processing after Storm's model (topology files)"
  "This package has the libraries beside libgale: topologies from YAML files,
expressions, packed files, the store of durable runs, what is served of a run." "libgale0 ${same}")
gale_package_libraries(libgale-front0 gale-front gale-script gale-gzip gale-store gale-serve)
set(CPACK_DEBIAN_LIBGALE-FRONT0_PACKAGE_RECOMMENDS "libmicrohttpd12 (>= 0.9.75) | libmicrohttpd12t64") # loaded when a run serves
gale_package(libgale-front-dev libdevel "topology files after Storm's model (development)"
  "This package has headers and static libraries of what is in libgale-front0."
  "libgale-front0 ${same}" "libgale-dev ${same}" libyaml-dev liblua5.4-dev libpcre2-dev libsqlite3-dev zlib1g-dev)
gale_package(gale utils "stream processing after Storm's model (program)"
  "This package has the program: it runs and checks topologies that are written in
YAML files, simulates them with faults, and looks after the state of runs that
may be killed.")
set(CPACK_DEBIAN_GALE_PACKAGE_RECOMMENDS "libmicrohttpd12 (>= 0.9.75) | libmicrohttpd12t64") # loaded when a run serves
gale_package(python3-gale python "stream processing after Storm's model (Python)"
  "This package has spouts, bolts and topologies in Python." "python3 (>= 3.11)" "libgale0 (>= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON3-GALE_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON3-GALE_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON3-GALE_PACKAGE_RECOMMENDS libgale-front0)
set(CPACK_DEBIAN_PYTHON3-GALE_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/package/python3-gale/postinst
    ${PROJECT_SOURCE_DIR}/cmake/package/python3-gale/prerm)

# A plugin needs who loads it, and is linked with nothing of gale.
set(connectors)
foreach(name ${GALE_INSTALLED_CONNECTORS})
  gale_connector_get(${name} TEXT does)
  gale_connector_get(${name} CLASSES classes)
  list(JOIN classes "\n * " classes)
  gale_package(gale-${name} utils "stream processing after Storm's model (${name})"
    "This package has a plugin that topology files load by naming one of these:\n * ${classes}\nIt ${does}."
    "gale (>= ${PROJECT_VERSION}) | libgale-front0 (>= ${PROJECT_VERSION})")
  list(APPEND connectors gale-${name})
endforeach()
list(JOIN connectors ", " CPACK_DEBIAN_GALE_PACKAGE_SUGGESTS)
include(CPack)
