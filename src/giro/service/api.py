"""The own API: bandits, decisions, rewards, evaluations."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any, cast

import msgspec
from msgspec import UNSET
from starlette.routing import Route

import giro
from giro import Ask, Decision
from giro.service import messages as m
from giro.service.about import arm_added
from giro.service.bandits import Running
from giro.service.endpoint import Answer, Call, Endpoint, Handler, route
from giro.service.errors import Problem, problem_of
from giro.service.evaluations import Evaluations
from giro.service.service import Service

_CHUNK = 1000  # events that are read at once
_SINCE = {"in": "query", "schema": {"type": "integer", "minimum": 0, "default": 0}}


def routes(service: Service) -> list[Route]:
    """Return the routes of this API, those that are asked most often first."""
    api = Api(service)
    name, arm = "/v1/bandits/{name}", "/arms/{arm:path}"
    asked = m.DecisionRequest | list[m.DecisionRequest]
    decided = m.DecisionAnswer | list[m.BatchAnswer]
    rewards = m.RewardByTargetingKey | list[m.RewardById]

    def at(method: str, path: str, handler: Handler, **more: Any) -> Route:
        return route(method, path, Endpoint(service, handler, **more))

    return [
        at("POST", f"{name}/decisions", api.decide, body=asked, answer=decided),
        at("POST", "/v1/decisions/{id:path}/reward", api.reward, body=m.RewardRequest, status=204),
        at("POST", "/v1/decisions/{id:path}/activate", api.activate, status=204),
        at("POST", f"{name}/rankings", api.rank, body=m.RankingRequest, answer=m.RankingAnswer),
        at("POST", f"{name}/rewards", api.rewards, body=rewards, answer=list[m.Outcome]),
        at("DELETE", f"{name}/decisions", api.erase, body=m.Erasure, answer=m.Erased),
        at(
            "POST",
            "/v1/bandits",
            api.create,
            body=m.NewBandit,
            answer=m.BanditInfo,
            status=201,
            also=200,
        ),
        at("GET", "/v1/bandits", api.list, answer=m.BanditList),
        at("GET", name, api.show, answer=m.BanditInfo),
        at("DELETE", name, api.retire, status=204),
        at("POST", f"{name}/arms", api.add_arm, body=m.NewArm, status=204),
        at("DELETE", f"{name}{arm}", api.retire_arm, status=204),
        at("GET", f"{name}/summary", api.summary, answer=m.Summary),
        at("GET", f"{name}/events", api.events, parameters={"since": _SINCE}),
        at(
            "POST",
            f"{name}/evaluations",
            api.evaluate,
            body=m.EvaluationRequest,
            answer=m.EvaluationAnswer,
            status=202,
        ),
        at("GET", f"{name}/evaluations", api.evaluations, answer=m.EvaluationList),
        at("GET", f"{name}/evaluations/{{id}}", api.evaluation, answer=m.EvaluationAnswer),
    ]


class Api:
    """The handlers."""

    def __init__(self, service: Service) -> None:
        """Answer for a service."""
        self._service, self._limits = service, service.settings.limits
        self._evaluations = Evaluations(service)

    async def _bandit(self, call: Call, scope: str) -> Running:
        return await self._service.bandit(call.path["name"], call.key, scope)

    # -- decisions and rewards ---------------------------------------------------------------

    async def decide(self, call: Call) -> Any:
        """Choose an arm, or for a list of requests one for each.

        The answer comes when the decision is durable. The same id and request get the same answer.
        In a list each fails alone.
        """
        running = await self._bandit(call, "decide")
        if not isinstance(call.body, list):
            return await self._decided(running, call.body)
        return await self.decided_each(running, call.body)

    async def decided_each(
        self, running: Running, asked: Sequence[m.DecisionRequest]
    ) -> list[m.BatchAnswer]:
        """Return the decision on each request, or the problem with it."""
        self._check_batch(asked)
        return await gathered([self._in_batch(running, each) for each in asked], _refused)

    async def _in_batch(self, running: Running, asked: m.DecisionRequest) -> m.BatchAnswer:
        return m.BatchAnswer(await self._decided(running, asked))

    async def _decided(self, running: Running, asked: m.DecisionRequest) -> m.DecisionAnswer:
        arms, context = self._checked_arms(asked.arms), cast(Any, asked.context)
        parts = (context, arms, asked.id, asked.baseline)
        ask = Ask(*parts, deferred=asked.deferred, taken=asked.taken)
        (decision,) = await self._service.decide(running, ask)
        return _answer(decision)

    async def rank(self, call: Call) -> m.RankingAnswer:
        """Fill several slots, without choosing an arm twice.

        Each slot has its own decision. With an id these are id/0, id/1, and so on.
        """
        running, asked = await self._bandit(call, "decide"), call.body
        arms = self._checked_arms(asked.arms)
        ask = Ask(asked.context, arms, asked.id, None, asked.slots, asked.deferred)
        decisions = await self._service.decide(running, ask)
        return m.RankingAnswer([_answer(decision) for decision in decisions])

    async def reward(self, call: Call) -> None:
        """Report the reward of a decision.

        Ids that the service made name their bandit. Others are looked up in all bandits that the
        key may reward. Late, repeated and contradicting rewards are treated as the bandit's
        reward_aggregation says.
        """
        await self._service.reward(call.path["id"], call.body.value, call.key, call.body.report)

    async def activate(self, call: Call) -> None:
        """Make a deferred decision count, with the rewards that it got."""
        await self._service.activate(call.path["id"], call.key)

    async def rewards(self, call: Call) -> Any:
        """Report rewards by id, each of which fails alone, or one by targetingKey."""
        running = await self._bandit(call, "reward")
        if isinstance(call.body, m.RewardByTargetingKey):
            stuck = await self._service.stuck(running.name, call.body.targeting_key)
            if stuck is None:
                raise Problem(404, "no decision is known for this targetingKey")
            await self._service.reward_in(running, stuck.value["id"], call.body.value)
            return [m.Outcome(204)]
        return await self.rewarded_each(running, call.body)

    async def rewarded_each(
        self, running: Running, rewards: Sequence[m.RewardById]
    ) -> list[m.Outcome]:
        """Report each reward, and return whether it was taken."""
        self._check_batch(rewards)
        reports = [self._reported(running, each) for each in rewards]
        return await gathered(reports, lambda p: m.Outcome(p.status, p.detail))

    async def _reported(self, running: Running, report: m.RewardById) -> m.Outcome:
        await self._service.reward_in(running, report.id, report.value, report.report)
        return m.Outcome(204)

    async def erase(self, call: Call) -> m.Erased:
        """Remove decisions with their contexts and rewards for good."""
        running = await self._bandit(call, "admin")
        self._check_batch(call.body.ids)
        await self._service.call(self._service.forget, call.body.ids)
        return m.Erased(await running.call(running.bandit.erase, call.body.ids))

    def _checked_arms(self, arms: Any) -> Any:
        if arms is not None and len(arms) > self._limits.arms:
            raise Problem(422, f"a request has at most {self._limits.arms} arms, got {len(arms)}")
        return arms

    def _check_batch(self, batch: Sequence[Any]) -> None:
        if len(batch) > self._limits.batch:
            raise Problem(422, f"a list has at most {self._limits.batch} items, got {len(batch)}")

    # -- bandits and arms --------------------------------------------------------------------

    async def create(self, call: Call) -> Answer:
        """Make a bandit. It decides at once: at random until its policy is compiled."""
        new: m.NewBandit = call.body
        call.key.check("admin", new.name)
        is_new = await self._service.bandits.create(new.name, new.parameters(), new.about())
        info = await self._info(await self._service.bandits.get(new.name))
        return Answer(info, 201 if is_new else 200)

    async def list(self, call: Call) -> m.BanditList:
        """List the bandits that the key may read."""
        call.key.check("read")
        names = await self._service.bandits.names()
        return m.BanditList([name for name in names if call.key.may("read", name)])

    async def show(self, call: Call) -> m.BanditInfo:
        """Show a bandit."""
        return await self._info(await self._bandit(call, "read"))

    async def _info(self, running: Running) -> m.BanditInfo:
        bandit, about = running.bandit, running.about
        counts = (bandit.n_decisions, bandit.n_rewards, bandit.position, bandit.is_ready)
        more = (about.retired, about.payloads, about.sticky)
        return m.BanditInfo(running.name, bandit.arms, bandit.setting, *counts, *more)

    async def retire(self, call: Call) -> None:
        """Decide no more with a bandit. Its log stays, and rewards are still accepted."""
        running = await self._bandit(call, "admin")
        await self._service.bandits.retire(running.name)

    async def add_arm(self, call: Call) -> None:
        """Add an arm, or bring a retired one back."""
        running, new = await self._bandit(call, "admin"), call.body
        payload = {} if new.payload is UNSET else {new.arm: new.payload}
        if payload or running.about.payloads is not None:
            change = partial(arm_added, arm=new.arm, payload=payload)
            await self._service.bandits.change(running.name, change)
        await running.call(running.bandit.add_arm, new.arm)

    async def retire_arm(self, call: Call) -> None:
        """Never choose an arm again."""
        running, arm = await self._bandit(call, "admin"), call.path["arm"]
        if arm not in running.bandit.arms and not running.bandit.setting["open_arms"]:
            raise Problem(404, f"the bandit '{running.name}' has no arm '{arm}', or no more")
        await running.call(running.bandit.retire_arm, arm)

    # -- reading -----------------------------------------------------------------------------

    async def summary(self, call: Call) -> m.Summary:
        """Count the decisions and rewards of each arm."""
        running = await self._bandit(call, "read")
        bandit = running.bandit
        table = await running.call(bandit.summary)
        alarms = await running.call(bandit.alarms)
        alarms = [m.AlarmAnswer(*alarm) for alarm in alarms]
        arms = msgspec.convert(table.to_dicts(), list[m.ArmSummary])
        counts = (bandit.n_decisions, bandit.n_rewards, running.waiting, bandit.is_ready)
        return m.Summary(*counts, await running.call(_lag, bandit), alarms, arms)

    async def events(self, call: Call) -> Answer:
        """Stream the log behind the position `since` as JSON lines, with one event in each.

        To resume, give the last `number` that came.
        """
        running = await self._bandit(call, "read")
        since = call.query.get("since", "0")
        if not (since.isascii() and since.isdecimal() and len(since) < 18):
            raise Problem(422, f"since is the number of an event, got '{since}'")
        return Answer(_lines(running, int(since)), media_type="application/jsonl")

    async def evaluate(self, call: Call) -> dict[str, Any]:
        """Estimate from the log how another policy would have done. This runs aside."""
        running, asked = await self._bandit(call, "read"), call.body
        given = msgspec.structs.asdict(asked).items()
        options = {key: value for key, value in given if key != "policy" and value is not UNSET}
        order = {"policies": [asked.policy], "options": options}
        return await self._evaluations.begin(running.name, {"policy": asked.policy}, order)

    async def evaluations(self, call: Call) -> m.EvaluationList:
        """List the evaluations of a bandit, the newest first."""
        running = await self._bandit(call, "read")
        records = await self._evaluations.all(running.name)
        return m.EvaluationList(msgspec.convert(records, list[m.EvaluationAnswer]))

    async def evaluation(self, call: Call) -> m.EvaluationAnswer:
        """Show an evaluation."""
        running = await self._bandit(call, "read")
        record = await self._evaluations.get(running.name, call.path["id"])
        if record is None:
            raise Problem(404, f"the bandit has no evaluation '{call.path['id']}'")
        return msgspec.convert(record, m.EvaluationAnswer)


async def gathered(work: Sequence[Any], refused: Any) -> list[Any]:
    """Return the results, and in the place of those that failed how they were `refused`."""
    results = await asyncio.gather(*work, return_exceptions=True)
    return [
        refused(problem_of(each)) if isinstance(each, BaseException) else each for each in results
    ]


async def _lines(running: Running, since: int) -> AsyncIterator[bytes]:
    while True:
        part = await running.call(_read, running.bandit, since)
        if part.height == 0:
            return
        yield part.write_ndjson().encode()
        since = int(part["number"][-1])


def _read(bandit: giro.Bandit, since: int) -> Any:
    return bandit.events(since=since, limit=_CHUNK)


def _lag(bandit: giro.Bandit) -> int:
    return bandit.lag


def _refused(problem: Problem) -> m.BatchAnswer:
    return m.BatchAnswer(problem=msgspec.convert(problem.to_json(), m.ProblemAnswer))


def _answer(decision: Decision) -> m.DecisionAnswer:
    return m.DecisionAnswer(decision.id, decision.arm, decision.propensity, decision.propensities)
