"""Linear and logistic regression, kept up to date reward by reward."""
