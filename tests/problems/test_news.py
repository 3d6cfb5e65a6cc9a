"""Articles that come and go: when, with which numbers, and who clicks."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from contract.test_problems import dense
from known import NEWS, NUMBERED
from laws import assert_follows, assert_follows_cdf
from scipy import stats

from giro import BadParameter, Problem, simulate
from giro.kernels.draws.continuous import standard_normal
from giro.kernels.draws.uniform import integer_below
from giro.problem import reveal, reward, start
from giro.problems import News
from giro.seeds import stream


@dataclass
class Article:
    number: int
    topic: int
    quality: float
    age: int = 0


class Literally:
    """The problem from its words, an article an object; draws come in the same order."""

    def __init__(self, news: News, rng: np.random.Generator) -> None:
        self.news, self.rng, self.after = news, rng, 0
        self.tastes = {
            (kind, topic): standard_normal(rng)
            for kind in range(news.kinds)
            for topic in range(news.topics)
        }
        self.articles: list[Article] = []
        for _ in range(news.on_offer):
            self.publish()

    def publish(self) -> None:
        while self.after in {article.number for article in self.articles}:
            self.after = (self.after + 1) % self.news.n_arms
        topic = integer_below(self.news.topics, self.rng)
        quality = self.news.spread * standard_normal(self.rng)
        self.articles.append(Article(self.after, topic, quality))
        self.after = (self.after + 1) % self.news.n_arms

    def reveal(self, rng: np.random.Generator) -> tuple[int, dict[int, tuple[int, float, float]]]:
        """Return the reader's kind, and of each number the topic, the age and the mean."""
        self.rng, news = rng, self.news
        stay = [rng.random() >= 1 / news.lifetime for _ in self.articles]
        self.articles = [a for a, stays in zip(self.articles, stay, strict=True) if stays]
        for article in self.articles:
            article.age += 1
        while len(self.articles) < news.on_offer:
            self.publish()
        self.articles.sort(key=lambda article: article.number)
        place = divmod(integer_below(len(self.tastes), rng), news.topics)
        moved = math.sqrt(1 - news.drift**2) * self.tastes[place]
        self.tastes[place] = moved + news.drift * standard_normal(rng)
        kind = integer_below(news.kinds, rng)
        return kind, {a.number: self.seen_by(kind, a) for a in self.articles}

    def seen_by(self, kind: int, article: Article) -> tuple[int, float, float]:
        age = article.age / self.news.lifetime
        log_odds = self.tastes[kind, article.topic] + article.quality + self.news.constant - age
        return article.topic, age, 1 / (1 + math.exp(-log_odds))


@pytest.mark.parametrize(
    "text", ["news", NEWS, NUMBERED, "news:n_arms=4,on_offer=4,lifetime=2,spread=0,constant=-4"]
)
def test_rounds_are_those_of_the_literal_twin(text: str, seed: int) -> None:
    problem = Problem.parse(text)
    assert isinstance(problem, News)
    instance, twin = start(problem, stream(seed)), Literally(problem, stream(seed))
    rng, same = stream(seed, 1), stream(seed, 1)
    for t in range(500):
        offer, means, highest = reveal(instance, t, rng)
        kind, articles = twin.reveal(same)
        assert offer.arms.tolist() == list(articles)
        assert offer.context.tolist() == np.eye(problem.kinds)[kind].tolist()
        topics, ages, wanted = zip(*articles.values(), strict=True)
        one_hot = np.eye(problem.topics)[list(topics)]
        features = np.column_stack([one_hot, ages])
        if problem.ids:
            features = np.column_stack([features, np.eye(problem.n_arms)[offer.arms]])
            assert offer.features.begin[-1] == 3 * problem.on_offer
        assert dense(offer.features, problem).tolist() == features.tolist()
        np.testing.assert_allclose(means[offer.arms], wanted, rtol=1e-12)
        assert highest == means[offer.arms].max()
        assert np.count_nonzero(means) == problem.on_offer


def test_articles_live_as_long_as_announced_and_topics_are_as_likely(seed: int) -> None:
    """Ages at which articles go are geometric; numbers come in turn."""
    problem = News(n_arms=100_000, on_offer=10, lifetime=4.0, topics=3)
    instance, rng = start(problem, stream(seed)), stream(seed, 1)
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    topics: dict[int, int] = {}
    for t in range(2_000):
        offer, _, _ = reveal(instance, t, rng)
        for arm, features in zip(offer.arms.tolist(), offer.features, strict=True):
            topics[arm] = int(features[:3].argmax())
            first.setdefault(arm, t)
            last[arm] = t
            assert features[3] * 4.0 == t - first[arm] or first[arm] == 0
    ended = [arm for arm in first if 0 < first[arm] < 1_900]
    assert ended == list(range(ended[0], ended[0] + len(ended)))
    rounds_on_offer = [min(last[arm] - first[arm], 30) for arm in ended]
    assert_follows(rounds_on_offer, [*(0.25 * 0.75 ** np.arange(30)), 0.75**30])
    assert_follows([topics[arm] for arm in ended], [1 / 3] * 3)


def test_tastes_keep_their_law_and_forget(seed: int) -> None:
    problem = News(topics=2, kinds=2, drift=0.8)
    before, after, qualities = [], [], []
    for run in range(1_000):
        rng = stream(seed, run)
        instance = start(problem, rng)
        before.append(instance.tastes[0, 0])
        qualities.append(instance.quality[3])
        for t in range(8):
            reveal(instance, t, rng)
        after.append(instance.tastes[0, 0])
    assert_follows_cdf(before, stats.norm.cdf)
    assert_follows_cdf(after, stats.norm.cdf)
    assert_follows_cdf(qualities, stats.norm(scale=0.5).cdf)
    left = (1 - 1 / 4 + 0.6 / 4) ** 8  # of the correlation: one in four moves, and keeps 0.6
    assert np.corrcoef(before, after)[0, 1] == pytest.approx(left, abs=0.15)


def test_clicks_are_0_and_1_and_readers_can_be_learned(seed: int) -> None:
    problem = News(lifetime=100.0)
    instance, rng = start(problem, stream(seed)), stream(seed, 1)
    offer, means, _ = reveal(instance, 0, rng)
    assert {reward(instance, means, int(offer.arms[0]), rng) for _ in range(300)} == {0.0, 1.0}
    learned, guessed = (
        simulate(policy, problem, rounds=3_000, runs=4, seed=seed).reward[:, -1].mean()
        for policy in ("lin-ucb", "uniform")
    )
    assert learned > 1.2 * guessed


def test_bad_parameters_are_refused() -> None:
    for text, complaint in (
        ("n_arms=0", "whole number n_arms >= 1"),
        ("on_offer=0", "whole number on_offer >= 1"),
        ("n_arms=5,on_offer=6", "a number for each article on offer"),
        ("lifetime=0.5", "lifetime >= 1"),
        ("topics=0", "whole number topics >= 1"),
        ("kinds=1", "whole number kinds >= 2"),
        ("drift=1.5", r"drift in \[0, 1\]"),
        ("spread=-1", "finite spread >= 0"),
    ):
        with pytest.raises(BadParameter, match=complaint):
            Problem.parse(f"news:{text}")
    with pytest.raises(BadParameter, match="news needs a finite constant"):
        News(constant=math.inf)
    for wrapper in ("sleeping:problem=news", "switching:first=news,second=news,at=5"):
        with pytest.raises(BadParameter, match="all arms on offer"):
            Problem.parse(wrapper)
