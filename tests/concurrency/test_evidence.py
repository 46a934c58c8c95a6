"""What trials record: results, judgements, spans, outputs and properties, each its own."""

from __future__ import annotations

from .sessions import Parity


def test_judges_that_are_off_or_cannot_answer_are_noted_in_their_own_trial(parity: Parity) -> None:
    suite = """
        @pytest.mark.kensa(trials=3)
        @pytest.mark.parametrize("case", [kensa_case(id="one", input="x")])
        def test_sync(case, request):
            output = case.run(lambda case: request.node.name)
            meet(3)
            result = judge(output, "Names the trial.")
            assert result.passed, result.reasoning

        @pytest.mark.kensa(trials=3)
        @pytest.mark.parametrize("case", [kensa_case(id="one", input="x")])
        async def test_async(case, request):
            async def run(case): return request.node.name
            output = await case.run(run)
            await meet_async(3)
            result = judge(output, "Names the trial.")
            assert result.passed, result.reasoning
        """
    off = parity(suite, "--kensa-no-judge")
    assert off.counts == {"unjudged": 6}
    assert off.record("test_async[one-trial2]")["output"] == "test_async[one-trial2]"
    broken = parity(suite)
    assert broken.counts == {"failed": 6}
    assert broken.record("test_sync[one-trial3]")["failure"]["owner"] == "judge"


def test_results_and_spans_land_in_their_own_trial_wherever_they_come_from(parity: Parity) -> None:
    together = parity(
        """
        from concurrent.futures import ThreadPoolExecutor

        @pytest.fixture(scope="session")
        def pool():
            with ThreadPoolExecutor(8) as pool: yield pool

        @pytest.fixture(scope="session")
        def agent():
            def act(name):
                with record_tool_call(f"tool of {name}"): record("safe", f"of {name}")
            return act

        @pytest.fixture
        def name(request): return request.node.name

        @pytest.mark.trial(n=3)
        def test_sync(agent, name, pool):
            meet(3)
            agent(name)
            pool.submit(agent, name).result()
            thread = threading.Thread(target=agent, args=(name,))
            thread.start()
            thread.join()
            meet(3, "after")
            agent(name)

        @pytest.mark.trial(n=3)
        async def test_async(agent, name, pool):
            async def act():
                with record_tool_call(f"outer of {name}"):
                    await meet_async(3, "in a task")
                    agent(name)
            await meet_async(3)
            await asyncio.create_task(act())
            await asyncio.to_thread(agent, name)
            await asyncio.get_running_loop().run_in_executor(pool, agent, name)
            asyncio.get_running_loop().call_soon(agent, name)
            await meet_async(3, "after")
            agent(name)
        """
    )
    assert together.counts == {"passed": 6}
    for name, results in (("test_sync[trial-1]", 4), ("test_async[trial-2]", 5)):
        found = together.record(name)
        assert [result["summary"] for result in found["results"]] == [f"of {name}"] * results
        names = {span["name"] for span in found["trace"]["spans"]}
        assert all(span.endswith(name) for span in names), names


def test_traced_evals_see_their_own_tools_only(parity: Parity) -> None:
    together = parity(
        """
        CASES = [kensa_case(id=name, input=name) for name in ("one", "two", "three")]

        @pytest.fixture(scope="session")
        def kensa_run():
            async def run(case):
                for step in range(3):
                    with record_tool_call(f"{case.input} {step}"):
                        await meet_async(6, f"step {step}")
                return {"answer": case.input}
            return run

        @pytest.mark.kensa(trials=2)
        @pytest.mark.parametrize("case", CASES)
        async def test_it(case, kensa_run, kensa_trace):
            output = await case.run(kensa_run)
            assert output == {"answer": case.input}
            assert kensa_trace.tools.names == [f"{case.input} {step}" for step in range(3)]
        """
    )
    assert together.counts == {"passed": 6}
    assert together.record("test_it[three-trial2]")["output"] == {"answer": "three"}


def test_attacks_run_beside_each_other_with_their_own_sessions(parity: Parity) -> None:
    together = parity(
        """
        from rampart import AppManifest, Probes, Response, ResponseContains

        class Session:
            def __init__(self, number): self.number = number
            async def __aenter__(self): return self
            async def __aexit__(self, *exc): return None
            async def send_async(self, request):
                await meet_async(4, "turn")
                return Response(text=f"no, says {self.number}")

        class Adapter:
            manifest = AppManifest(name="agent")
            observability_profile = ObservabilityLevel.RESPONSE_ONLY
            def __init__(self, number): self.number = number
            async def create_session_async(self): return Session(self.number)

        @pytest.fixture
        def adapter(request): return Adapter(request.node.name)

        @pytest.mark.trial(n=4)
        async def test_probe(adapter):
            result = await Probes.behavior(
                prompt="Do it", evaluator=ResponseContains("no, says"),
            ).execute_async(adapter=adapter)
            assert result.safe, result.summary
        """
    )
    assert together.counts == {"passed": 4}


def test_properties_and_keywords_are_those_of_the_trial(parity: Parity) -> None:
    together = parity(
        """
        @pytest.mark.trial(n=3)
        async def test_it(record_property, request):
            await meet_async(3)
            record_property("name", request.node.name)
            request.node.add_marker(request.node.name.replace("[", "_").strip("]"))
            request.node.user_properties.append(("also", request.node.name))
        """
    )
    name = "test_it[trial-2]"
    assert together.report(name)["user_properties"] == [["name", name], ["also", name]]
