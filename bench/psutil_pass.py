"""One pass of psutil over the given pids, again and again: CPU ms of each pass.

usage: psutil_pass.py PASSES PID...
"""
import sys
import time

import psutil


def read(process):
    with process.oneshot():
        process.memory_info()
        process.cpu_times()
        process.io_counters()
        process.num_ctx_switches()
        process.num_threads()
        process.cmdline()


def main():
    passes = int(sys.argv[1])
    processes = [psutil.Process(int(pid)) for pid in sys.argv[2:]]
    for _ in range(passes + 1):
        before = time.process_time()
        for process in processes:
            read(process)
        print((time.process_time() - before) * 1000)


if __name__ == "__main__":
    main()
