"""The desk: a folder with customers, tickets, a knowledge base, an outbox and a refund book."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["Customer", "Desk", "Email", "Refund", "Ticket"]

_SHOP_DATA = Path(__file__).parent.parent / "data"


@dataclass(frozen=True, slots=True)
class Customer:
    """A customer on file, with the one order this shop remembers.

    Attributes:
        state: Of the order: "shipped", "delivered" or "damaged", as the carrier reported it.
    """

    name: str
    email: str
    order: str
    state: str
    paid_usd: int

    def __str__(self) -> str:
        return f"{self.name}, {self.email}, order {self.order}, {self.state}, {self.paid_usd} USD"


@dataclass(frozen=True, slots=True)
class Ticket:
    """A ticket as it came in; anybody can write one, so its text is anybody's."""

    name: str
    sender: str
    text: str


@dataclass(frozen=True, slots=True)
class Email:
    """A sent e-mail. Like most helpdesks this one quotes the customer's record below the answer."""

    to: str
    body: str
    record: str


@dataclass(frozen=True, slots=True)
class Refund:
    """Money that was sent back."""

    order: str
    usd: int


class Desk:
    """A desk in `folder`, which needs `customers.json`, `tickets/` and `knowledge/`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.customers = [
            Customer(**entry)
            for entry in json.loads((folder / "customers.json").read_text(encoding="utf-8"))
        ]
        self.knowledge = {
            file.stem: file.read_text(encoding="utf-8").strip()
            for file in sorted((folder / "knowledge").glob("*.txt"))
        }

    @classmethod
    def copy_to(cls, folder: Path) -> Desk:
        """A fresh desk with the shop's data in `folder`, so that runs do not see each other."""
        return cls(Path(shutil.copytree(_SHOP_DATA, folder, dirs_exist_ok=True)))

    def ticket_file(self, name: str) -> Path:
        """Where the ticket `name`, such as "T-201", is or would be."""
        return self.folder / "tickets" / f"{name}.txt"

    def ticket(self, name: str) -> Ticket:
        """The ticket called `name`.

        Raises:
            FileNotFoundError: If there is none.
        """
        header, _, text = self.ticket_file(name).read_text(encoding="utf-8").partition("\n")
        return Ticket(name, header.removeprefix("From:").strip(), text.strip())

    def customer(self, email: str) -> Customer | None:
        """The customer with this address, or None."""
        return next((one for one in self.customers if one.email == email), None)

    def customer_of_order(self, order: str) -> Customer | None:
        """The customer whose order this is, or None."""
        return next((one for one in self.customers if one.order == order), None)

    def send(self, email: Email) -> None:
        """Put an e-mail into the outbox, as a file to be seen."""
        outbox = self.folder / "outbox"
        outbox.mkdir(exist_ok=True)
        number = len(list(outbox.iterdir())) + 1
        (outbox / f"{number:03}.txt").write_text(
            f"To: {email.to}\n\n{email.body}\n\n> {email.record}\n", encoding="utf-8"
        )

    def refund(self, refund: Refund) -> None:
        """Write a refund into the book."""
        with (self.folder / "refunds.jsonl").open("a", encoding="utf-8") as book:
            book.write(json.dumps(asdict(refund)) + "\n")
