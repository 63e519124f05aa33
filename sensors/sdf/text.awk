# A text file as the C string sn_default_dff.
BEGIN {
  print "/* Made from tquel.dff by text.awk. */"
  print "#include \"sensors/sdf/format.h\""
  print "const char sn_default_dff[] ="
}
{
  gsub(/\\/, "\\\\")
  gsub(/"/, "\\\"")
  print "  \"" $0 "\\n\""
}
END {
  print ";"
  print "const size_t sn_default_dff_length = sizeof sn_default_dff - 1;"
}
