# install(), and the package that find_package(libkernels) reads. The emulated library takes host
# pointers and is a tool for tests, so it is never installed.

if(LIBKERNELS_EMULATE)
  return()
endif()
include(CMakePackageConfigHelpers)

install(TARGETS kernels EXPORT libkernels-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/libkernels DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(EXPORT libkernels-targets NAMESPACE libkernels:: FILE libkernels-targets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/libkernels)
configure_package_config_file(tools/cmake/libkernels-config.cmake.in
                              ${CMAKE_CURRENT_BINARY_DIR}/libkernels-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/libkernels)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/libkernels-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/libkernels-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/libkernels-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/libkernels)
