"""PyTorch's network doing the same steps; runs in PyTorch's own environment, without giro.

The argument is a JSON object: a file of contexts as 32-bit floats, their number, the row and the
target of every entry, how many passes to make, and batch, rate and hidden units. Prints, as JSON,
samples per second of processor time and the mean cross-entropy at the end.
"""

import json
import sys
import time
from pathlib import Path

import torch
from torch import nn


def main() -> None:
    """Train as told."""
    told = json.loads(Path(sys.argv[1]).read_text())
    torch.set_num_threads(1)
    torch.manual_seed(0)
    n, d = told["shape"]
    contexts = torch.from_file(told["contexts"], size=n * d, dtype=torch.float32).reshape(n, d)
    contexts = contexts[torch.tensor(told["rows"])]
    targets = torch.tensor(told["targets"])
    network = nn.Sequential(nn.Linear(d, told["hidden"]), nn.ReLU(), nn.Linear(told["hidden"], 1))
    loss = nn.BCEWithLogitsLoss()
    optimiser = torch.optim.SGD(network.parameters(), lr=told["rate"])
    began = time.process_time()
    for _ in range(told["passes"]):
        for batch in torch.randperm(len(targets)).split(told["batch"]):
            optimiser.zero_grad()
            loss(network(contexts[batch]).squeeze(1), targets[batch]).backward()
            optimiser.step()
    seconds = time.process_time() - began
    with torch.no_grad():
        last = loss(network(contexts).squeeze(1), targets).item()
    print(json.dumps({"samples_per_second": told["passes"] * len(targets) / seconds, "loss": last}))


if __name__ == "__main__":
    main()
