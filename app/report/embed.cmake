# Writes the files of the pages and the figures of the papers into one C++ file, as arrays of bytes: those have no limit of length and need
# no escaping.   cmake -D OUT=page_files.cpp -D FOLDER=page -D SCRIPTS=a.js,b.js -D SERVE_SCRIPTS=c.js -P embed.cmake
function(bytes_of result)
  set(bytes "")
  foreach(name IN LISTS ARGN)
    file(READ ${FOLDER}/${name} hex HEX)
    string(APPEND bytes ${hex})
  endforeach()
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  set(${result} "${bytes}" PARENT_SCOPE)
endfunction()

set(code "#include \"app/bench/report.h\"\n#include \"app/report/page.h\"\n#include \"app/serve/routes.h\"\n\nnamespace knn {\n\n")
# A constant of the bytes of these files, one after another.
function(add_constant name)
  bytes_of(bytes ${ARGN})
  string(APPEND code "static const unsigned char ${name}_bytes[] = {${bytes}};\n"
    "const std::string_view ${name}(reinterpret_cast<const char*>(${name}_bytes), sizeof ${name}_bytes);\n\n")
  set(code "${code}" PARENT_SCOPE)
endfunction()

string(REPLACE "," ";" SCRIPTS "${SCRIPTS}")
string(REPLACE "," ";" SERVE_SCRIPTS "${SERVE_SCRIPTS}")
set(serve ../../serve/page)
list(TRANSFORM SERVE_SCRIPTS PREPEND ${serve}/)
add_constant(page_css page.css)
# The two pages differ in <main>.
add_constant(page_html head.html page.html foot.html)
add_constant(page_js ${SCRIPTS})
add_constant(audit_html head.html audit.html foot.html)
add_constant(serve_html ${serve}/index.html)
add_constant(serve_css page.css ${serve}/app.css)
add_constant(serve_js helpers.js ${SERVE_SCRIPTS})
add_constant(openapi_json ${serve}/../openapi.json)
add_constant(figures_csv ../../bench/figures.csv)
file(WRITE ${OUT} "${code}}  // namespace knn\n")
