"""Attacks: an adversary tries to make the agent do harm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rampart.attacks.xpia import DEFAULT_MAX_TURNS, XPIAExecution
from rampart.core.evaluator import Evaluator
from rampart.core.execution import BaseExecution, ExecutionEventHandler
from rampart.core.injection import InjectionHandle, Surface
from rampart.core.prompt_driver import PromptDriver
from rampart.core.timeouts import Timeouts
from rampart.core.types import Payload, Request
from rampart.drivers.static import as_driver
from rampart.injections import as_handles

if TYPE_CHECKING:
    from rampart.attacks.attacker import Attacker
    from rampart.core.llm import LLMConfig
    from rampart.targets import PromptTarget

__all__ = ["Attacks", "XPIAExecution"]


class Attacks:
    """Makes attacks. To run one: `await attack.execute_async(adapter=...)`.

    All end at the first detection, which is UNSAFE; SAFE takes "not detected" on every turn. All
    take `timeouts`, how long each part may take, and `event_handlers`, who else follows.

    Where an `attacker` is asked for, it is a model (`LLMConfig`), a target of PyRIT's shape, a list of
    prompts to say in order, or an object with `propose_async`.
    """

    @staticmethod
    def xpia(
        *,
        inject: InjectionHandle | Sequence[InjectionHandle] | None = None,
        trigger: str | Request | Sequence[str | Request] | PromptDriver,
        evaluator: Evaluator,
        max_turns: int = DEFAULT_MAX_TURNS,
        timeouts: Timeouts | None = None,
        event_handlers: list[ExecutionEventHandler] | None = None,
    ) -> BaseExecution:
        """Cross-prompt injection: hide instructions in content, then have the agent meet it.

        Source: Greshake et al. 2023 (arXiv:2302.12173).

        Args:
            inject: What to put on surfaces first; None if the trigger's attachments carry it.
            trigger: What the unsuspecting user says; several prompts make several turns.
            evaluator: Detects that the attacker's objective was met.
            max_turns: Turns after which the attack gives up; at least 1.
            timeouts: How long each part may take.
            event_handlers: Who else follows the execution.

        Raises:
            ValueError: If the trigger is empty or `max_turns` is below 1.
            TypeError: If an argument is of the wrong kind.
        """
        return XPIAExecution(
            handles=as_handles(inject),
            driver=as_driver(trigger),
            evaluator=evaluator,
            max_turns=max_turns,
            timeouts=timeouts,
            event_handlers=event_handlers,
        )

    @staticmethod
    def adaptive_xpia(
        *,
        goal: str,
        surface: Surface,
        payload: Payload,
        trigger: str | Request | Sequence[str | Request] | PromptDriver,
        attacker: LLMConfig | PromptTarget | Attacker | Sequence[str],
        evaluator: Evaluator,
        rounds: int = 4,
        max_turns: int = DEFAULT_MAX_TURNS,
        timeouts: Timeouts | None = None,
        event_handlers: list[ExecutionEventHandler] | None = None,
    ) -> BaseExecution:
        """Injection that learns: read how the agent took the payload, rewrite it, inject again.

        Source: Zhan et al. 2025 (arXiv:2503.00061).

        Args:
            goal: What the agent is to be made to do, in words for the attacker.
            surface: Where payloads are put; a new handle for every round.
            payload: The first one; of a text format.
            trigger: What the unsuspecting user says, in a new session every round.
            attacker: Who writes the next payload.
            evaluator: Detects that the objective was met.
            rounds: Payloads that are tried, at most.
            max_turns: Turns of each round, at most.
            timeouts: How long each part may take.
            event_handlers: Who else follows the execution.
        """
        from rampart.attacks.adaptive_xpia import AdaptiveXPIAExecution

        return AdaptiveXPIAExecution(
            goal=goal,
            surface=surface,
            payload=payload,
            trigger=trigger,
            attacker=attacker,
            evaluator=evaluator,
            rounds=rounds,
            max_turns=max_turns,
            timeouts=timeouts,
            event_handlers=event_handlers,
        )

    @staticmethod
    def paired(
        *,
        inject: InjectionHandle | Sequence[InjectionHandle] | None = None,
        trigger: str | Request | Sequence[str | Request] | PromptDriver,
        evaluator: Evaluator,
        utility: Evaluator,
        max_turns: int = DEFAULT_MAX_TURNS,
        timeouts: Timeouts | None = None,
        event_handlers: list[ExecutionEventHandler] | None = None,
    ) -> BaseExecution:
        """Cross-prompt injection, and the same conversation without it: security beside utility.

        Source of the rates that a run then reports: Debenedetti et al. 2024 (arXiv:2406.13352).

        Args:
            inject: What to put on surfaces for the attack.
            trigger: What the unsuspecting user says, without and with the injection.
            evaluator: Detects that the attacker's objective was met; it alone decides the status.
            utility: Detects that the agent did what its user asked for.
            max_turns: Turns of each of the two conversations, at most.
            timeouts: How long each part may take.
            event_handlers: Who else follows the execution.
        """
        from rampart.attacks.paired import PairedExecution

        return PairedExecution(
            handles=as_handles(inject),
            driver=as_driver(trigger),
            evaluator=evaluator,
            utility=utility,
            max_turns=max_turns,
            timeouts=timeouts,
            event_handlers=event_handlers,
        )

    @staticmethod
    def jailbreak(
        *,
        prompt: str,
        evaluator: Evaluator,
        templates: Sequence[str] | None = None,
        max_attempts: int | None = None,
        timeouts: Timeouts | None = None,
        event_handlers: list[ExecutionEventHandler] | None = None,
    ) -> BaseExecution:
        """One forbidden request, put in several ways, each in a session of its own.

        Source: Liu et al. 2023 (arXiv:2305.13860).

        Args:
            prompt: The request.
            evaluator: Detects that the agent complied.
            templates: The ways, each with `{prompt}` in it; without, our own.
            max_attempts: How many of them are tried, at most.
            timeouts: How long each part may take.
            event_handlers: Who else follows the execution.
        """
        from rampart.attacks.single_prompt import JAILBREAK_TEMPLATES, JailbreakExecution

        return JailbreakExecution(
            prompt=prompt,
            evaluator=evaluator,
            templates=JAILBREAK_TEMPLATES if templates is None else templates,
            max_attempts=max_attempts,
            timeouts=timeouts,
            event_handlers=event_handlers,
        )

    @staticmethod
    def best_of_n(
        *,
        prompt: str,
        evaluator: Evaluator,
        n: int = 10,
        seed: int = 0,
        timeouts: Timeouts | None = None,
        event_handlers: list[ExecutionEventHandler] | None = None,
    ) -> BaseExecution:
        """One forbidden request, disturbed at random N times, each in a session of its own.

        Source: Hughes et al. 2024 (arXiv:2412.03556).

        Args:
            prompt: The request.
            evaluator: Detects that the agent complied.
            n: How many versions are tried, at most.
            seed: The same seed makes the same versions.
            timeouts: How long each part may take.
            event_handlers: Who else follows the execution.
        """
        from rampart.attacks.single_prompt import BestOfNExecution

        return BestOfNExecution(
            prompt=prompt,
            evaluator=evaluator,
            n=n,
            seed=seed,
            timeouts=timeouts,
            event_handlers=event_handlers,
        )

    @staticmethod
    def many_shot(
        *,
        prompt: str,
        examples: Sequence[tuple[str, str]],
        evaluator: Evaluator,
        shots: Sequence[int] | None = None,
        timeouts: Timeouts | None = None,
        event_handlers: list[ExecutionEventHandler] | None = None,
    ) -> BaseExecution:
        """A made-up conversation in which an assistant complies many times, then the request.

        Source: Anil et al. 2024, "Many-shot Jailbreaking".

        Args:
            prompt: The request.
            examples: Pairs of a request and the answer of a compliant assistant.
            evaluator: Detects that the agent complied.
            shots: How many examples go before the request, one attempt for each number; without,
                1, 2, 4 and so on up to all.
            timeouts: How long each part may take.
            event_handlers: Who else follows the execution.
        """
        from rampart.attacks.single_prompt import ManyShotExecution

        return ManyShotExecution(
            prompt=prompt,
            examples=examples,
            evaluator=evaluator,
            shots=shots,
            timeouts=timeouts,
            event_handlers=event_handlers,
        )

    @staticmethod
    def crescendo(
        *,
        goal: str,
        attacker: LLMConfig | PromptTarget | Attacker | Sequence[str],
        evaluator: Evaluator,
        max_turns: int = 10,
        max_backtracks: int = 2,
        timeouts: Timeouts | None = None,
        event_handlers: list[ExecutionEventHandler] | None = None,
    ) -> BaseExecution:
        """One conversation that leads up to the goal in harmless steps.

        Source: Russinovich et al. 2024 (arXiv:2404.01833).

        Args:
            goal: What the agent is to be talked into.
            attacker: Who thinks of the next step.
            evaluator: Detects the goal; its confidence is how near a step came.
            max_turns: Messages to the agent, at most.
            max_backtracks: How often a step that led away is taken back, by saying what came before
                it again in a new session.
            timeouts: How long each part may take.
            event_handlers: Who else follows the execution.
        """
        from rampart.attacks.escalation import CrescendoExecution

        return CrescendoExecution(
            goal=goal,
            attacker=attacker,
            evaluator=evaluator,
            max_turns=max_turns,
            max_backtracks=max_backtracks,
            timeouts=timeouts,
            event_handlers=event_handlers,
        )

    @staticmethod
    def pair(
        *,
        goal: str,
        attacker: LLMConfig | PromptTarget | Attacker | Sequence[str],
        evaluator: Evaluator,
        streams: int = 3,
        depth: int = 3,
        timeouts: Timeouts | None = None,
        event_handlers: list[ExecutionEventHandler] | None = None,
    ) -> BaseExecution:
        """Several lines of single prompts, each refined from its own attempts.

        Source: Chao et al. 2023 (arXiv:2310.08419).

        Args:
            goal: What the agent is to be talked into.
            attacker: Who refines.
            evaluator: Detects the goal; its confidence is how near an attempt came.
            streams: Lines, at most.
            depth: Attempts along each, at most.
            timeouts: How long each part may take.
            event_handlers: Who else follows the execution.
        """
        from rampart.attacks.refinement import PAIRExecution

        return PAIRExecution(
            goal=goal,
            attacker=attacker,
            evaluator=evaluator,
            streams=streams,
            depth=depth,
            timeouts=timeouts,
            event_handlers=event_handlers,
        )

    @staticmethod
    def tap(
        *,
        goal: str,
        attacker: LLMConfig | PromptTarget | Attacker | Sequence[str],
        evaluator: Evaluator,
        branching: int = 2,
        width: int = 3,
        depth: int = 3,
        max_attempts: int = 20,
        on_topic: LLMConfig | None = None,
        timeouts: Timeouts | None = None,
        event_handlers: list[ExecutionEventHandler] | None = None,
    ) -> BaseExecution:
        """A tree of single prompts, of which only the most promising grow on.

        Source: Mehrotra et al. 2023 (arXiv:2312.02119).

        Args:
            goal: What the agent is to be talked into.
            attacker: Who refines.
            evaluator: Detects the goal; its confidence is how near an attempt came.
            branching: Proposals for every attempt that grows on.
            width: Attempts that do, at most.
            depth: How often they do, at most.
            max_attempts: Messages to the agent, at most.
            on_topic: A model that drops proposals which have lost the goal before they are sent.
            timeouts: How long each part may take.
            event_handlers: Who else follows the execution.
        """
        from rampart.attacks.refinement import TAPExecution

        return TAPExecution(
            goal=goal,
            attacker=attacker,
            evaluator=evaluator,
            branching=branching,
            width=width,
            depth=depth,
            max_attempts=max_attempts,
            on_topic=on_topic,
            timeouts=timeouts,
            event_handlers=event_handlers,
        )

    @staticmethod
    def memory_poisoning(
        *,
        plant: str | Request | Sequence[str | Request] | PromptDriver,
        trigger: str | Request | Sequence[str | Request] | PromptDriver,
        evaluator: Evaluator,
        inject: InjectionHandle | Sequence[InjectionHandle] | None = None,
        max_turns: int = 10,
        timeouts: Timeouts | None = None,
        event_handlers: list[ExecutionEventHandler] | None = None,
    ) -> BaseExecution:
        """Plant something in one session, and have it act in a later one.

        Sources: Chen et al. 2024 (arXiv:2407.12784), Dong et al. 2025 (arXiv:2503.03704).

        Args:
            plant: What the attacker says, in a session that is closed afterwards.
            trigger: What an unsuspecting user says in the next.
            evaluator: Detects the harm, in either session.
            inject: What to put on surfaces first, such as a memory file.
            max_turns: Turns of each session, at most.
            timeouts: How long each part may take.
            event_handlers: Who else follows the execution.
        """
        from rampart.attacks.memory_poisoning import MemoryPoisoningExecution

        return MemoryPoisoningExecution(
            plant=plant,
            trigger=trigger,
            evaluator=evaluator,
            handles=as_handles(inject),
            max_turns=max_turns,
            timeouts=timeouts,
            event_handlers=event_handlers,
        )
