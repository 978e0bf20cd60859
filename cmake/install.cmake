# SPDX-License-Identifier: Apache-2.0
# What is installed: the command, both libraries, headers, and what finds them
# (pkg-config, CMake); target files and schemas as examples to copy.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS hbmplan hbmplan_static hbmplan_shared)
install(DIRECTORY include/hbmplan DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")
file(GLOB target_files CONFIGURE_DEPENDS src/target/data/*.target)
install(FILES ${target_files} DESTINATION ${CMAKE_INSTALL_DATADIR}/hbmplan/targets)
install(FILES dialect/sdscbundle.irdl.mlir
  DESTINATION ${CMAKE_INSTALL_DATADIR}/hbmplan/dialect)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
file(GLOB schema_files CONFIGURE_DEPENDS schema/*.json)
install(FILES ${schema_files} DESTINATION ${CMAKE_INSTALL_DATADIR}/hbmplan/schema)

# The static library needs these as well.
set(private_modules "")
set(private_links "")
foreach(pair JANSSON:jansson:jansson PROTOBUF_C:libprotobuf-c:protobuf-c ZLIB:zlib:z)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 found)
  list(GET pair 1 module)
  list(GET pair 2 link)
  if(${found}_FOUND)
    string(APPEND private_modules " ${module}")
    list(APPEND private_links ${link})
  endif()
endforeach()

# The way from the .pc file back to the prefix.
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_up /prefix/${pc_dir} /prefix)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hbmplan)
configure_file(cmake/hbmplan.pc.in hbmplan.pc @ONLY)
configure_package_config_file(cmake/hbmplanConfig.cmake.in hbmplanConfig.cmake
  INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(hbmplanConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/hbmplan.pc DESTINATION ${pc_dir})
install(FILES ${CMAKE_BINARY_DIR}/hbmplanConfig.cmake
  ${CMAKE_BINARY_DIR}/hbmplanConfigVersion.cmake DESTINATION ${package_dir})
