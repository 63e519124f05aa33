# Makes the help topics of the session from the manual page of the language: awk -f topics.awk tquel.7
# writes C. So there is one text, and `help "when"` shows the section of the page.
#
# A heading (.SH, .SS) followed by the comment `.\" topic: NAME ALIAS ...` is a topic; its text goes to
# the next heading, whatever its level; a .SH lists the topics below it. Of roff only what the page
# uses is understood, the macros of man(7) in `render`; a request that is none of them is an error, so
# that nothing is dropped silently. Any POSIX awk will do; the page is ASCII.

BEGIN {
  WIDTH = 78
  topic_count = 0
  print "/* Made by tquel/man/topics.awk from tquel.7. */"
  print "#include \"tquel/session/help_topics.h\"\n"
}

/^\.\\" topic:/ {
  begin_topic($0)
  next
}
/^\.\\"/ { next }
/^\.(TH|nh|ad)( |$)/ { next }
/^\.S[HS] / {
  end_topic()
  heading = $0
  sub(/^\.S[HS] */, "", heading)
  heading = unquote(heading)
  level = substr($0, 1, 3)
  next
}
{ if (in_topic) render($0) }

END {
  if (failed) exit 1
  end_topic()
  print "\nconst struct session_help_topic session_help_topics[] = {"
  for (i = 1; i <= topic_count; i++)
    printf "    {\"%s\", \"%s\", \"%s\", text_%d},\n", names[i], titles[i], sections[i], i
  print "};"
  print "const size_t session_help_topic_count ="
  print "    sizeof session_help_topics / sizeof *session_help_topics;"
}

