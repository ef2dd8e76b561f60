import { useState } from 'react';
import type { HistoryItem, Input, Job } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { useRecord } from '../../../data/use-record.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { fill } from '../../../parts/fill.tsx';
import { Lamp, isRouterState } from '../../../parts/lamp.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { Section } from '../../../parts/section.tsx';
import { Sign } from '../../../parts/sign.tsx';
import { wordOf } from '../../../parts/state-words.ts';
import { workWord } from '../../../parts/work-lamp.tsx';
import { lengthOf } from '../../../parts/times.ts';
import { endOf } from '../../../parts/terminal-words.ts';
import { sentenceCase } from '../../../parts/sentence-case.ts';
import { deedOf, outcomeOf, whyNot } from '../../settings/audit/words.ts';
import { workOf } from '../../work/words.ts';
import { historyLines } from './history-lines.ts';
import { hrefOf } from './lanes-of.ts';
import { SpanChoice } from './span-choice.tsx';
import { words } from './words.ts';
import { serverNow } from '../../../data/server-clock.ts';

/** Lines that are read at once. */
const LINES = 30;
const HOUR_MS = 3_600_000;

/** What happened to a router and what was done with it, on one axis, newest first. Older lines are shown and read on demand. */
export function History({ routerId, hours }: { routerId: string; hours: number }) {
  const list = useList('history', 'listRouterHistory', { path: { router_id: routerId }, query: { limit: LINES } });
  // Another time shown begins with that time alone.
  const [earlierOf, setEarlierOf] = useState<number>();
  const { shown, older } = historyLines(list.records, serverNow() - hours * HOUR_MS, earlierOf === hours);
  function showEarlier(): void {
    setEarlierOf(hours);
    if (older === 0) list.readMore();
  }
  return (
    <Section title={words.history.title} small={<span className="m-no">{words.history.order}</span>} aside={<SpanChoice />}>
      {list.error && list.records.length === 0 ? <ReadingFailed error={list.error} what={words.story} /> : null}
      {list.isFirst ? <Reading /> : null}
      {shown.map((item) => (
        <Line key={`${item.kind} ${item.id}`} item={item} routerId={routerId} />
      ))}
      {!list.isFirst && list.records.length === 0 ? <p className="empty">{words.history.none}</p> : null}
      {list.hasMore || older > 0 ? (
        <button type="button" className="btn quiet sm" onClick={showEarlier}>
          {words.history.earlier}
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
        {kind === 'action' ? (
          // Nothing more is kept of it: a link would lead to this page.
          <What item={item} routerId={routerId} />
        ) : (
          <AppLink href={hrefOf(routerId, item)}>
            <What item={item} routerId={routerId} />
          </AppLink>
        )}
      </span>
      <span className="num faint t2">{by ?? (until === null ? '' : lengthOf(Date.parse(until) - Date.parse(at)))}</span>
    </div>
  );
}

/** Nothing when it was done. */
function outcomeWords(action: string, result: number): string {
  const why = whyNot(action, result);
  if (why !== undefined) return `: ${why}`;
  return result < 400 ? '' : `, ${outcomeOf(action, result)}`;
}

/** The audit log names records by their ids, which say nothing to people. */
function withoutId(detail: string): string {
  return detail.replace(/ \(\w+ [\da-f-]{36}\)$/, '');
}

/** The history does not tell why a job failed, and one that the router undid has a word of its own everywhere else. */
function FailedJob({ id, routerId }: { id: string; routerId: string }) {
  const query = { router_id: routerId, status: ['failed'], fields: ['id', 'reason'], limit: 200 } satisfies Input<'listTeamJobs'>['query'];
  const { data } = useRecord('jobs', 'listTeamJobs', { query });
  return workWord(workOf({ status: 'failed', reason: data?.find((job) => job.id === id)?.reason ?? null }));
}

const STATE_COLOURS: Record<string, string> = { not_answering: 'c-not', agent_away: 'c-away' };

function What({ item: { id, kind, status, title, until }, routerId }: { item: HistoryItem; routerId: string }) {
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
      return fill(words.history.session, {
        address: <span className="id">{title.split(' from ')[1]}</span>,
        end: <span className="dim">{status === 'open' ? words.history.sessionOpen : words.history.sessionEnded(wordOf(status))}</span>,
      });
    case 'fault':
      return (
        <>
          <b className="b">{title}</b>
          <span className="dim">{until === null ? words.history.faultOpen : words.history.faultResolved}</span>
        </>
      );
    case 'job':
      return fill(words.history.job, {
        title: <b className="b">{title}</b>,
        status: (
          <span className="dim">
            ,{' '}
            {status === 'failed' ? (
              <FailedJob id={id} routerId={routerId} />
            ) : (
              workWord(workOf({ status: status as Job['status'], reason: null }))
            )}
          </span>
        ),
      });
    case 'forward':
      return fill(words.history.forward, {
        target: <span className="id">{title}</span>,
        status: <span className="dim">, {status === 'open' ? words.history.open : words.history.closed}</span>,
      });
    case 'terminal':
      return fill(words.history.terminal, {
        reason: <b className="b">{title}</b>,
        status: <span className="dim">, {status === 'open' ? words.history.open : endOf(status)}</span>,
      });
    case 'backup':
      return words.history.backup(wordOf(status));
    case 'unknown':
      return (
        <>
          {words.history.nobodyKnew}
          <span className="dim">, {title}</span>
        </>
      );
    case 'action': {
      const [action = '', ...detail] = title.split(': ');
      return fill(words.history.action, {
        deed: sentenceCase(deedOf(action, Number(status))),
        what: detail.length === 0 ? '' : <span className="id"> {withoutId(detail.join(': '))}</span>,
        outcome: <span className="dim">{outcomeWords(action, Number(status))}</span>,
      });
    }
  }
}
