# rooms.awk: reads C files named by their path from the root of the sources and
# prints one "RULE<tab>FILE:LINE: TEXT" for each line that breaks a rule. A comment
#     /* lint: RULE: why */
# on the line or the one before lifts that rule there.

BEGIN {
    # who may include whom, and who may use which library besides libc
    rooms["common/base"] = "common/base"
    rooms["common/metric"] = "common/base common/metric"
    rooms["common/collect"] = "common/base common/metric common/collect"
    rooms["common/record"] = "common/base common/metric common/record"
    rooms["common/judge"] = "common/base common/metric common/record common/judge"
    rooms["tools/sampler"] = "common/* tools/sampler"
    # the report needs base, metric and record; 'run' and 'metrics' look at the
    # host themselves, so collect is allowed too, but never the sampler
    rooms["tools/profres"] = "common/* tools/profres"
    rooms["plugin"] = "common/base common/metric common/collect plugin"
    rooms["tests"] = rooms["bench"] = "common/* tools/* plugin tests bench"

    users["json-c"] = "common/record tools/* tests bench"
    users["slurm"] = "plugin tests"
    users["libcgroup"] = "tools/profres tests"
    users["ncurses"] = "tools/profres"
    users["cmocka"] = "tests"

    count = split("alloca arpa/inet assert byteswap complex cpio ctype dirent dlfcn elf endian" \
        " err errno execinfo fcntl features fenv float fnmatch ftw getopt glob grp inttypes" \
        " iso646 langinfo libgen limits link locale malloc math mntent mqueue net/if netdb" \
        " netinet/in netinet/tcp paths poll pthread pty pwd regex sched search semaphore setjmp" \
        " signal spawn stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn" \
        " string strings syscall sysexits syslog termios time ucontext uchar unistd utime utmp" \
        " wchar wctype wordexp", names, " ")
    for (i = 1; i <= count; i++)
        libc[names[i] ".h"] = 1

    # calls that make a descriptor: the flag or mode that must stand in them,
    # or "" where there is none and another call has to be used
    split("open openat open64 openat64 openat2 open_by_handle_at socket socketpair accept4" \
        " pipe2 dup3 mkostemp mkostemps eventfd epoll_create1 inotify_init1 signalfd" \
        " timerfd_create memfd_create", names, " ")
    for (i in names)
        maker[names[i]] = "CLOEXEC"
    split("creat pipe dup accept mkstemp epoll_create inotify_init", names, " ")
    for (i in names)
        maker[names[i]] = ""
    maker["fopen"] = maker["popen"] = maker["freopen"] = "\"[rwa][b+xm]*e"
    maker["fopen64"] = maker["fopen"]
}

FNR == 1 {
    judge_call("")
    room = room_of(FILENAME)
    in_comment = 0
    last_note = ""
    if (!(room in rooms))
        say("rooms", "this file is in no known room")
}

