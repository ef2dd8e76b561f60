import type { JobDetail, JobTimelineItem } from '../../../../../client/browser.ts';
import { Section } from '../../../parts/section.tsx';
import { exactTime, lengthOf, secondsTime } from '../../../parts/times.ts';
import { useNow } from '../../../parts/use-now.ts';
import { tookWords } from '../words.ts';
import { axisOf, linesOf } from './timeline.ts';
import type { Axis, Drawn, Line } from './timeline.ts';
import { words } from './words.ts';

const CLASSES: Record<Drawn, string> = { moment: 'pm', wait: 'pw', run: 'pr', guard: 'pg', unknown: 'pk' };

/** What happened to a job, line by line, each with its stretch on one axis. */
export function Timeline({ items, job, isOver }: { items: readonly JobTimelineItem[]; job: JobDetail; isOver: boolean }) {
  const now = useNow(1000, !isOver);
  const lines = linesOf(items, now, job);
  const axis = axisOf(lines);
  return (
    <Section title={words.timeline.title} small={axis.folds.length > 0 ? words.timeline.folds : undefined} aside={<Legend />}>
      <div className="tl" role="table" aria-label={words.timeline.title}>
        <div className="tl-row tl-head" role="row">
          <span role="columnheader">{words.timeline.at}</span>
          <span role="columnheader">{words.timeline.what}</span>
          <span role="columnheader" className="tl-axis m-no">
            <span className="sr">{words.timeline.length}</span>
            {axis.ticks.map((at) => (
              <i key={at} style={{ left: `${axis.place(at)}%` }} className={axis.place(at) > 88 ? 'last' : undefined} aria-hidden="true">
                {secondsTime(at)}
              </i>
            ))}
          </span>
          <span role="columnheader" className="m-no">
            {words.timeline.by}
          </span>
        </div>
        {lines.map((line) => (
          <TimelineRow key={line.key} line={line} axis={axis} />
        ))}
      </div>
    </Section>
  );
}

function TimelineRow({ line, axis }: { line: Line; axis: Axis }) {
  const { at, until, drawn, isGoingOn, says, why, by } = line;
  const left = axis.place(at);
  const width = axis.place(until) - left;
  const length = drawn === 'moment' ? '' : tookWords(until - at) || lengthOf(until - at);
  return (
    <div className="tl-row" role="row">
      <span role="cell" className="dim" title={exactTime(new Date(at).toISOString())}>
        {secondsTime(at)}
      </span>
      <span role="cell" className="tl-what">
        <b>{says}</b>
        {why === '' ? null : <span className="dim">, {why}</span>}
        {length === '' ? null : <span className="dim"> {isGoingOn ? words.timeline.goesOn(length) : length}</span>}
      </span>
      <span role="cell" className="ph m-no" aria-hidden="true">
        <i className={CLASSES[drawn]} style={{ left: `${left}%`, width: `${width}%` }} />
        {axis.folds.map((fold) => (
          <i key={fold.left} className="fold" title={lengthOf(fold.ms)} style={{ left: `${fold.left}%`, width: `${fold.width}%` }} />
        ))}
      </span>
      <span role="cell" className="dim el m-no" title={by}>
        {by}
      </span>
    </div>
  );
}

function Legend() {
  return (
    <span className="legend m-no" aria-hidden="true">
      {(['wait', 'run', 'guard', 'unknown'] as const).map((drawn) => (
        <span className="lamp" key={drawn}>
          <span className="ph swatch">
            <i className={CLASSES[drawn]} />
          </span>
          {words.timeline.legend[drawn]}
        </span>
      ))}
    </span>
  );
}
