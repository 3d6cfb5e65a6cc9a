/* giro.js: a bandit in a page. https://... of your `giro serve` serves it as /giro.js.

     <script src="https://bandits.example/giro.js"></script>
     <script>
       const button = giro({bandit: "button", key: "giro_...", baseline: "red"});
       button.decide({country: "de"}).then(({arm}) => show(arm));
       buy.onclick = () => button.reward(1);
     </script>

   A visitor keeps a choice for half an hour (`stay`, seconds). While the service does not answer,
   `decide` gives the baseline, or the first of `arms`. What happened is kept in the browser until
   the service has it; nothing counts twice, because decisions have ids and rewards have names. */
(function () {
  "use strict";

  const BUSY = [408, 429, 500, 502, 503, 504];
  const MOST = 50; // decisions and rewards of a request: what is sent while leaving must be small
  const PAUSES = [1000, 60000]; // milliseconds until what waits is sent again, at first and at most
  const script = typeof document === "undefined" ? null : document.currentScript;

  function newId() {
    const bytes = crypto.getRandomValues(new Uint8Array(12));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  /* What stays in the browser, or where it may not, in the page. */
  function storage(given) {
    try {
      const store = given || globalThis.localStorage;
      store.setItem("giro", "");
      store.removeItem("giro");
      return store;
    } catch {
      const kept = new Map();
      return {
        getItem: (name) => (kept.has(name) ? kept.get(name) : null),
        setItem: (name, text) => kept.set(name, text),
        removeItem: (name) => kept.delete(name),
        key: (i) => [...kept.keys()][i],
        get length() { return kept.size; },
      };
    }
  }

  class Bandit {
    constructor(options) {
      for (const name of ["bandit", "key"]) {
        if (typeof options[name] !== "string") throw new Error(`giro needs ${name}: "..."`);
      }
      const origin = script && script.src ? new URL(script.src).origin : "";
      this.options = {url: origin, stay: 1800, timeout: 1000, baseline: null, ...options};
      this.store = storage(options.store);
      this.prefix = `giro.${options.bandit}.`;
      this.awayUntil = 0;
      this.pause = PAUSES[0];
      this.current = null;
      this.sending = null;
      if (this.waiting().length) this.flush();
    }

    /* Return a promise of {id, arm, propensity, fallback}: the visitor's choice, or a new one. */
    async decide(context, {arms = null, baseline = this.options.baseline} = {}) {
      const kept = this.kept();
      if (kept && (!arms || names(arms).includes(kept.arm))) return (this.current = kept);
      const asked = {id: `${this.options.bandit}.${newId()}`};
      for (const [name, value] of Object.entries({context, arms, baseline})) {
        if (value !== null && value !== undefined) asked[name] = value;
      }
      let decision = null;
      let mayCount = true; // not if the service would refuse it again
      if (Date.now() >= this.awayUntil) {
        const {decisions, refused} = (await this.post({decisions: [asked]}, true)) || {decisions: []};
        const answer = decisions[0];
        decision = answer && answer.decision ? {...answer.decision, fallback: false} : null;
        mayCount = !(refused || (answer && answer.problem && !BUSY.includes(answer.problem.status)));
        if (!mayCount && !refused) console.warn(`giro: ${answer.problem.detail}`);
      }
      decision = decision || this.without(asked, mayCount);
      this.current = decision;
      this.store.setItem(`${this.prefix}choice`, JSON.stringify({...decision, time: Date.now()}));
      return decision;
    }

    /* Report a reward of the visitor's choice, or of the decision with this id. */
    reward(value, {id = this.current && this.current.id, report = newId()} = {}) {
      if (!id) throw new Error("giro: there is no decision yet to reward");
      if (!Number.isFinite(value)) throw new Error(`giro: a reward is a number, got ${value}`);
      this.keep({reward: {id, value, report}});
      return this.flush();
    }

    /* Send what waits, and return a promise of how much is left. */
    flush() {
      this.sending = (this.sending || Promise.resolve()).then(() => this.sendAll());
      return this.sending;
    }

    /* Send what waits while the page is left: nobody hears the answer, so it stays until later. */
    leave() {
      const entries = this.waiting().slice(0, MOST);
      if (!entries.length) return false;
      const text = JSON.stringify({key: this.options.key, ...bodyOf(entries)});
      return navigator.sendBeacon(this.address(), new Blob([text], {type: "text/plain"}));
    }

    /* -- the rest is for this file ------------------------------------------------------- */

    address() {
      return `${this.options.url}/v1/page`;
    }

    kept() {
      const text = this.store.getItem(`${this.prefix}choice`);
      const kept = text ? JSON.parse(text) : null;
      return kept && Date.now() - kept.time < 1000 * this.options.stay ? kept : null;
    }

    /* Return a decision for the baseline. The service may have made another one with its id. */
    without(asked, mayCount) {
      const arm = asked.baseline || names(asked.arms || [])[0];
      if (!arm) throw new Error("giro: the service is away, and there is no baseline to take");
      const id = `${asked.id}~`;
      if (mayCount) this.keep({decision: {...asked, id, taken: arm}});
      this.again();
      return {id, arm, propensity: 1, fallback: true};
    }

    /* Each entry has a name of its own, so that pages that are open together do not lose any. */
    keep(entry) {
      const name = `${this.prefix}waiting.${String(Date.now()).padStart(15, "0")}.${newId()}`;
      this.store.setItem(name, JSON.stringify(entry));
    }

    waiting() {
      const all = Array.from({length: this.store.length}, (_, i) => this.store.key(i));
      const own = all.filter((name) => name.startsWith(`${this.prefix}waiting.`)).sort();
      const entries = own.map((name) => ({name, ...JSON.parse(this.store.getItem(name) || "{}")}));
      return entries.filter((each) => each.decision || each.reward);
    }

    async sendAll() {
      for (let most = MOST; ;) {
        const entries = this.waiting().slice(0, most);
        if (!entries.length) return 0;
        const answer = await this.post(bodyOf(entries), false);
        if (!answer) return this.again();
        if (answer.refused) { // one by one, to find the entry that is wrong
          if (entries.length === 1) this.store.removeItem(entries[0].name);
          most = 1;
          continue;
        }
        const states = [
          ...answer.decisions.map((each) => each.problem || {status: 200}),
          ...answer.rewards,
        ];
        const sent = [...entries.filter((e) => e.decision), ...entries.filter((e) => !e.decision)];
        const done = sent.filter((_, i) => !BUSY.includes(states[i].status));
        states.filter((each) => each.status >= 400 && !BUSY.includes(each.status))
          .forEach((each) => console.warn(`giro: ${each.detail}`));
        done.forEach(({name}) => this.store.removeItem(name));
        if (done.length < sent.length) return this.again();
        this.pause = PAUSES[0];
      }
    }

    again() {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.flush(), this.pause);
      if (this.timer.unref) this.timer.unref(); // outside of browsers
      this.pause = Math.min(2 * this.pause, PAUSES[1]);
      return this.waiting().length;
    }

    /* Return the answer to a request, or null if the service is away. */
    async post(body, isUrgent) {
      const stop = new AbortController();
      const timer = setTimeout(() => stop.abort(), isUrgent ? this.options.timeout : 60000);
      try {
        const answer = await fetch(this.address(), {
          method: "POST",
          body: JSON.stringify({key: this.options.key, ...body}),
          headers: {"content-type": "text/plain"}, // which needs no preflight
          credentials: "omit",
          keepalive: true,
          signal: stop.signal,
        });
        const content = await answer.json();
        if (answer.ok) {
          this.awayUntil = 0;
          return content;
        }
        console.warn(`giro: ${content.detail}`);
        if ([400, 413, 422].includes(answer.status)) return {decisions: [], rewards: [], refused: true};
      } catch {
        // nobody answers
      } finally {
        clearTimeout(timer);
      }
      this.awayUntil = Date.now() + this.pause;
      return null;
    }
  }

  function names(arms) {
    return Array.isArray(arms) ? arms : Object.keys(arms);
  }

  function bodyOf(entries) {
    return {
      decisions: entries.filter((each) => each.decision).map((each) => each.decision),
      rewards: entries.filter((each) => each.reward).map((each) => each.reward),
    };
  }

  function giro(options) {
    const bandit = new Bandit(options);
    if (typeof document !== "undefined") {
      addEventListener("pagehide", () => bandit.leave());
      addEventListener("online", () => bandit.flush());
    }
    return bandit;
  }

  globalThis.giro = giro;
  if (typeof module === "object") module.exports = giro;
})();