{
    split_line($0)
    if (code ~ /^[ \t]*#[ \t]*include/)
        check_include(code)
    else
        check_code()
    last_note = code ~ /[^ \t]/ ? "" : note
}

/(^|[^A-Za-z_])(TO[D]O|FIXM[E]|XX[X])([^A-Za-z_]|$)/ { say("marks", $0) }

END { judge_call("") }

function say(rule, text,   lifted)
{
    lifted = "lint: " rule ": [^ ]"
    if (note ~ lifted || last_note ~ lifted)
        return
    printf "%s\t%s:%d: %s\n", rule, FILENAME, FNR, text
}

function room_of(path,   part)
{
    split(path, part, "/")
    if (part[1] == "common" || part[1] == "tools")
        return part[1] "/" part[2]
    return part[1]
}

function product() { return room !~ /^(tests|bench)$/ }

function among(list, wanted,   part, i, n)
{
    n = split(list, part, " ")
    for (i = 1; i <= n; i++)
        if (part[i] == wanted || (part[i] ~ /\/\*$/ &&
            index(wanted, substr(part[i], 1, length(part[i]) - 1)) == 1))
            return 1
    return 0
}

# code: without comments; bare: without what is in quotes, too; literals[1..]
function split_line(line,   token, rest, size)
{
    code = bare = note = ""
    literal_count = 0
    while (line != "") {
        if (in_comment) {
            size = index(line, "*/")
            note = note (size ? substr(line, 1, size - 1) : line)
            line = size ? substr(line, size + 2) : ""
            in_comment = !size
            continue
        }
        if (!match(line, /"|'|\/\*|\/\//)) {
            code = code line
            bare = bare line
            return
        }
        token = substr(line, RSTART, RLENGTH)
        rest = substr(line, RSTART + RLENGTH)
        code = code substr(line, 1, RSTART - 1)
        bare = bare substr(line, 1, RSTART - 1)
        if (token == "/*") {
            in_comment = 1
            line = rest
        } else if (token == "//") {
            note = note rest
            return
        } else {
            size = length(rest)
            if (match(rest, token == "\"" ? "^([^\"\\\\]|\\\\.)*\"" : "^([^'\\\\]|\\\\.)*'"))
                size = RLENGTH
            literals[++literal_count] = substr(rest, 1, size - 1)
            code = code token substr(rest, 1, size)
            bare = bare token token
            line = substr(rest, size + 1)
        }
    }
}

function library_of(header)
{
    if (header ~ /^slurm\//)
        return "slurm"
    if (header ~ /^json/)
        return "json-c"
    if (header ~ /^libcgroup/)
        return "libcgroup"
    if (header ~ /^(n?curses|term\.h|panel|menu)/)
        return "ncurses"
    if (header ~ /^cmocka/)
        return "cmocka"
    if (header in libc || header ~ /^(sys|linux|asm|sanitizer)\// || header == "emmintrin.h")
        return "libc"
    return ""
}

function check_include(text,   header, library)
{
    header = text
    sub(/^[^"<]*["<]/, "", header)
    sub(/[">].*/, "", header)
    library = library_of(header)
    if (library == "libc") {
        if (text ~ /"/)
            say("rooms", "a library's header in quotes: " header)
    } else if (library != "") {
        if (!among(users[library], room))
            say("libraries", library " has no place in " room ": " header)
    } else if (text ~ /</) {
        say("libraries", "neither libc nor a library we know: " header)
    } else if (!(room_of(header) in rooms)) {
        say("rooms", "an include is written from the root: " header)
    } else if (!among(rooms[room], room_of(header))) {
        say("rooms", room " may not include " header)
    }
}

function check_code(   i)
{
    if (bare ~ /(^|[^A-Za-z0-9_])goto[ \t]+[A-Za-z_]/)
        say("goto", code)
    if (!product())
        return
    if (room ~ /^(common|plugin)/ && bare ~ /(^|[^A-Za-z0-9_])abort[ \t]*\(/)
        say("abort", code)
    for (i = 1; i <= literal_count; i++) {
        if (FILENAME != "common/collect/env.c" &&
            literals[i] ~ /^(%s)?\/(proc|sys)([^A-Za-z0-9_]|$)/)
            say("roots", code)
        if (FILENAME != "common/collect/level.c" &&
            (literals[i] ~ /(^|\/)(job|uid|step|task|slurm)_(%.*|[0-9*].*|\/.*)?$/ ||
                literals[i] ~ /slurmstepd\.scope/))
            say("levels", code)
    }
    find_calls()
}

# Every call on the line; one whose arguments go on is judged on a later line.
function find_calls(   text, name, rest)
{
    if (open_call != "") {
        judge_call(code)
        return
    }
    text = bare
    rest = code
    while (match(text, /[A-Za-z_][A-Za-z0-9_]*[ \t]*\(/)) {
        name = substr(text, RSTART, RLENGTH - 1)
        sub(/[ \t]+$/, "", name)
        before = RSTART > 1 ? substr(text, RSTART - 1, 1) : " "
        text = substr(text, RSTART + RLENGTH)
        if (!(name in maker) || before ~ /[.>]/)
            continue
        match(rest, "(^|[^A-Za-z0-9_])" name "[ \t]*\\(")
        rest = substr(rest, RSTART + RLENGTH)
        open_call = name
        call_file = FILENAME
        call_line = FNR
        call_text = ""
        call_lifted = (note ~ /lint: cloexec: [^ ]/ || last_note ~ /lint: cloexec: [^ ]/)
        depth = 1
        judge_call(rest)
        if (open_call != "")
            return
    }
}

# Takes the arguments from text up to the bracket that closes the call.
function judge_call(text,   i, c, quoted)
{
    if (open_call == "")
        return
    for (i = 1; i <= length(text) && depth > 0; i++) {
        c = substr(text, i, 1)
        if (c == "\\" && quoted)
            i++
        else if (c == "\"")
            quoted = !quoted
        else if (!quoted)
            depth += (c == "(") - (c == ")")
    }
    call_text = call_text substr(text, 1, i - 1)
    if (depth > 0 && text != "")
        return
    if (!call_lifted && (maker[open_call] == "" || call_text !~ maker[open_call]))
        printf "cloexec\t%s:%d: %s(%s\n", call_file, call_line, open_call, call_text
    open_call = ""
}
