# The compiler of the preset `fuzz`, before project(): clang++ with the runtimes of -fsanitize=fuzzer,address,undefined.
if(NOT CMAKE_CXX_COMPILER)
  find_program(MNIST_KNN_CLANG NAMES clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14)
  if(MNIST_KNN_CLANG)
    set(CMAKE_CXX_COMPILER ${MNIST_KNN_CLANG})
  endif()
endif()
set(fuzz_probe ${CMAKE_BINARY_DIR}/fuzz_probe)
file(WRITE ${fuzz_probe}.cpp "extern \"C\" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }\n")
set(fuzz_probed 1)
if(CMAKE_CXX_COMPILER)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -fsanitize=fuzzer,address,undefined ${fuzz_probe}.cpp -o ${fuzz_probe}
                  RESULT_VARIABLE fuzz_probed OUTPUT_QUIET ERROR_QUIET)
endif()
if(NOT fuzz_probed EQUAL 0)
  # The space keeps it one line.
  message(FATAL_ERROR " mnist-knn: the preset fuzz needs clang++ and its libFuzzer; install Debian's clang and libclang-rt-14-dev (of clang's own version)")
endif()
