"""Evaluations: how other learning settings would have done, by the log of a loop."""

import datetime
import math
from collections.abc import Iterator
from typing import Any, Final

from giro.service.endpoint import Answer, Call
from giro.service.evaluations import Evaluations
from giro.service.personalizer.configuration import Configuration, date_of, learning_settings
from giro.service.personalizer.durations import iso_duration
from giro.service.personalizer.learning import policy_of
from giro.service.personalizer.loop import Refusal, loop_of
from giro.service.service import Service

_CODE = "InvalidEvaluationContract"
_KIND = "personalizer evaluation"  # of records
_STATUSES: Final = {  # in version 1, and in 2022-09-01
    "running": ("pending", "Running"),
    "done": ("completed", "Succeeded"),
    "failed": ("failed", "Failed"),
}
_OWN: Final = (  # policies that each evaluation has: name, source, and a target of giro.evaluate
    ("Online Policy", "Online", "logged"),
    ("Baseline Policy", "Baseline", "always:1"),  # the first on offer
    ("Random Policy", "Random", "uniform"),
)


class Judging:
    """The handlers of evaluations."""

    def __init__(self, service: Service, configuration: Configuration) -> None:
        """Serve the loops of a service. The configuration applies policies."""
        self._service, self._configuration = service, configuration
        self._evaluations = Evaluations(service, _KIND)

    async def create(self, call: Call) -> Answer:
        """Begin an evaluation of the loop's policy, its baseline, chance, and other policies."""
        record = await self._begun(call, None)
        shown = _shown(record, call)
        path = f"/personalizer/{call.path['version'] or 'v1.0'}/evaluations/{shown['id']}"
        return Answer(shown, 201, {"location": path})

    async def put(self, call: Call) -> Answer:
        """Begin an evaluation under an id."""
        await self._begun(call, call.path["id"])
        return Answer(None, 200)

    async def _begun(self, call: Call, id: str | None) -> dict[str, Any]:
        running, asked = await loop_of(self._service, call, "admin"), call.body
        since, until = seconds_of(asked.start_time), seconds_of(asked.end_time)
        if since >= until:
            raise Refusal(_CODE, "startTime is before endTime")
        if running.bandit.n_decisions == 0:
            raise Refusal("NoLogsExistInDateRange", "this loop has no log yet")
        if id is not None and await self._evaluations.get(running.name, id) is not None:
            raise Refusal("EvaluationAlreadyExists", f"there is an evaluation '{id}'")
        custom = [(each.name, each.arguments) for each in asked.policies or ()]
        if len({name for name, _ in custom}) < len(custom):
            raise Refusal("DuplicateCustomPolicyNames", "two policies have the same name")
        online = learning_settings(running).arguments
        policies = [
            *([name, online if source == "Online" else "", source] for name, source, _ in _OWN),
            *([name, arguments, "Custom"] for name, arguments in custom),
        ]
        about = {"name": asked.name, "since": since, "until": until, "policies": policies}
        targets = [*(each for *_, each in _OWN), *(policy_of(text) for _, text in custom)]
        order: dict[str, Any] = {"policies": targets, "since": since, "until": until}
        order["options"] = {"estimators": ["ips", "snips"]}
        return await self._evaluations.begin(running.name, about, order, id)

    async def list(self, call: Call) -> Any:
        """List the evaluations, the newest first."""
        running = await loop_of(self._service, call, "read")
        shown = [_shown(each, call) for each in await self._evaluations.all(running.name)]
        if call.path["version"] is not None:
            return shown
        top, skip = _number(call, "top", len(shown)), _number(call, "skip", 0)
        return {"value": shown[skip : skip + top]}

    async def show(self, call: Call) -> dict[str, Any]:
        """Show an evaluation, and its results once it is done."""
        return _shown(await self._record(call, "read"), call)

    async def _record(self, call: Call, scope: str, id: str | None = None) -> dict[str, Any]:
        running, wanted = await loop_of(self._service, call, scope), id or call.path["id"]
        record = await self._evaluations.get(running.name, wanted)
        if record is None:
            raise Refusal("EvaluationNotFound", f"there is no evaluation '{wanted}'", status=404)
        return record

    async def delete(self, call: Call) -> None:
        """Forget an evaluation."""
        record = await self._record(call, "admin")
        running = await loop_of(self._service, call, "admin")
        if record["status"] == "running":
            raise Refusal("OperationNotAllowed", "this evaluation is under way: wait for its end")
        await self._evaluations.delete(running.name, record["id"])

    async def apply(self, call: Call) -> None:
        """Go on with a policy of an evaluation. It learns all rewards of the past first."""
        record = await self._record(call, "admin", call.body.evaluation_id)
        for name, arguments, source in record["policies"]:
            if name == call.body.policy_name and source in ("Custom", "Online"):
                await self._configuration.apply(call, name, arguments)
                return
        raise Refusal(
            "LearningSettingsNotFound",
            f"the evaluation has no learning settings '{call.body.policy_name}'",
            status=404,
        )


