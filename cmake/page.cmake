# The page, as a source of the program: gale_page(OUTPUT) makes it of web/dist, which script/web makes.
function(gale_page output)
  set(arrays "")
  set(rows "")
  foreach(file index.html page.js page.css)
    gale_bytes(${PROJECT_SOURCE_DIR}/web/dist/${file} bytes)
    string(MAKE_C_IDENTIFIER ${file} word)
    string(APPEND arrays "static const unsigned char ${word}[] = { ${bytes} };\n")
    string(APPEND rows "    { \"${file}\", ${word}, sizeof ${word} },\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
       "/* Made of web/dist by cmake/page.cmake. */\n#include \"serve/page_files.h\"\n\n${arrays}\nconst gx_page_file gx_page_files[GX_PAGE_FILES] = {\n${rows}};\n")
endfunction()
