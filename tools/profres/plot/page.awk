# page.awk: files of text into arrays of C strings: NAME=pfr_page_js plot.js NAME=... plot.css
BEGIN { print "#include \"tools/profres/plot/page.h\"" }

FNR == 1 {
    if (open)
        print "    0\n};"
    open = 1
    printf "\nconst char *const %s[] = {\n", NAME
}

{
    gsub(/\\/, "\\\\")
    gsub(/"/, "\\\"")
    printf "    \"%s\\n\",\n", $0
}

END { print "    0\n};" }
