# Writes the header that tells lkbench what it was built from. Runs at every build, because the
# commit changes without any source doing so; rewrites the file only if its text changed.
#
#   cmake -DOUTPUT=f.h -DSOURCE_DIR=d -DVERSION=.. -DTOOLKIT=.. -DCOMPILERS=.. -DFLAGS=..
#         -DBUILD_TYPE=.. -P build_info.cmake

set(commit "$ENV{LIBKERNELS_COMMIT}")  # for a copy of the sources without their history
find_program(GIT git)
if(GIT AND commit STREQUAL "")
  execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} describe --always --dirty --abbrev=12
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(commit STREQUAL "")
  set(commit "unknown commit")
endif()
set(text "// Made by bench/build_info.cmake.\n#pragma once\n\n")
foreach(name IN ITEMS VERSION COMMIT TOOLKIT COMPILERS FLAGS BUILD_TYPE)
  if(name STREQUAL "COMMIT")
    set(value "${commit}")
  else()
    set(value "${${name}}")
  endif()
  string(REPLACE "\\" "\\\\" value "${value}")
  string(REPLACE "\"" "\\\"" value "${value}")
  string(APPEND text "#define LKBENCH_${name} \"${value}\"\n")
endforeach()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "${text}" @ONLY)
