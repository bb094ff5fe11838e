# Writes FILES into OUTPUT as constants of C++, each named by its stem: `page.html` becomes `embedded::page`.
set(text "#include \"report/embedded.hpp\"\n\nnamespace ndpool::cli::embedded {\n\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR count "${digits} / 2")
  string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
  string(APPEND text "static const char ${name}_bytes[] =\n\"${bytes}\";\n"
                     "const std::string_view ${name}(${name}_bytes, ${count});\n\n")
endforeach()
file(WRITE ${OUTPUT} "${text}}  // namespace ndpool::cli::embedded\n")
