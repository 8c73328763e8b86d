# What `gale new` writes, as a source of the program: gale_templates(OUTPUT) makes it of the files in templates/KIND, whenever one of
# them changes.
function(gale_templates output)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/templates ${PROJECT_SOURCE_DIR}/templates/*/*)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  set(arrays "")
  set(rows "")
  set(number 0)
  foreach(file ${files})
    gale_bytes(${PROJECT_SOURCE_DIR}/templates/${file} bytes)
    get_filename_component(kind ${file} DIRECTORY)
    get_filename_component(name ${file} NAME)
    string(APPEND arrays "static const unsigned char file_${number}[] = { ${bytes} };\n")
    string(APPEND rows "    { \"${kind}\", \"${name}\", file_${number}, sizeof file_${number} },\n")
    math(EXPR number "${number} + 1")
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
       "/* Made of templates/ by cmake/templates.cmake. */\n#include \"cli/templates.h\"\n\n${arrays}\nconst gx_template gx_templates[] = {\n${rows}};\n\nconst size_t gx_template_count = ${number};\n")
endfunction()
