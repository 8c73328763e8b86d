# The documents as they are installed: README, CHANGES and docs/. A link to what is not installed becomes its text.
#
#   cmake -DFROM=SOURCES -DTO=FOLDER -P documents.cmake
set(missing "src|test|include|script|cmake|web|bindings|bench|templates|completion|LICENSE|CONTRIBUTING\\.md|SECURITY\\.md")

file(REMOVE_RECURSE ${TO})
file(GLOB_RECURSE pages RELATIVE ${FROM} ${FROM}/docs/*.md)
foreach(page README.md CHANGES.md ${pages})
  file(READ ${FROM}/${page} text)
  string(REGEX REPLACE "\\[([^][]*)\\]\\((\\.\\./)*(${missing})(/[^)]*)?\\)" "\\1" text "${text}")
  file(WRITE ${TO}/${page} "${text}")
endforeach()
file(GLOB_RECURSE others RELATIVE ${FROM} ${FROM}/docs/*.png ${FROM}/docs/*.svg ${FROM}/docs/*.yaml ${FROM}/docs/*.json ${FROM}/docs/*.py)
foreach(other ${others})
  get_filename_component(folder ${other} DIRECTORY)
  file(COPY ${FROM}/${other} DESTINATION ${TO}/${folder})
endforeach()
