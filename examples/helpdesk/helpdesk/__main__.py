"""Handle one ticket and show what was done: `python -m helpdesk T-201`."""

from __future__ import annotations

import argparse
import os
import random
from pathlib import Path

from helpdesk.agent import Agent
from helpdesk.desk import Desk
from helpdesk.model import ChatModel


def main() -> None:
    """Read the command line, work on a copy of the shop's data, print every call."""
    parser = argparse.ArgumentParser(prog="python -m helpdesk", description=__doc__)
    parser.add_argument("ticket", help="such as T-201")
    parser.add_argument("--desk", type=Path, default=Path(".desk"), help="folder to work in")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options = parser.parse_args()
    desk = Desk.copy_to(options.desk)
    fixed = os.environ.get("HELPDESK_FIX", "") not in ("", "0")
    agent = Agent(desk, ChatModel.from_environment(), fixed=fixed, seed=options.seed)
    for call in agent.handle(options.ticket).calls:
        arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
        print(f"{call.tool}({arguments})\n    {call.result!r}")
    print(f"seed {options.seed}; what was sent is in {options.desk / 'outbox'}")


if __name__ == "__main__":
    main()
