"""What Kveton et al. (2019) state and show: theory, studies, claims and their commands."""
