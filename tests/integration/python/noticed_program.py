"""A training loop whose function for notices asks for more time, waits for what comes of it, and takes its time.

Each of these is a line of JSON in the folder named first, in a file for each worker.
Arguments: FOLDER ANSWER SECONDS_ASKED SECONDS_SAVING
"""

import json
import os
import pathlib
import sys
import time

import torch

import tidepool as tp

folder, answer, asked, saving = pathlib.Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
trace = open(folder / f"{os.environ['TIDEPOOL_WORKER']}.jsonl", "a", buffering=1)
data = [(torch.randn(4), torch.tensor(0)) for _ in range(64)]
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
job = tp.init()
model, optimizer = job.wrap(model, optimizer)


def told(event, notice):
    trace.write(json.dumps({"event": event, "at": time.time(), "rank": job.rank, "step": job.step, "by": notice.by,
                            "reason": notice.reason, "sentence": notice.sentence, "decision": notice.decision,
                            "granted": notice.granted}) + "\n")


@job.on_notice
def leave(notice):
    told("told", notice)
    if job.rank != 0:
        return
    job.answer_notice(answer, until=time.time() + asked if answer == "until" else None)
    while job.notice.heard < job.notice.said:
        time.sleep(0.01)
    told("heard", job.notice)
    time.sleep(saving)
    told("saved", job.notice)


assert job.notice is None
for x, y in job.loader(data, batch_size=16, epochs=1_000_000):
    if job.step == 0:
        trace.write(json.dumps({"event": "started"}) + "\n")
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    time.sleep(0.01)
