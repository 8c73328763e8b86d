# Plugins that are parts of the program: for one that is linked statically, and can load none.
#
#   GALE_LINKED_PLUGINS    folders, with semicolons between them; a plugin is called as its folder is, and made of the *.c and *.cpp in it, with the
#                          public headers alone. What it needs beside the C library, CMAKE_EXE_LINKER_FLAGS or CMAKE_C_STANDARD_LIBRARIES say.
#
# gale_link_plugins(TARGET FOLDER...)   links such into a program, and writes the table in which it finds them. There, gale_plugin_v1 is called
#                                       gale_plugin_v1_NAME.
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

function(gale_link_plugins target)
  set(entries)
  set(rows)
  foreach(folder ${ARGN})
    get_filename_component(folder ${folder} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
    get_filename_component(name ${folder} NAME)
    string(MAKE_C_IDENTIFIER ${name} word)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c ${folder}/*.cpp)
    if(NOT sources)
      message(FATAL_ERROR "GALE_LINKED_PLUGINS: there is no *.c or *.cpp in ${folder}")
    endif()
    add_library(${target}_plugin_${name} OBJECT ${sources})
    target_compile_definitions(${target}_plugin_${name} PRIVATE gale_plugin_v1=gale_plugin_v1_${word})
    target_include_directories(${target}_plugin_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${target} PRIVATE ${target}_plugin_${name})
    string(APPEND entries "gx_plugin_entry_fn gale_plugin_v1_${word};\n")
    string(APPEND rows "    { \"${name}\", gale_plugin_v1_${word} },\n")
  endforeach()
  list(LENGTH ARGN count)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/linked/${target}.c CONTENT
       "#include \"cli/linked.h\"\n\n@entries@\nconst size_t gx_cli_linked_count = @count@;\nconst gx_linked_plugin gx_cli_linked[] = {\n@rows@    { NULL, NULL },\n};\n"
       @ONLY)
  target_sources(${target} PRIVATE ${PROJECT_BINARY_DIR}/linked/${target}.c)
endfunction()
