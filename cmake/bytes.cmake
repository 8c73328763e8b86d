# Files as tables of bytes in C: gale_bytes(FILE RESULT) is "0x3c,0x21,..."; who uses it is configured anew when the file changes.
function(gale_bytes file result)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  set(${result} "${bytes}" PARENT_SCOPE)
endfunction()
