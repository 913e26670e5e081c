# Run by CPack before it makes the packages: what Debian wants beside the installed files, compressed.
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(GLOB folders ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*)
foreach(folder ${folders})
  file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/../CHANGELOG.md ${folder}/changelog)
  file(WRITE ${folder}/changelog.Debian
    "${CPACK_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
    "  * Made by CPack.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${now}\n")
  list(APPEND files ${folder}/changelog ${folder}/changelog.Debian)
  cmake_path(GET folder FILENAME package)
  if(package MATCHES "[0-9]$")
    file(WRITE ${folder}/../../lintian/overrides/${package}
      "# CPack itself writes scripts that call ldconfig, whose trigger the package has too; nothing turns that off.\n"
      "maintscript-calls-ldconfig\n")
  endif()
endforeach()
if(files)  # none in packages of another kind
  file(GLOB pages ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/man1/*)
  file(CHMOD ${files} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  execute_process(COMMAND gzip -9n ${files} ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()
