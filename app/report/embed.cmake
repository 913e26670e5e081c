# Writes the files of the page into one C++ file, as arrays of bytes: those have no limit of length and need
# no escaping.   cmake -D OUT=page_files.cpp -D FOLDER=page -D SCRIPTS=a.js,b.js -P embed.cmake
function(bytes_of result)
  set(bytes "")
  foreach(name IN LISTS ARGN)
    file(READ ${FOLDER}/${name} hex HEX)
    string(APPEND bytes ${hex})
  endforeach()
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  set(${result} "${bytes}" PARENT_SCOPE)
endfunction()

string(REPLACE "," ";" SCRIPTS "${SCRIPTS}")
bytes_of(html page.html)
bytes_of(css page.css)
bytes_of(js ${SCRIPTS})

set(code "#include \"app/report/page_files.h\"\n\nnamespace knn {\n\n")
foreach(name html css js)
  string(APPEND code "static const unsigned char ${name}_bytes[] = {${${name}}};\n"
    "const std::string_view page_${name}(reinterpret_cast<const char*>(${name}_bytes), sizeof ${name}_bytes);\n\n")
endforeach()
file(WRITE ${OUT} "${code}}  // namespace knn\n")
