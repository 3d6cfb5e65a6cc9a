"""Settings of bandits that belong to the service."""

from giro import Records
from giro.service.about import About, about_of, changed, retire_bandit


def test_settings_are_kept_and_changed_whoever_else_changes_them() -> None:
    records = Records()
    assert about_of(records, "x") == About()
    calls = []

    def change(about: About) -> None:
        calls.append(about.sticky)
        if len(calls) == 1:  # somebody else is quicker
            changed(records, "x", lambda other: setattr(other, "sticky", 5.0))
        about.doors["mine"] = [1]

    changed(records, "x", change)
    assert calls == [1800.0, 5.0]
    retire_bandit(records, "x")
    assert about_of(records, "x") == About(retired=True, sticky=5.0, doors={"mine": [1]})
