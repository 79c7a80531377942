# page.awk: files of text into arrays of C strings: NAME=pfr_page_js plot.js NAME=... plot.css
BEGIN { print "#include \"tools/profres/plot/page.h\"" }

FNR == 1 {
    if (open)
        print "    0\n};"
    open = 1
    printf "\nconst char *const %s[] = {\n", NAME
}

# Joined, not gsub(): awks differ in how many backslashes a replacement takes.
{
    count = split($0, part, /\\/)
    line = part[1]
    for (i = 2; i <= count; i++)
        line = line "\\\\" part[i]
    gsub(/"/, "\\\"", line)
    printf "    \"%s\\n\",\n", line
}

END { print "    0\n};" }
