# Plugins that are parts of the program: for one that is linked statically, and can load none.
#
#   GALE_LINKED_PLUGINS    folders, with semicolons between them; a plugin is called as its folder is, and made of the *.c and *.cpp in it, with the
#                          public headers alone. What it needs beside the C library, CMAKE_EXE_LINKER_FLAGS or CMAKE_C_STANDARD_LIBRARIES say.
#
# gale_link_plugins(TARGET [FOLDERS FOLDER...] [CONNECTORS NAME...])
#                        links such into a program, and gale's own (connectors.cmake), and writes the table in which it finds them. There,
#                        gale_plugin_v1 is called gale_plugin_v1_NAME.
# gale_show_to_plugins(TARGET)
#                        puts all of libgale into a program and shows its public functions to what it loads, and nothing else
set(GALE_LINKED_PLUGINS "" CACHE STRING "Folders of plugins that are linked into the program")
foreach(folder ${GALE_LINKED_PLUGINS})
  get_filename_component(folder ${folder} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
  file(GLOB sources ${folder}/*.cpp)
  if(sources)
    enable_language(CXX) # here, not in the function below, where it would be forgotten
    set(CMAKE_CXX_STANDARD 17)
    set(CMAKE_CXX_STANDARD_REQUIRED ON)
  endif()
endforeach()

# One of them, of its sources.
function(gale_link_plugin target name)
  if(TARGET ${target}_plugin_${name})
    message(FATAL_ERROR "GALE_LINKED_PLUGINS, GALE_LINKED_CONNECTORS: two plugins are called '${name}'")
  endif()
  string(MAKE_C_IDENTIFIER ${name} word)
  add_library(${target}_plugin_${name} OBJECT ${ARGN})
  target_compile_definitions(${target}_plugin_${name} PRIVATE gale_plugin_v1=gale_plugin_v1_${word})
  target_include_directories(${target}_plugin_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} PRIVATE ${target}_plugin_${name})
endfunction()

function(gale_link_plugins target)
  cmake_parse_arguments(PARSE_ARGV 1 of "" "" "FOLDERS;CONNECTORS")
  set(names ${of_CONNECTORS})
  foreach(folder ${of_FOLDERS})
    get_filename_component(folder ${folder} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
    get_filename_component(name ${folder} NAME)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c ${folder}/*.cpp)
    if(NOT sources)
      message(FATAL_ERROR "GALE_LINKED_PLUGINS: there is no *.c or *.cpp in ${folder}")
    endif()
    gale_link_plugin(${target} ${name} ${sources})
    list(APPEND names ${name})
  endforeach()
  foreach(name ${of_CONNECTORS})
    gale_connector_get(${name} SOURCES sources)
    gale_link_plugin(${target} ${name} ${sources})
    target_include_directories(${target}_plugin_${name} PRIVATE ${GALE_SOURCES})
    target_link_libraries(${target}_plugin_${name} PUBLIC gale_needs_${name})
    target_link_libraries(${target}_plugin_${name} PRIVATE gale_hardening)
  endforeach()
  set(entries)
  set(rows)
  foreach(name ${names})
    string(MAKE_C_IDENTIFIER ${name} word)
    string(APPEND entries "gx_plugin_entry_fn gale_plugin_v1_${word};\n")
    string(APPEND rows "    { \"${name}\", gale_plugin_v1_${word} },\n")
  endforeach()
  list(LENGTH names count)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/linked/${target}.c CONTENT
       "#include \"cli/linked.h\"\n\n@entries@\nconst size_t gx_cli_linked_count = @count@;\nconst gx_linked_plugin gx_cli_linked[] = {\n@rows@    { NULL, NULL },\n};\n"
       @ONLY)
  target_sources(${target} PRIVATE ${PROJECT_BINARY_DIR}/linked/${target}.c)
endfunction()

# What is shown, cmake/plugins.list says.
function(gale_show_to_plugins target)
  get_property(objects GLOBAL PROPERTY GALE_LIBGALE_OBJECTS)
  target_sources(${target} PRIVATE ${objects})
  if(GALE_LOADER)
    target_link_options(${target} PRIVATE -Wl,--dynamic-list=${PROJECT_SOURCE_DIR}/cmake/plugins.list)
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/plugins.list)
  endif()
endfunction()
