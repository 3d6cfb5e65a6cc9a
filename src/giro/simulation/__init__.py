"""Many runs of a policy on a problem, and what happened in them."""
