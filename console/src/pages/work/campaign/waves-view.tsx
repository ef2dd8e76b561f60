import { Section } from '../../../parts/section.tsx';
import { secondsTime, shortTime } from '../../../parts/times.ts';
import type { Wave } from './waves.ts';
import { words } from './words.ts';

/** Within so little time minutes do not tell the moments apart. */
const SHORT_MS = 10 * 60_000;

interface Props {
  waves: readonly Wave[];
  now: number;
  isGoingOn: boolean;
}

/** The front that runs through the list: each line a stretch of it, on one axis of time. */
export function Waves({ waves, now, isGoingOn }: Props) {
  const begins = waves.flatMap(({ from, expected }) => [from, expected?.from ?? null]).filter((at) => at !== null);
  const ends = waves.flatMap(({ from, until, expected }) => [from, until, expected?.until ?? null]).filter((at) => at !== null);
  const from = Math.min(...begins, now);
  const to = Math.max(...ends, isGoingOn ? now : from, from + 1);
  const place = (at: number): number => Math.min(100, Math.max(0, ((at - from) / (to - from)) * 100));
  const onAxis = to - from < SHORT_MS ? secondsTime : timeOf;
  const front = place(now);
  return (
    <Section title={words.waves.title} small={words.waves.order}>
      <div className="waves" role="table" aria-label={words.waves.title}>
        <div role="row" className="wave wave-head">
          <span role="columnheader">
            <span className="sr">{words.waves.routers}</span>
          </span>
          <span role="columnheader" className="tl-axis m-no">
            <span className="sr">{words.waves.when}</span>
            <i className="first">{onAxis(from)}</i>
            {isGoingOn && front > 12 && front < 84 ? (
              <i style={{ left: `${front}%` }} className="b">
                {onAxis(now)}
              </i>
            ) : null}
            <i className="last" style={{ left: '100%' }}>
              {onAxis(to)}
            </i>
          </span>
          <span role="columnheader">
            <span className="sr">{words.waves.results}</span>
          </span>
        </div>
        {waves.map((wave) => (
          <div role="row" className="wave" key={wave.name}>
            <span role="cell" className="el">
              <b>{wave.name}</b> {wave.name === words.waves.canaries ? <span className="dim">{wave.size}</span> : null}
            </span>
            <span role="cell" className="ph m-no" aria-hidden="true">
              {wave.expected ? (
                <i
                  className="pf"
                  style={{ left: `${place(wave.expected.from)}%`, width: `${place(wave.expected.until) - place(wave.expected.from)}%` }}
                />
              ) : null}
              {wave.from === null ? null : (
                <i className="pr" style={{ left: `${place(wave.from)}%`, width: `${place(wave.until ?? now) - place(wave.from)}%` }} />
              )}
              {isGoingOn ? <i className="now" style={{ left: `${front}%` }} /> : null}
            </span>
            <span role="cell" className={wave.counts.running > 0 ? 'num b' : wave.from === null ? 'num faint' : 'num'}>
              {resultWords(wave)}
            </span>
          </div>
        ))}
      </div>
    </Section>
  );
}

function timeOf(at: number): string {
  return shortTime(new Date(at).toISOString());
}

function resultWords({ counts, from, expected }: Wave): string {
  if (from === null) {
    if (counts.waiting === 0) return words.waves.neverStarted;
    return expected === null ? words.waves.waits : words.waves.expected(timeOf(expected.from), timeOf(expected.until));
  }
  const parts = [
    counts.done > 0 ? words.waves.done(counts.done) : '',
    counts.running > 0 ? words.waves.underWay(counts.running) : '',
    counts.bad > 0 ? words.waves.notAsWished(counts.bad) : '',
    counts.waiting > 0 ? words.waves.wait(counts.waiting) : '',
    counts.notRun > 0 ? words.waves.notRun(counts.notRun) : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}
