"""Many runs of policies on problems, and their results."""
