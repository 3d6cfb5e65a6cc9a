"""`giro problems`: what there is."""

from giro.cli._app import app
from giro.cli._catalogue import Json, print_catalogue
from giro.problem import Problem


@app.command()
def problems(json: Json = False) -> None:
    """List the problems and their parameters.

    Shows the defaults, one line on what each problem does, and where it comes from.

    \b
    Examples:
      giro problems
      giro problems --json
    """
    print_catalogue(Problem, json=json)
