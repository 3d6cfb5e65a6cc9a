"""The statements and figures of Kveton et al. (2019): theory, studies, claims and commands."""
