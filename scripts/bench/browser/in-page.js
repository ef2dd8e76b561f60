/* oxlint-disable no-undef -- runs in the page, before anything else */
// Measurements from inside a page of the web application. `window.bench` is what the benchmark calls.
(() => {
  const longTasks = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longTasks.push(duration);
  }).observe({ type: 'longtask', buffered: true });

  /** When the first row of a list was there, milliseconds after the page was asked for. */
  const firstRow = new Promise((resolve) => {
    const rows = new MutationObserver(() => {
      if (document.querySelector('[role=rowgroup] [role=row] a') === null) return;
      rows.disconnect();
      resolve(performance.now());
    });
    rows.observe(document, { childList: true, subtree: true });
  });

  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));

  /** Scrolls the list down. Gives the time between frames, milliseconds, and the most rows that were in the page. */
  async function scrollDown(pxPerSecond, ms) {
    const scroller = document.querySelector('.gbody');
    const frames = [];
    let rows = 0;
    const startedAt = await frame();
    for (let before = startedAt; before - startedAt < ms;) {
      const now = await frame();
      frames.push(now - before);
      scroller.scrollTop = ((now - startedAt) / 1000) * pxPerSecond;
      // Reading the rows forces a layout: now and then is enough.
      if (frames.length % 60 === 0) rows = Math.max(rows, scroller.querySelectorAll('[role=row]').length);
      before = now;
    }
    return { frames, rows };
  }

  /** A key counts as lost after this time, milliseconds; its time is null then. */
  const LONGEST_MS = 10_000;
  let shown;
  /** From now on `shown()` is the time from the last key to the frame after the count of matches was on the page, milliseconds. */
  function watchKeys() {
    const count = document.querySelector('.count');
    const onKey = ({ timeStamp }) => {
      shown = new Promise((resolve) => {
        const seen = new MutationObserver(() => {
          seen.disconnect();
          requestAnimationFrame((at) => resolve(at - timeStamp));
        });
        seen.observe(count, { childList: true, characterData: true, subtree: true });
        setTimeout(() => resolve(null), LONGEST_MS);
      });
    };
    document.addEventListener('keydown', onKey, true);
  }

  /**
   * The numbers of the changes that arrive in this time, milliseconds, and the tasks over 50 ms. The page hears what it tells the other tabs of
   * the same person and team.
   */
  async function listen(ms, holder) {
    const numbers = [];
    const channel = new BroadcastChannel(`signalbox-events ${holder}`);
    channel.addEventListener('message', ({ data }) => {
      for (const event of data.events ?? []) numbers.push(event.data.number);
    });
    longTasks.length = 0;
    await new Promise((resolve) => setTimeout(resolve, ms));
    channel.close();
    return { numbers, longTasks };
  }

  window.bench = { firstRow, scrollDown, watchKeys, shown: () => shown, listen };
})();
