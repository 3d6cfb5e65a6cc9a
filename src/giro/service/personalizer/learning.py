"""Learning settings: from options of VW to the policy of giro that explores in the same way."""

from giro import Policy
from giro.service.personalizer.loop import POLICY, Refusal

_CODE = "InvalidPolicyConfiguration"
_FORMS = ("--cb_explore_adf", "--ccb_explore_adf")
_EXPLORING = ("--first", "--cover", "--softmax", "--regcb", "--regcbopt", "--rnd", "--synthcover")


def policy_of(arguments: str) -> str:
    """Return the text of a policy.

    How VW explores is taken over, with the exploration of the settings in the place of `--epsilon`.
    How it learns is giro's own. A text that is no option is that of a policy of giro.

    >>> policy_of("--cb_explore_adf --epsilon 0.2 --cb_type mtr -q ::")
    'greedy:model=hashed'
    >>> policy_of("--cb_explore_adf --bag 5"), policy_of("--cb_explore_adf --squarecb")
    ('poisson-bootstrap:model=hashed,replicas=5', 'squarecb')
    >>> policy_of("squarecb:gamma=100")
    'squarecb:gamma=100'
    """
    words = arguments.replace("=", " ").split()
    if not words or not words[0].startswith("-"):
        Policy.parse(arguments)
        return arguments
    if not any(form in words for form in _FORMS):
        raise Refusal(_CODE, f"the arguments have {' or '.join(_FORMS)}, or are a policy of giro")
    for option in _EXPLORING:
        if option in words:
            raise Refusal(
                _CODE, f"giro does not explore by {option}: take --epsilon, --bag N or --squarecb"
            )
    if "--squarecb" in words:
        return "squarecb"
    if "--bag" not in words:
        return POLICY
    replicas = [*words, ""][words.index("--bag") + 1]
    if not (replicas.isascii() and replicas.isdecimal() and 1 <= int(replicas) <= 1000):
        raise Refusal(_CODE, f"--bag has 1 to 1000 models, got '{replicas}'")
    return f"poisson-bootstrap:model=hashed,replicas={int(replicas)}"
