# What Debian wants of a package's files beyond installing them. CPack runs this when they lie where it packs them, a folder a
# package: a changelog and a copyright each, compressed manual pages, static libraries without what debuggers read.
find_program(gzip gzip REQUIRED)
find_program(strip strip REQUIRED)

function(gale_run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Of the day that SOURCE_DATE_EPOCH says, or today's.
function(gale_write_changelog path)
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE ${path} "gale (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n  * CHANGES.md in the package gale says what is new.\n\n"
                     " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  gale_run(${gzip} -9n ${path})
endfunction()

foreach(package ${CPACK_COMPONENTS_ALL})
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${package})
  set(doc ${root}/usr/share/doc/${package})
  file(COPY ${CPACK_GALE_COPYRIGHT} DESTINATION ${doc} FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  gale_write_changelog(${doc}/changelog)
  file(GLOB_RECURSE pages ${root}/usr/share/man/*)
  file(GLOB_RECURSE archives ${root}/usr/lib/*.a)
  foreach(page ${pages})
    gale_run(${gzip} -9n ${page})
  endforeach()
  foreach(archive ${archives})
    gale_run(${strip} --strip-debug --enable-deterministic-archives ${archive})
  endforeach()
  file(GLOB_RECURSE folders LIST_DIRECTORIES TRUE ${root}/usr/share/doc/*)
  foreach(folder ${folders} ${doc} ${root}/usr ${root}/usr/share ${root}/usr/share/doc)
    if(IS_DIRECTORY ${folder})
      file(CHMOD ${folder} PERMISSIONS ${CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})
    endif()
  endforeach()
endforeach()
