"""A GTP engine that plays the first free point, and misbehaves on demand: `python fake_engine.py LOG [FAULT]`.

Every command that it reads goes to the file LOG, after the program's process id.
"""

import os
import sys
import time

COMMANDS = "name list_commands boardsize rectangular_boardsize clear_board komi play genmove undo time_left quit"
MORE = "kata-set-rules set_free_handicap time_settings final_score final_status_list"
LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"


class Engine:
    def __init__(self, log, fault):
        self.log, self.fault = log, fault
        self.columns = self.rows = 19
        self.moves, self.asked = [], 0
        self.commands = f"{COMMANDS} {MORE}".split()
        if fault.startswith("without="):
            self.commands = [name for name in self.commands if name not in fault.split("=")[1].split("+")]

    def run(self):
        self.log.write(f"# {os.getpid()}\n")
        if self.fault == "ends at once":
            sys.exit("no weights, no game")
        if self.fault == "floods stderr":
            for number in range(40_000):
                print(f"loading layer {number}", file=sys.stderr)
        if self.fault == "never reads":
            time.sleep(60)
        if self.fault == "prints noise":
            self.say("Welcome to the engine\r\n\r\n\x1b[1mloading...\x1b[0m\n\xff\xfe\n")
        if self.fault == "closes its output":
            os.close(1)
            time.sleep(60)
        for line in sys.stdin:
            number, _, command = line.strip().partition(" ")
            self.log.write((command or number) + "\n")
            self.log.flush()
            if line.startswith("quit"):
                if self.fault == "does not leave":
                    time.sleep(60)
                return
            self.answer(number, command.split())

    def answer(self, number, words):
        end = "\r\n" if self.fault == "prints noise" else "\n"
        if self.fault == "prints noise":
            self.say("thinking about it\n")
        if self.fault == "gives no id":
            number = ""
        mark, text = "=", self.obey(words)
        if text.startswith("?"):
            mark, text = "?", text[1:]
        if words[0] == "genmove":
            self.asked += 1
            if self.asked == 3:
                mark, number, text = self.misbehave(mark, number, text)
        self.say(f"{mark}{number} {text}{end}{end}")

    def misbehave(self, mark, number, text):
        fault = self.fault
        if fault == "ends at the third move":
            print("out of memory", file=sys.stderr)
            sys.exit(3)
        if fault == "is killed":
            os.kill(os.getpid(), 9)
        if fault == "hangs":
            time.sleep(60)
        if fault == "prints without end":
            while True:
                self.say("still thinking\n")
        if fault == "answers without end":
            self.say("= ")
            while True:
                self.say("D4 " * 1000 + "\n")
        answers = {
            "says no": ("?", number, "can't think"),
            "wrong id": (mark, "77", text),
            "off the board": (mark, number, "Z99"),
            "rubbish": (mark, number, "\x00{'move': 'D4'}"),
            "says nothing": (mark, number, ""),
            "occupied point": (mark, number, self.moves[0]),
            "resigns": (mark, number, "RESIGN"),
            "passes": (mark, number, "PASS"),
        }
        return answers.get(fault, (mark, number, text))

    def obey(self, words):
        name, *rest = words
        if name not in self.commands:
            return "?unknown command"
        if name == "name":
            return "Fake"
        if name == "list_commands":
            return "\n".join(self.commands)
        if name in ("boardsize", "rectangular_boardsize"):
            self.columns, self.rows = int(rest[0]), int(rest[-1])
            return "?unacceptable size" if self.fault == "small boards only" and self.columns > 4 else ""
        if name == "clear_board":
            self.moves = []
        if name == "kata-set-rules" and self.fault == "knows rules by name":
            return "" if rest == ["tromp-taylor"] else "?rules are chinese or tromp-taylor"
        if name == "set_free_handicap":
            self.moves = list(rest)
        if name == "play":
            if self.fault == "refuses a move" and len(self.moves) == 3:
                return "?illegal move"
            self.moves.append(rest[1].upper())
        if name == "undo":
            if self.fault == "can't undo":
                return "?cannot undo"
            self.moves.pop()
        if name == "genmove":
            points = [LETTERS[c] + str(r + 1) for r in range(self.rows) for c in range(self.columns)]
            self.moves.append(next((point for point in points if point not in self.moves), "pass"))
            return self.moves[-1].lower()
        if name == "final_score":
            if self.fault == "hangs over the score":
                time.sleep(60)
            return {"can't score": "?cannot score", "odd score": "Black won"}.get(self.fault, "W+7.5")
        return ""

    def say(self, text):
        sys.stdout.buffer.write(text.encode("latin-1"))
        sys.stdout.buffer.flush()


with open(sys.argv[1], "a") as log:
    Engine(log, sys.argv[2] if len(sys.argv) > 2 else "").run()
