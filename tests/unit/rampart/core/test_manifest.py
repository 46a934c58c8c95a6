from __future__ import annotations

from rampart import AppManifest, DataSource, ToolDeclaration

SEND = ToolDeclaration(name="send", description="Sends mail", parameters={"to": "str", "cc": "str"})
MANIFEST = AppManifest(
    name="helpdesk",
    description="Answers tickets.",
    tools=[SEND, ToolDeclaration(name="look")],
    data_sources=[
        DataSource(name="tickets", writable_by_untrusted=True),
        DataSource(name="handbook"),
    ],
)


def test_a_manifest_as_text_lists_tools_and_sources() -> None:
    assert str(MANIFEST) == (
        "TARGET AGENT: helpdesk\n"
        "\n"
        "Answers tickets.\n"
        "\n"
        "Available tools:\n"
        "  - send(to: str, cc: str) — Sends mail\n"
        "  - look()\n"
        "\n"
        "Accessible data sources:\n"
        "  - tickets (writable by untrusted users)\n"
        "  - handbook"
    )


def test_a_bare_manifest_as_text_is_its_name() -> None:
    assert str(AppManifest(name="x")) == "TARGET AGENT: x"


def test_tools_are_found_by_exact_name() -> None:
    assert MANIFEST.get_tool("send") is SEND
    assert MANIFEST.get_tool("Send") is None
    assert MANIFEST.declares_tool("look")
    assert not MANIFEST.declares_tool("loo")
