"""Files of a user who means harm, and what their readers show.

hostile.py poison FILE...  every text in a summary or series gets characters that a
                           terminal obeys, or that turn a line around
hostile.py policy          is the script and style of the page in the input that of its policy?
hostile.py check           exit 1 when such a character, or a forged line, is in the input, or it is empty
"""
import base64
import hashlib
import json
import re
import sys

EVIL = "\x1b[31m\u009b2J\u202eX\x07\x7f\u200b\nprofres: forged\r"
KEPT = {"type", "schema", "state", "ts", "start", "event", "unit", "kind", "reduce", "scope"}


def poison(value, key=None):
    if isinstance(value, str):
        return value if key in KEPT else value[:3] + EVIL
    if isinstance(value, list):
        return [poison(item, key) for item in value]
    if isinstance(value, dict):
        return {name: poison(item, name) for name, item in value.items()}
    return value


def is_harmful(char):
    code = ord(char)
    return (code < 0x20 and char != "\n") or 0x7F <= code < 0xA0 or \
        code in (0x200B, 0x202E, 0xFFFD)


def policy():
    page = sys.stdin.read()
    rules = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
    good = "default-src 'none'" in rules
    for tag in ("script", "style"):
        body = re.search("<%s>(.*?)</%s>" % (tag, tag), page, re.S).group(1)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        good = good and "%s-src 'sha256-%s';" % (tag, digest) in rules
    return not good


def main():
    if sys.argv[1] == "policy":
        return policy()
    if sys.argv[1] == "check":
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
        bad = sorted({"U+%04X" % ord(char) for char in text if is_harmful(char)})
        bad += [line for line in text.split("\n") if line.startswith("profres: forged")]
        if not text.strip():
            bad.append("nothing was shown")
        print(" ".join(bad))
        return bool(bad)
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as source:
            text = source.read()
        lines = text.splitlines() if name.endswith("l") else [text]
        raw = name.endswith("l")  # in a series not even escaped, as JSON does not allow
        with open(name, "w", encoding="utf-8", newline="") as out:
            for line in lines:
                made = json.dumps(poison(json.loads(line)), ensure_ascii=False)
                if raw:
                    made = made.replace("\\u001b", "\x1b").replace("\\u0007", "\x07")
                out.write(made + "\n")
    return 0


sys.exit(main())
