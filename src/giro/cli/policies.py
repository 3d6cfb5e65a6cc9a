"""`giro policies`: what there is."""

from giro.cli._app import app
from giro.cli._catalogue import Json, print_catalogue
from giro.policy import Policy


@app.command()
def policies(json: Json = False) -> None:
    """List the policies and their parameters.

    Shows the defaults, one line on what each policy does, and where it comes from.

    \b
    Examples:
      giro policies
      giro policies --json
    """
    print_catalogue(Policy, json=json)
