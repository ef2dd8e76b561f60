import { useState } from 'react';
import type { HistoryItem } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { Lamp, isRouterState } from '../../../parts/lamp.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { Section } from '../../../parts/section.tsx';
import { Sign } from '../../../parts/sign.tsx';
import { wordOf } from '../../../parts/state-words.ts';
import { lengthOf } from '../../../parts/times.ts';
import { endOf } from '../../../parts/terminal-words.ts';
import { historyLines } from './history-lines.ts';
import { hrefOf } from './lanes-of.ts';
import { SpanChoice } from './span-choice.tsx';

/** Lines that are read at once. */
const LINES = 30;
const HOUR_MS = 3_600_000;

/** What happened to a router and what was done with it, on one axis, newest first. Older lines are shown and read on demand. */
export function History({ routerId, hours }: { routerId: string; hours: number }) {
  const list = useList('history', 'listRouterHistory', { path: { router_id: routerId }, query: { limit: LINES } });
  // Another time shown begins with that time alone.
  const [earlierOf, setEarlierOf] = useState<number>();
  const { shown, older } = historyLines(list.records, Date.now() - hours * HOUR_MS, earlierOf === hours);
  function showEarlier(): void {
    setEarlierOf(hours);
    if (older === 0) list.readMore();
  }
  return (
    <Section title="History" small={<span className="m-no">one axis, newest first</span>} aside={<SpanChoice />}>
      {list.error && list.records.length === 0 ? <ReadingFailed error={list.error} what="The history" /> : null}
      {list.isFirst ? <Reading /> : null}
      {shown.map((item) => (
        <Line key={`${item.kind} ${item.id}`} item={item} routerId={routerId} />
      ))}
      {!list.isFirst && list.records.length === 0 ? <p className="empty">Nothing has happened yet.</p> : null}
      {list.hasMore || older > 0 ? (
        <button type="button" className="btn quiet sm" onClick={showEarlier}>
          Earlier
        </button>
      ) : null}
    </Section>
  );
}

function Line({ item, routerId }: { item: HistoryItem; routerId: string }) {
  const { kind, at, until, status, by } = item;
  return (
    <div className="line happened">
      <Moment at={at} className="dim" />
      {kind === 'state' && isRouterState(status) ? (
        <Lamp state={status} />
      ) : (
        <Sign kind={kind === 'fault' && until !== null ? 'fault_resolved' : kind} />
      )}
      <span className="el">
        <AppLink href={hrefOf(routerId, item)}>
          <What item={item} />
        </AppLink>
      </span>
      <span className="num faint t2">{by ?? (until === null ? '' : lengthOf(Date.parse(until) - Date.parse(at)))}</span>
    </div>
  );
}

const STATE_COLOURS: Record<string, string> = { not_answering: 'c-not', agent_away: 'c-away' };

function What({ item: { kind, status, title, until } }: { item: HistoryItem }) {
  switch (kind) {
    case 'state': {
      const [, reason] = title.split(': ');
      return (
        <>
          <b className={`b ${STATE_COLOURS[status] ?? ''}`}>{wordOf(status)}</b>
          {reason === undefined ? '' : `, ${wordOf(reason)}`}
        </>
      );
    }
    case 'session':
      return (
        <>
          Agent connected from <span className="id">{title.split(' from ')[1]}</span>
          <span className="dim">{status === 'open' ? ', still' : `, ended by ${wordOf(status)}`}</span>
        </>
      );
    case 'fault':
      return (
        <>
          <b className="b">{title}</b>
          <span className="dim">{until === null ? ', open' : ', resolved'}</span>
        </>
      );
    case 'job':
      return (
        <>
          Job <b className="b">{title}</b>
          <span className="dim">, {wordOf(status)}</span>
        </>
      );
    case 'forward':
      return (
        <>
          Forward to <span className="id">{title}</span>
          <span className="dim">, {wordOf(status)}</span>
        </>
      );
    case 'terminal':
      return (
        <>
          Terminal <b className="b">{title}</b>
          <span className="dim">, {status === 'open' ? 'open' : endOf(status)}</span>
        </>
      );
    case 'backup':
      return <>Backup, {wordOf(status)}</>;
    case 'unknown':
      return (
        <>
          Nobody knew<span className="dim">, {title}</span>
        </>
      );
    case 'action':
      return (
        <>
          <span className="dim">Request</span> {title} <span className="dim">answered {status}</span>
        </>
      );
  }
}
