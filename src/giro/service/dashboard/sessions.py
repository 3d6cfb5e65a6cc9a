"""Signing in and out."""

from urllib.parse import parse_qsl

from giro.service.dashboard.pages import moved, page
from giro.service.dashboard.visitors import Sessions
from giro.service.endpoint import Answer, Call
from giro.service.errors import Problem


def form_in(call: Call) -> dict[str, str]:
    """Return the fields of a form."""
    try:
        return dict(parse_qsl(call.body.decode("ascii"), keep_blank_values=True))
    except (UnicodeDecodeError, ValueError):
        raise Problem(400, "this is not a form") from None


class SignIn:
    """The handlers."""

    def __init__(self, sessions: Sessions) -> None:
        """Keep `sessions`."""
        self._sessions = sessions

    async def show(self, call: Call) -> Answer:
        """Ask for a key."""
        back = call.query.get("back", "")
        return page("sign-in", title="Sign in", back=back, problem=None, visitor=None)

    async def begin(self, call: Call) -> Answer:
        """Begin a session, and lead to the page that was asked for."""
        form = form_in(call)
        back = form.get("back", "")
        try:
            cookie = await self._sessions.begin(form.get("key", "").strip(), call.headers)
        except Problem as problem:
            status = problem.status
            return page(
                "sign-in", status, title="Sign in", back=back, problem=problem, visitor=None
            )
        return moved(_own(back), cookie)

    async def end(self, call: Call) -> Answer:
        """End the session."""
        visitor = await self._sessions.visitor(call.headers)
        visitor.check_form(form_in(call).get("token", ""))
        return moved("sign-in", await self._sessions.end(visitor, call.headers))


def _own(address: str) -> str:
    """Return an address if it is a page of this dashboard, and otherwise that of the list.

    >>> _own("bandit?name=a"), _own("//elsewhere.org"), _own("https:x")
    ('bandit?name=a', './', './')
    """
    is_page = address.partition("?")[0].isalpha() and address.isascii() and address.isprintable()
    return address if is_page else "./"
