"""Tabs: the pages of a bandit, in the order of the menu."""

from giro.service.dashboard import learned, overview, past
from giro.service.dashboard.pages import Tab

TABS = (
    Tab("bandit", "Overview", overview.overview),
    Tab("arms", "Arms", overview.all_arms),
    Tab("decisions", "Decisions", past.latest_decisions),
    Tab("rewards", "Late rewards", learned.late),
    Tab("learned", "Learned", learned.learned),
    Tab("events", "Events", past.latest_events),
    Tab("decision", "Decision", past.one_decision, in_menu=False),
)
