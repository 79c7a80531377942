# page.awk: files of text into arrays of C strings: NAME=pfr_page_js plot.js NAME=... plot.css
BEGIN { print "#include \"tools/profres/plot/page.h\"" }

FNR == 1 {
    if (open)
        print "    0\n};"
    open = 1
    printf "\nconst char *const %s[] = {\n", NAME
}

# Not by gsub: how many backslashes of its replacement remain differs between awks.
function escaped(text,    done, at)
{
    while ((at = match(text, /[\\"]/)) > 0) {
        done = done substr(text, 1, at - 1) "\\" substr(text, at, 1)
        text = substr(text, at + 1)
    }
    return done text
}

{ printf "    \"%s\\n\",\n", escaped($0) }

END { print "    0\n};" }
