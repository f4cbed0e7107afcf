// What no closed form gives: Poisson sums of a window, and requests played through a server.
"use strict";

{
  /** exp(-m) m^k / k!, factor by factor, so that nothing overflows on the way. */
  const poisson = (k, m) => {
    if (k === 0) return Math.exp(-m);
    let product = 1;
    const share = Math.exp(-m / k);
    for (let j = 1; j <= k; j++) product *= (m / j) * share;
    return product;
  };

  /** P(N < k) and P(N >= k) of a Poisson number: the smaller is summed, so both keep their digits. */
  const tails = (k, m) => {
    if (k <= 0) return [0, 1];
    if (m === 0) return [1, 0];
    let sum = 0;
    if (k > m) {
      for (let j = k, term = poisson(k, m); term > sum * 1e-18; j++, term *= m / j) sum += term;
      return [1 - sum, sum];
    }
    for (let j = k - 1, term = poisson(k - 1, m); j >= 0 && term > sum * 1e-18; term *= j / m, j--) sum += term;
    return [sum, 1 - sum];
  };

  /** The batches of a window: mean size, mean delay of a request, share that fill. */
  const formed = (rate, size, wait) => {
    if (!(rate > 0 && size >= 1 && wait >= 0 && Number.isInteger(size))) throw new live.Outside("domain", "window");
    const [k, mean] = [size - 1, rate * wait];
    const [timedOut, full] = tails(k, mean);
    const joined = mean * tails(k - 1, mean)[0];
    const meanSize = 1 + joined + k * full;
    const filling = (k / rate) * tails(k + 1, mean)[1];
    const delay = (filling / 2) * (size / meanSize) + (wait / 2) * ((joined + 2 * timedOut) / meanSize);
    return { meanSize, delay, full };
  };

  const MOST = 512;
  /** Gaps of mean 1 between requests: the same ones for everybody. */
  const gaps = (() => {
    const drawn = [];
    for (let seed = 20_261, k = 0; k < MOST; k++) {
      seed = (seed * 48_271) % 2_147_483_647;
      drawn.push(-Math.log(seed / 2_147_483_647));
    }
    return drawn;
  })();

  /**
   * Play requests through a server that closes a batch when it is full or its first request has
   * waited long enough, and only while it is idle.
   * @returns {{first: number, arrivals: number[], start: number, end: number}[]} The batches.
   */
  live.replay = (size, wait, rate, fixed, each) => {
    if (!(rate > 0 && size >= 1 && wait >= 0 && fixed >= 0 && each >= 0)) throw new live.Outside("domain", "replay");
    let clock = 0;
    const arrivals = gaps.map((gap) => (clock += gap / rate));
    const batches = [];
    for (let first = 0, free = 0; first < MOST;) {
      const full = first + size <= MOST ? arrivals[first + size - 1] : Infinity;
      const start = Math.max(free, Math.min(full, arrivals[first] + wait));
      let last = first + 1;
      while (last < MOST && last < first + size && arrivals[last] <= start) last++;
      if (last === MOST) break; // who else would come is not known
      free = start + fixed + each * (last - first);
      batches.push({ first, arrivals: arrivals.slice(first, last), start, end: free });
      first = last;
    }
    return batches;
  };

  /** Mean response of the requests of the first second. */
  const replayed = (...setting) => {
    const responses = live.replay(...setting).flatMap(({ arrivals, end }) =>
      arrivals.filter((one) => one <= 1).map((one) => end - one));
    if (!responses.length) throw new live.Outside("large", "replay");
    return responses.reduce((a, b) => a + b) / responses.length;
  };

  live.specials = {
    window_mean_size: (...given) => formed(...given).meanSize,
    window_mean_delay: (...given) => formed(...given).delay,
    window_full: (...given) => formed(...given).full,
    replay: replayed,
    ...Object.fromEntries(["token", "sequence", "weights", "usable", "room", "count"].map((what) =>
      [`fit_${what}`, (...setting) => live.fit(...setting)[what]])),
  };
}