function begin_topic(line,    list) {
  list = line
  sub(/^\.\\" topic: */, "", list)
  topic_count++
  names[topic_count] = list
  titles[topic_count] = heading
  if (level == ".SH") section = heading
  sections[topic_count] = section
  in_topic = 1
  indent = 0
  depth = 0
  words = ""
  tag = ""
  tag_next = 0
  literal = 0
  blank_wanted = 0
  line_count = 0
}

function end_topic(    i) {
  if (!in_topic) {
    if (level == ".SH") section = heading
    return
  }
  flush_words()
  printf "\nstatic const char text_%d[] =", topic_count
  while (line_count > 0 && lines[line_count] == "") line_count--
  for (i = 1; i <= line_count; i++) printf "\n    \"%s\\n\"", quote(lines[i])
  if (line_count == 0) printf " \"\""
  print ";"
  in_topic = 0
}

# --- requests --------------------------------------------------------------------------------------

function render(line,    name, rest, count) {
  if (substr(line, 1, 1) != ".") {
    text(line)
    return
  }
  name = line
  sub(/^\. */, "", name)
  sub(/ .*/, "", name)
  rest = line
  sub(/^\. *[A-Z]+ */, "", rest)
  if (name == "PP" || name == "P") {
    paragraph()
    indent = depth
  } else if (name == "TP") {
    paragraph()
    indent = depth + (rest == "" ? 7 : rest + 0)
    tag_next = 1
  } else if (name == "TQ") {
    flush_words()
    tag_next = 1
  } else if (name == "IP") {
    count = arguments(rest)
    paragraph()
    indent = depth + (count > 1 ? argument[2] + 0 : 7)
    if (count > 0) tag = unescape(argument[1])
  } else if (name == "EX") {
    flush_words()
    literal = 1
  } else if (name == "EE") {
    literal = 0
  } else if (name == "RS") {
    flush_words()
    shifts[++shift_count] = depth
    depth += rest == "" ? 4 : rest + 0
    indent = depth
  } else if (name == "RE") {
    flush_words()
    depth = shifts[shift_count--]
    indent = depth
  } else if (name == "br") {
    flush_words()
  } else if (name == "B" || name == "I" || name == "SM") {
    text(joined(rest, " "))
  } else if (name ~ /^([BIR][BIR])$/) {
    text(joined(rest, ""))
  } else {
    print FILENAME ":" FNR ": topics.awk does not know the request ." name > "/dev/stderr"
    failed = 1
    exit 1
  }
}

function joined(rest, between,    count, i, result) {
  count = arguments(rest)
  result = argument[1]
  for (i = 2; i <= count; i++) result = result between argument[i]
  return result
}

# The arguments of a request, in quotes or not, to argument[1..]; returns how many.
function arguments(rest,    count, at) {
  count = 0
  while (rest != "") {
    sub(/^ +/, "", rest)
    if (rest == "") break
    if (substr(rest, 1, 1) == "\"") {
      rest = substr(rest, 2)
      at = index(rest, "\"")
      if (at == 0) at = length(rest) + 1
      argument[++count] = substr(rest, 1, at - 1)
      rest = substr(rest, at + 1)
    } else if (match(rest, /^(\\ |[^ ])+/)) {
      argument[++count] = substr(rest, 1, RLENGTH)
      rest = substr(rest, RLENGTH + 1)
    }
  }
  return count
}

function unquote(rest) { return joined(rest, " ") }

# --- text ------------------------------------------------------------------------------------------

function text(line) {
  line = unescape(line)
  if (tag_next) {
    tag = line
    tag_next = 0
  } else if (literal) {
    leave_gap()
    lines[++line_count] = line == "" ? "" : spaces(indent) line
  } else {
    words = words (words == "" ? "" : " ") line
  }
}

function paragraph() {
  flush_words()
  blank_wanted = 1
}

function leave_gap() {
  if (blank_wanted && line_count > 0) lines[++line_count] = ""
  blank_wanted = 0
}

# Fills WORDS into lines, the tag before the first of them if there is one; a tag may be all that there is.
function flush_words(    count, word, i, line, tagged) {
  if (words == "" && tag == "") return
  leave_gap()
  line = ""
  tagged = 0
  if (tag != "") {
    line = spaces(depth) tag
    if (length(line) >= indent) {
      lines[++line_count] = fixed(line)
      line = ""
    } else {
      line = line spaces(indent - length(line))
      tagged = 1
    }
  }
  if (line == "") line = spaces(indent)
  gsub(/^ +/, "", words)
  count = split(words, word, / +/)
  for (i = 1; i <= count; i++) {
    if (length(line) > indent && length(line) + 1 + length(word[i]) > WIDTH) {
      lines[++line_count] = fixed(line)
      line = spaces(indent)
    }
    line = line (length(line) > indent ? " " : "") word[i]
  }
  if (count > 0 || tagged) lines[++line_count] = fixed(line)
  words = ""
  tag = ""
}

# Blanks that must not break a line were \001.
function fixed(line) {
  gsub(/\001/, " ", line)
  sub(/ +$/, "", line)
  return line
}

function spaces(count,    result) {
  result = ""
  while (count-- > 0) result = result " "
  return result
}

function unescape(line) {
  gsub(/\\f[BIRP]/, "", line)
  gsub(/\\&/, "", line)
  gsub(/\\[|^]/, "", line)
  gsub(/\\ /, "\001", line)
  gsub(/\\-/, "-", line)
  gsub(/\\\(aq/, "'", line)
  gsub(/\\\(dq/, "\"", line)
  gsub(/\\\(ga/, "`", line)
  gsub(/\\\(ha/, "^", line)
  gsub(/\\\(ti/, "~", line)
  gsub(/\\\(bu/, "*", line)
  gsub(/\\\(em/, " - ", line)
  gsub(/\\\(en/, "-", line)
  gsub(/\\\(\*W/, "Ω", line)
  gsub(/\\e/, "\\", line)
  if (literal) line = fixed(line)
  return line
}

function quote(line) {
  gsub(/\\/, "&&", line)
  gsub(/"/, "\\\\&", line)
  return line
}
