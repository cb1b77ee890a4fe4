"""A program under torchrun's environment that takes its time to save, with the standard library alone.

On SIGTERM it reads its notice, answers it as it was told to, waits until the answer has been heard, saves for so many
seconds, and writes that it has saved. Each of these is a line of JSON in the file named first.
Arguments: TRACE ANSWER SECONDS_ASKED SECONDS_SAVING
"""

import json
import os
import signal
import sys
import time

trace_path, answer, asked, saving = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
stop_asked = False


def ask_stop(number, frame):
    global stop_asked
    stop_asked = True


def trace(**fields):
    with open(trace_path, "a") as file:
        file.write(json.dumps({"at": time.time(), **fields}) + "\n")


def notice():
    with open(os.environ["TIDEPOOL_NOTICE_FILE"]) as file:
        return json.load(file)


signal.signal(signal.SIGTERM, ask_stop)
trace(event="started", notice_is_there=os.path.exists(os.environ["TIDEPOOL_NOTICE_FILE"]))
while not stop_asked:
    time.sleep(0.02)
trace(event="told", notice=notice())
line = {"answer": answer}
if answer == "until":
    line["until_unix_ms"] = int((time.time() + asked) * 1000)
with open(os.environ["TIDEPOOL_ANSWER_FILE"], "a") as file:
    file.write("not an answer\n" if answer == "nonsense" else json.dumps(line) + "\n")
while answer != "nonsense" and notice()["answers"] < 1:
    time.sleep(0.02)
trace(event="heard", notice=notice())
if answer == "done":
    time.sleep(3600)
end = time.time() + saving
while time.time() < end:
    time.sleep(0.05)
trace(event="saved")
