# How emulated kernels are compiled: LIBKERNELS_EMU_KERNEL_FLAGS, for translation units that hold
# kernels, and nothing else. Compile only: the hooks are in the emulator (hooks.cc), so neither
# sanitizer's runtime may be linked.
#
#   -fsanitize=thread     a call before every load and store
#   -fsanitize=alignment  a call when a dereferenced pointer is not aligned for its type
#   the rest              accesses as the source writes them (no vectorising, merging or turning
#                         into memset, all of which happen before the hooks are planted), and each
#                         collective of a warp at one place of the program (no duplicated or merged
#                         calls). Fused multiply-adds are written fmaf.
#   -U_FORTIFY_SOURCE     which some distributions define, and which turns memset into a builtin
set(LIBKERNELS_EMU_KERNEL_FLAGS -O2 -g1 -U_FORTIFY_SOURCE -ffp-contract=off -fsanitize=thread -fsanitize=alignment
    -fno-sanitize-recover=alignment)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND LIBKERNELS_EMU_KERNEL_FLAGS -fno-vectorize -fno-slp-vectorize
       "SHELL:-mllvm -disable-loop-idiom-all"
       "SHELL:-mllvm -tsan-instrument-func-entry-exit=0"
       "SHELL:-mllvm -tsan-instrument-read-before-write=1")
else()
  # gcc expands memcpy and memset itself, after the hooks; as plain functions they come to us.
  list(APPEND LIBKERNELS_EMU_KERNEL_FLAGS -fno-builtin-memcpy -fno-builtin-memmove
       -fno-builtin-memset -fno-tree-vectorize -fno-tree-loop-distribute-patterns
       -fno-store-merging -fno-thread-jumps -fno-crossjumping -fno-tree-tail-merge
       -freorder-blocks-algorithm=simple --param=tsan-instrument-func-entry-exit=0)
endif()
