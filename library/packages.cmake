# Debian packages of the library, what it is developed with, and the program:
#   cmake -B build/packages -DCMAKE_INSTALL_PREFIX=/usr -DBUILD_TESTING=OFF && cmake --build build/packages
#   cd build/packages && cpack -G DEB
# .invalid is no host: there is no address. cpack -D CPACK_PACKAGE_CONTACT="NAME <ADDRESS>" gives one.
set(CPACK_PACKAGE_CONTACT "the mnist-knn authors <nobody@mnist-knn.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "exact k-nearest-neighbor search and classification")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian_files.cmake)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL library pictures development program python)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 0local1)  # below -1, with which those of Debian itself begin
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(runtime libmnistknn${PROJECT_VERSION_MAJOR})
set(same_runtime "${runtime} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${runtime})
# Packages that link it need this version or a later one: functions are only added.
set(control ${PROJECT_BINARY_DIR}/generated)
file(WRITE ${control}/shlibs "libmnistknn ${PROJECT_VERSION_MAJOR} ${runtime} (>= ${PROJECT_VERSION})\n")
file(WRITE ${control}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${control}/shlibs ${control}/triggers)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION
  "The shared library: neighbors of any vectors, labels by their votes, all exact,
on the CPU or on NVIDIA GPUs, and a module that reads digits in pictures.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libmnistknn-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ${same_runtime})
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
  "The headers of the library for C17 and C++20, with the files by which CMake
and pkg-config find it. An index stays open for many searches.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME mnist-knn)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS ${same_runtime})
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION
  "The program: it classifies handwritten digits on NVIDIA GPUs or on the CPU,
finds neighbors, tunes the method, and reports in text, tables and pictures.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-mnist-knn)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
  "python3 (>= 3.9), python3-numpy, ${same_runtime}")
# Compiled when installed, by the tools of python3, and nothing left behind when removed.
file(WRITE ${control}/postinst "#!/bin/sh\nset -e\n[ \"$1\" != configure ] || py3compile -p python3-mnist-knn\n")
file(WRITE ${control}/prerm "#!/bin/sh\nset -e\npy3clean -p python3-mnist-knn\n")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${control}/postinst ${control}/prerm)
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "python3-sklearn, python3-scipy, mnist-knn")
set(CPACK_DEBIAN_PYTHON_DESCRIPTION
  "The Python package, with scikit-learn's interface: neighbors, classifiers,
graphs, and digits in pictures. It has no compiled code of its own.")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/mnist_knn DESTINATION lib/python3/dist-packages COMPONENT python
  FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN __pycache__ EXCLUDE)
foreach(package ${runtime}/library libmnistknn-dev/development mnist-knn/program
        python3-mnist-knn/python)
  cmake_path(GET package PARENT_PATH name)
  cmake_path(GET package FILENAME component)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} RENAME copyright
    COMPONENT ${component})
endforeach()
include(CPack)
cpack_add_component(library GROUP runtime)
cpack_add_component(pictures GROUP runtime)
cpack_add_component(development GROUP development)
cpack_add_component(program GROUP program)
cpack_add_component(python GROUP python)
foreach(group runtime development program python)
  cpack_add_component_group(${group})
endforeach()
