"""What the agent under test is said to be able to do and to read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["AppManifest", "DataSource", "ToolDeclaration"]


@dataclass(frozen=True, kw_only=True)
class ToolDeclaration:
    """A tool that the agent has.

    Attributes:
        parameters: Each parameter's name and what it takes, in any wording.
        permissions: What the tool is allowed to touch.
    """

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    permissions: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class DataSource:
    """Something that the agent reads.

    Attributes:
        writable_by_untrusted: Whether an attacker can put text there.
    """

    name: str
    type: str = ""
    writable_by_untrusted: bool = False


@dataclass(frozen=True, kw_only=True)
class AppManifest:
    """The agent under test; as text, a description for a model."""

    name: str
    tools: list[ToolDeclaration] = field(default_factory=list)
    data_sources: list[DataSource] = field(default_factory=list)
    description: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)

    def declares_tool(self, name: str) -> bool:
        """Whether a tool of exactly this name is declared."""
        return self.get_tool(name) is not None

    def get_tool(self, name: str) -> ToolDeclaration | None:
        """The first tool of exactly this name."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def __str__(self) -> str:
        sections = [f"TARGET AGENT: {self.name}"]
        if self.description:
            sections.append(self.description)
        if self.tools:
            sections.append("\n".join(["Available tools:", *map(_tool_line, self.tools)]))
        if self.data_sources:
            sections.append(
                "\n".join(["Accessible data sources:", *map(_source_line, self.data_sources)])
            )
        return "\n\n".join(sections)


def _tool_line(tool: ToolDeclaration) -> str:
    parameters = ", ".join(f"{name}: {spec}" for name, spec in tool.parameters.items())
    description = f" — {tool.description}" if tool.description else ""
    return f"  - {tool.name}({parameters}){description}"


def _source_line(source: DataSource) -> str:
    suffix = " (writable by untrusted users)" if source.writable_by_untrusted else ""
    return f"  - {source.name}{suffix}"
