# What applications link: libgale and the libraries beside it, each shared and static, made of the floors' objects.
#
# A shared library exports what its public header declares, under the version GALE_0, and nothing else; its calls of its own
# functions do not go through the linkage table. A static one is a single object whose inner symbols are local to it, so that no
# gx_ name can meet a name of the application. What a library beside libgale needs of the inner floors it has once more, of
# gale_internal; public functions of libgale it takes from there.
#
# gale_library(OUTPUT FLOORS FLOOR... [HEADER gale_x.h...] [BESIDE LIBRARY...] [NEEDS TARGET...])
#   OUTPUT   gale, gale-store: makes the targets gale_store_shared_library and gale_store_static_library, the alias gale::store
#   HEADER   those whose functions it exports; libgale has all of include/gale
#   BESIDE   others of these libraries that it calls
#   NEEDS    libraries of others
include(CheckLinkerFlag)
check_linker_flag(C "-Wl,-Bsymbolic-functions" GALE_HAS_symbolic_functions)
set(gale_shared_options)
if(GALE_HAS_symbolic_functions)
  list(APPEND gale_shared_options -Wl,-Bsymbolic-functions)
endif()
if(NOT GALE_SANITIZE) # whose functions are in the program alone
  list(APPEND gale_shared_options -Wl,-z,defs)
endif()

# Names that a header beside include/gale marks GALE_API.
function(gale_names_of header ret_names)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/${header})
  file(STRINGS ${PROJECT_SOURCE_DIR}/include/${header} lines REGEX "^GALE_API ")
  set(names)
  foreach(line ${lines})
    string(REGEX REPLACE "^[^(]*[ *](gale_[a-z0-9_]+)\\(.*" "\\1" name "${line}")
    list(APPEND names ${name})
  endforeach()
  set(${ret_names} ${names} PARENT_SCOPE)
endfunction()

# The linker's version script, and objcopy's list of what stays global.
function(gale_write_names output names)
  list(JOIN names "; " exported)
  list(JOIN names "\n" lines)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/exports/${output}.map CONTENT "GALE_0 { global: ${exported}; local: *; };\n")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/exports/${output}.names CONTENT "${lines}\n")
endfunction()

# One object of many, with what it takes of an archive, and its inner symbols made local.
function(gale_one_object output objects archive keep)
  set(one ${PROJECT_BINARY_DIR}/exports/${output}.o)
  set(from)
  if(archive)
    set(from $<TARGET_FILE:${archive}>)
  endif()
  add_custom_command(OUTPUT ${one} DEPENDS ${objects} ${archive} ${PROJECT_BINARY_DIR}/exports/${output}.names
    COMMAND ${CMAKE_LINKER} -r -o ${one} ${objects} ${from}
    COMMAND ${CMAKE_OBJCOPY} ${keep} ${one}
    COMMENT "Joining lib${output}.a" VERBATIM COMMAND_EXPAND_LISTS)
  set_source_files_properties(${one} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
endfunction()

function(gale_library output)
  cmake_parse_arguments(PARSE_ARGV 1 of "" "" "HEADER;FLOORS;BESIDE;NEEDS")
  string(REPLACE - _ target ${output})
  string(REPLACE gale- "" alias ${output})
  set(objects)
  foreach(floor ${of_FLOORS})
    list(APPEND objects $<TARGET_OBJECTS:gale_${floor}_objects>)
  endforeach()
  if(of_HEADER)
    set(names)
    foreach(header ${of_HEADER})
      gale_names_of(${header} more)
      list(APPEND names ${more})
    endforeach()
    gale_write_names(${output} "${names}")
    gale_one_object(${output} "${objects}" gale_internal --keep-global-symbols=${PROJECT_BINARY_DIR}/exports/${output}.names)
  else()
    gale_write_names(${output} "gale_*; gx_object_*") # that one in builds with GALE_CHECKS alone (base/object.h)
    gale_one_object(${output} "${objects}" "" --localize-hidden)
  endif()
  add_library(${target}_shared_library SHARED ${objects})
  add_library(${target}_static_library STATIC ${PROJECT_BINARY_DIR}/exports/${output}.o)
  foreach(floor ${of_FLOORS}) # Makefiles see other targets' objects as files only
    add_dependencies(${target}_static_library gale_${floor}_objects)
  endforeach()
  set_target_properties(${target}_static_library PROPERTIES LINKER_LANGUAGE C)
  foreach(kind shared static)
    set(library ${target}_${kind}_library)
    set_target_properties(${library} PROPERTIES OUTPUT_NAME ${output} ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
                          LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    target_include_directories(${library} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
    foreach(other ${of_BESIDE})
      string(REPLACE - _ other ${other})
      target_link_libraries(${library} PUBLIC ${other}_${kind}_library)
    endforeach()
  endforeach()
  set_target_properties(${target}_shared_library PROPERTIES SOVERSION ${PROJECT_VERSION_MAJOR} VERSION ${PROJECT_VERSION}
                        LINK_DEPENDS ${PROJECT_BINARY_DIR}/exports/${output}.map)
  target_link_options(${target}_shared_library PRIVATE -Wl,--version-script=${PROJECT_BINARY_DIR}/exports/${output}.map
                      ${gale_shared_options})
  if(of_HEADER)
    target_link_libraries(${target}_shared_library PRIVATE gale_shared_library gale_internal)
  endif()
  target_link_libraries(${target}_shared_library PRIVATE ${of_NEEDS} gale_hardening Threads::Threads)
  target_link_libraries(${target}_static_library PUBLIC ${of_NEEDS} Threads::Threads)
  if(BUILD_SHARED_LIBS)
    add_library(gale::${alias} ALIAS ${target}_shared_library)
  else()
    add_library(gale::${alias} ALIAS ${target}_static_library)
  endif()
endfunction()