def seconds_of(date: str) -> float:
    """Return a date as seconds since 1970. Without a zone it is UTC.

    >>> seconds_of("1970-01-02T00:00:00Z"), seconds_of("1970-01-01T00:00:01")
    (86400.0, 1.0)
    """
    try:
        read = datetime.datetime.fromisoformat(date)
        return (read if read.tzinfo else read.replace(tzinfo=datetime.UTC)).timestamp()
    except (ValueError, OverflowError):
        raise Refusal(_CODE, f"a time is written as 2026-08-25T00:00:00Z, got '{date}'") from None


def _number(call: Call, name: str, otherwise: int) -> int:
    text = call.query.get(name, str(otherwise))
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise Refusal("InvalidRequest", f"{name} is a number >= 0, got '{text}'")
    return int(text)


def _shown(record: dict[str, Any], call: Call) -> dict[str, Any]:
    """Return an evaluation as the version of the call writes it."""
    is_new = call.path["version"] is None
    shown = {
        "id": record["id"],
        "name": record["name"],
        "startTime": date_of(record["since"]),
        "endTime": date_of(record["until"]),
        "status": _STATUSES[record["status"]][is_new],
        "evaluationType": "Manual",
        "creationTime": date_of(record["created"]),
    }
    if record["status"] == "failed":
        shown["detail"] = record["detail"]  # which Personalizer does not have
    results = list(_results(record)) if record["status"] == "done" else []
    if is_new:
        content = {"startTime": shown["startTime"], "endTime": shown["endTime"]}
        return shown | {"content": content | {"value": [_new_result(each) for each in results]}}
    return shown | {"jobId": record["id"], "policyResults": results, "featureImportance": []}


def _results(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the result of each policy: sums of weighted rewards over the whole time."""
    rows = iter(record["rows"])
    for name, arguments, source in record["policies"]:
        ips, snips = next(rows), next(rows)
        n, mean = ips["events"], ips["value"] or 0.0
        deviation = (ips["se"] or 0.0) * math.sqrt(n)
        total = {
            "timeStamp": date_of(record["since"]),
            "ipsEstimatorNumerator": n * mean,
            "ipsEstimatorDenominator": float(n),
            "snipsEstimatorDenominator": n * mean / snips["value"] if snips["value"] else float(n),
            "aggregateTimeWindow": iso_duration(record["until"] - record["since"]),
            "sumOfSquares": n * (deviation**2 + mean**2),
            "confidenceInterval": ((ips["high"] or 0.0) - (ips["low"] or 0.0)) / 2,
            "averageReward": mean,
        }
        about = {"name": name, "arguments": arguments, "policySource": source}
        yield about | {"summary": [total], "totalSummary": total}


def _new_result(result: dict[str, Any]) -> dict[str, Any]:
    total, half = result["totalSummary"], result["totalSummary"]["confidenceInterval"]
    mean = total["averageReward"]
    summary = {"expectedReward": mean, "confidenceInterval": [mean - half, mean + half]}
    data = [summary | {"timeStamp": total["timeStamp"]}]
    return {
        **{key: result[key] for key in ("name", "arguments", "policySource")},
        "slotId": "",
        "summary": summary,
        "timeseries": {"data": data},
    }
