import type { Command, Context, Outcome, Screen } from '../command.ts';
import { printable, printableLines } from '../text.ts';
import { feedLine } from './feed.ts';
import type { FleetModel } from './model.ts';
import { Painter } from './painter.ts';
import { countsText } from './status-text.ts';
import { topFrame } from './top-frame.ts';
import { Watch } from './watch.ts';

/** Events that come together are drawn together. */
const DRAW_MS = 100;
/** Ages grow by themselves. */
const TICK_MS = 1000;

export const top: Command = {
  name: 'top',
  summary: 'watch the fleet live: states, what is away, running jobs, events',
  positionals: [],
  options: {},
  examples: ['top', 'top --json'],
  async run(context) {
    const { screen } = context.surroundings;
    return screen === undefined || context.json ? watchAsLines(context) : watchOnScreen(context, screen);
  },
};

/** Until `q` or Ctrl-C. The terminal is then as it was. */
async function watchOnScreen({ signalbox, surroundings, notices }: Context, screen: Screen): Promise<Outcome> {
  const quit = new AbortController();
  const painter = new Painter(screen, surroundings.stdout);
  let notice = '';
  let pending: NodeJS.Timeout | undefined;
  const draw = (): void => {
    pending = undefined;
    const { columns, rows } = screen.size();
    const { model, now, connection } = watch;
    if (model === undefined) painter.draw([{ text: notice === '' ? 'reading the fleet …' : notice.trimEnd() }]);
    else painter.draw(topFrame(model, { columns, rows, host: signalbox.host, now, connection, notice: notice.trimEnd() }));
  };
  const drawSoon = (): void => void (pending ??= setTimeout(draw, DRAW_MS));
  const watch = new Watch(signalbox, AbortSignal.any([surroundings.signal, quit.signal]), () => {
    notice = '';
    drawSoon();
  });
  const print = notices.print;
  notices.print = (text) => {
    notice = text;
    drawSoon();
  };
  const closers = [
    screen.onResize(() => {
      painter.forget();
      drawSoon();
    }),
    screen.readKeys((key) => {
      if (key === 'q') quit.abort();
    }),
  ];
  const tick = setInterval(drawSoon, TICK_MS);
  painter.open();
  draw();
  try {
    return await watch.run(() => undefined);
  } catch (error) {
    if (quit.signal.aborted && !surroundings.signal.aborted) return { json: undefined, text: '' };
    throw error;
  } finally {
    clearInterval(tick);
    clearTimeout(pending);
    for (const close of closers) close();
    painter.close();
    notices.print = print;
  }
}

/** For a pipe or a log: the counts when they change, and each event, one line each. With `--json` each as one JSON object. */
async function watchAsLines({ signalbox, surroundings, json }: Context): Promise<Outcome> {
  const { stdout, signal } = surroundings;
  let said = '';
  const watch: Watch = new Watch(signalbox, signal, () => {
    // Between two reads of the overview the events say what happens.
    if (watch.model === undefined || watch.model.isOverviewOld) return;
    const overview = { ...watch.model.overview, routers: watch.model.states };
    const at = `${new Date(watch.now).toISOString().slice(0, 19)}Z`;
    const line = json ? JSON.stringify(overview) : countsLine(overview);
    if (line === said) return;
    said = line;
    stdout(json ? `${JSON.stringify({ at, overview })}\n` : printableLines(`${at} ${line}\n`));
  });
  return watch.run((event, model) => stdout(json ? `${JSON.stringify({ event })}\n` : `${printable(feedLine(event, model))}\n`));
}

/** `Routers 50 (answering 42, agent_away 8); Agents 2 (connected 2); …` */
function countsLine(overview: FleetModel['overview']): string {
  const lines = countsText(overview, Infinity).trimEnd().split('\n');
  return lines
    .map((line) => {
      const [name, total, details] = line.split(/ {2,}/);
      return `${name} ${total}${details === undefined ? '' : ` (${details})`}`;
    })
    .join('; ');
}
