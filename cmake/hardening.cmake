# What a release build does against the consequences of a bug, where compiler and linker have it. A stack that is overrun
# ends the process (stack protector) and does not jump over its guard page (stack clash protection); calls and returns go
# where they were meant to (CET, branch protection); copies know how much room there is (FORTIFY); tables of addresses are
# read-only before anything runs (RELRO, BIND_NOW); the program has no fixed place (PIE). What each costs is in
# docs/decisions/0017-what-hardening-costs.md; meta/hardening reads what was built.
#
# gale_hardening: an interface for the library's and the program's own sources; who links libgale does not inherit it.
# GALE_HARDENED:  what of it there is, for the test.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

add_library(gale_hardening INTERFACE)
set(GALE_HARDENED "")
# A sanitizer looks after the same, and does not go with some of it.
if(NOT GALE_HARDEN OR GALE_SANITIZE)
  return()
endif()

function(gale_harden name flag)
  string(MAKE_C_IDENTIFIER GALE_HAS_${name} has)
  check_c_compiler_flag(${flag} ${has})
  if(${has})
    target_compile_options(gale_hardening INTERFACE ${flag})
    set(GALE_HARDENED ${GALE_HARDENED} ${name} PARENT_SCOPE)
  endif()
endfunction()

gale_harden(stack-protector -fstack-protector-strong)
gale_harden(stack-clash -fstack-clash-protection)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  gale_harden(cet -fcf-protection=full)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  gale_harden(branch-protection -mbranch-protection=standard)
endif()

# The C library warns where it does not have a level. Without optimization it has none.
set(gale_optimized $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
foreach(level 3 2)
  set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level}")
  check_c_source_compiles("#include <string.h>\nint main(void) { return 0; }" GALE_HAS_fortify_${level})
  unset(CMAKE_REQUIRED_FLAGS)
  if(GALE_HAS_fortify_${level})
    target_compile_options(gale_hardening INTERFACE $<${gale_optimized}:-U_FORTIFY_SOURCE>
                                                    $<${gale_optimized}:-D_FORTIFY_SOURCE=${level}>)
    list(APPEND GALE_HARDENED fortify)
    break()
  endif()
endforeach()

# The objects that a program begins and ends with lack the notes of CET in some systems, and the linker then says nothing of
# it. They return as all code does, so the shadow stack can be promised for them; that they are called by indirect calls
# only where these may land (IBT) cannot.
if("cet" IN_LIST GALE_HARDENED)
  check_linker_flag(C "-Wl,-z,shstk" GALE_HAS_shstk)
  if(GALE_HAS_shstk)
    target_link_options(gale_hardening INTERFACE -Wl,-z,shstk)
  endif()
endif()

check_linker_flag(C "-Wl,-z,relro,-z,now,-z,noexecstack" GALE_HAS_relro)
if(GALE_HAS_relro)
  target_link_options(gale_hardening INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
  list(APPEND GALE_HARDENED relro)
endif()
if(CMAKE_C_LINK_PIE_SUPPORTED)
  list(APPEND GALE_HARDENED pie)
endif()
