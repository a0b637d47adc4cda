# The public headers. For each a translation unit that includes it alone, twice, is compiled as
# C++17 with the strictest warnings; so a header that leans on another fails by name.
set(LIBKERNELS_PUBLIC_HEADERS
    arch.h c_api.h dtype.h error.h explain.h gelu.h libkernels.h matmul.h matrix.h row_sum.h
    softmax.h)

set(LIBKERNELS_HEADER_UNITS "")
foreach(header IN LISTS LIBKERNELS_PUBLIC_HEADERS)
  set(unit ${PROJECT_BINARY_DIR}/headers/${header}.cc)
  file(CONFIGURE OUTPUT ${unit} CONTENT
       "#include <libkernels/${header}>\n#include <libkernels/${header}>\n" @ONLY)
  list(APPEND LIBKERNELS_HEADER_UNITS ${unit})
endforeach()

# As a user's build sees them: the library's include directory and nothing of CUDA.
add_library(lk_public_headers OBJECT ${LIBKERNELS_HEADER_UNITS})
target_include_directories(lk_public_headers PRIVATE ${PROJECT_SOURCE_DIR}/include)
set_target_properties(lk_public_headers PROPERTIES CXX_STANDARD 17)
target_compile_options(lk_public_headers PRIVATE -Wall -Wextra -Wpedantic -Werror)
