# Runs to be drawn: sourced after tap.sh. They are measured here and now by what was built;
# only names are changed afterwards, for one machine has one name.
# shellcheck shell=bash

# Half a second of rising memory, some of it written to a file, in two processes.
plot_work='import os, sys, time
kept = []
for i in range(8):
    kept.append(bytearray(int(sys.argv[1]) << 20))
    end = time.time() + 0.03
    while time.time() < end: pass
    time.sleep(0.05)
open("out.bin", "wb").write(kept[0])
'

# plot_run DIR MIB: one node, as DIR/0/*.json and .jsonl
plot_run() {
    "$profres" run -q -i 0.05 -w 0.2 -d "$1" -- python3 -c "$plot_work" "$2"
}

# plot_place FROM DIR STEP NODE JOB: its files as those of a node of a step of a job
plot_place() {
    local file

    mkdir -p "$2/$3"
    for file in "$1"/0/*.json "$1"/0/*.jsonl; do
        sed -E "s/(\"node\": ?)\"[^\"]*\"/\1\"$4\"/; s/(\"step\": ?)\"[^\"]*\"/\1\"$3\"/;
            s/(\"job\": ?)\"[^\"]*\"/\1\"$5\"/" "$file" >"$2/$3/$4.${file##*.}"
    done
}

# plot_insert SERIES LINE: before its last line
plot_insert() { sed -i "\$i\\$2" "$1"; }
