import { useState } from 'react';
import { CopyButton } from '../../../parts/copy.tsx';
import { fill } from '../../../parts/fill.tsx';
import { RouterLink } from '../../../parts/router-link.tsx';
import { sentenceCase } from '../../../parts/sentence-case.ts';
import { sizeOf } from '../../../parts/sizes.ts';
import { Section } from '../../../parts/section.tsx';
import { exactTime, shortTime } from '../../../parts/times.ts';
import { WorkLamp, WorkState } from '../../../parts/work-lamp.tsx';
import type { Work } from '../../../parts/work.ts';
import { tookWords } from '../words.ts';
import type { Answer, Asked, Row } from './use-commands.ts';
import { words } from './words.ts';

interface Props {
  asked: Asked;
  /** Other routers are chosen now. */
  isEarlier: boolean;
  /** The same command with what makes it end, where the control plane refuses it without. */
  ending: string | undefined;
  /** Puts a command into the box. */
  onTake: (command: string) => void;
  onLookAgain: (routerId: string, key: string) => void;
}

/** The answers of all routers asked: one alone in full, several below each other. */
export function Answers({ asked, isEarlier, ending, onTake, onLookAgain }: Props) {
  const answers = [...asked.answers];
  return (
    <div role="region" aria-label={words.answers.title} aria-live="polite">
      <p className="asked">
        <span className="mono asked-line">{asked.line}</span>{' '}
        <span className="dim" title={exactTime(new Date(asked.at).toISOString())}>
          {words.answers.askedAt(shortTime(new Date(asked.at).toISOString()))}
        </span>
        {isEarlier ? <span className="dim"> {words.answers.earlier}</span> : null}
      </p>
      {answers.length > 1 ? <Sum answers={answers.map(([, answer]) => answer)} /> : null}
      {answers.map(([id, answer]) => (
        <Section
          key={id}
          title={<RouterLink id={id} />}
          small={smallOf(answer)}
          aside={
            answer.kind === 'rows' && answer.rows.length > 0 ? (
              <CopyButton text={textOf(answer.rows)} label={words.answers.copy} />
            ) : undefined
          }
        >
          <OneAnswer answer={answer} routerId={id} onLookAgain={(key) => onLookAgain(id, key)} />
          {ending !== undefined && answer.kind === 'refused' && answer.by === 'control_plane' ? (
            <p>
              {words.answers.ending}{' '}
              <button type="button" className="as-text mono" onClick={() => onTake(ending)}>
                {ending}
              </button>
            </p>
          ) : null}
        </Section>
      ))}
    </div>
  );
}

const WORKS: Record<Answer['kind'], Work> = {
  asking: 'running',
  rows: 'done',
  refused: 'failed',
  not_sent: 'expired',
  unknown: 'unknown',
  lost: 'unknown',
};

function Sum({ answers }: { answers: readonly Answer[] }) {
  const counts = new Map<Work, number>();
  for (const { kind } of answers) counts.set(WORKS[kind], (counts.get(WORKS[kind]) ?? 0) + 1);
  return (
    <p className="sum" role="status">
      {[...counts].map(([work, count]) => (
        <span key={work} className="lamp">
          <WorkLamp work={work} /> {count} {words.answers.sums[work]}
        </span>
      ))}
    </p>
  );
}

function smallOf(answer: Answer): string | undefined {
  if (answer.kind !== 'rows') return undefined;
  return words.answers.rows(answer.rows.length, tookWords(answer.ms));
}

function OneAnswer({ answer, routerId, onLookAgain }: { answer: Answer; routerId: string; onLookAgain: (key: string) => void }) {
  switch (answer.kind) {
    case 'asking':
      return <p className="empty">{words.answers.asking}</p>;
    case 'rows':
      return answer.rows.length === 0 ? <p className="empty">{words.answers.noRows}</p> : <Rows rows={answer.rows} />;
    case 'refused':
      return (
        <p className="outcome">
          {fill(words.answers.refused[answer.by], {
            state: <WorkState work="failed" />,
            message: answer.by === 'router' ? <span className="mono">{answer.message}</span> : answer.message,
          })}
        </p>
      );
    case 'not_sent':
      return (
        <p className="outcome">
          <span className="lamp">
            <WorkLamp work="expired" /> <b>{words.answers.notSent}</b>
          </span>{' '}
          {sentence(answer.message)}
        </p>
      );
    case 'unknown':
      return <NobodyKnows message={answer.message} routerId={routerId} />;
    case 'lost':
      return (
        <p className="outcome" role="alert">
          <span className="lamp">
            <WorkLamp work="unknown" /> <b>{words.answers.lost}</b>
          </span>{' '}
          {words.answers.lostHint}{' '}
          <button type="button" className="btn sm" onClick={() => onLookAgain(answer.key)}>
            {words.answers.lookAgain}
          </button>
        </p>
      );
  }
}

/** A message of the control plane, which begins small and ends without a full stop, among sentences. */
function sentence(message: string): string {
  return sentenceCase(/[.!?]$/.test(message) ? message : `${message}.`);
}

/** No answer in time: what is certain, what is not, and that looking comes before repeating. */
function NobodyKnows({ message, routerId }: { message: string; routerId: string }) {
  return (
    <>
      <p className="outcome">
        <WorkState work="unknown" />
      </p>
      <div className="three">
        <div>
          <h3>{words.unknown.certain}</h3>
          <ul>
            <li>{words.unknown.once}</li>
            <li>{sentenceCase(message)}</li>
            <li>{words.unknown.notRepeated}</li>
          </ul>
        </div>
        <div>
          <h3>{words.unknown.notCertain}</h3>
          <ul>
            <li>{words.unknown.carriedOut}</li>
          </ul>
        </div>
        <div>
          <h3>{words.unknown.look}</h3>
          <p>
            <RouterLink id={routerId} className="hand" />
            <span className="dim">: {words.unknown.lookHow}</span>
          </p>
        </div>
      </div>
    </>
  );
}

/** Rows are added in steps of so many: an answer may have 100,000 of them. */
const STEP = 200;

function Rows({ rows }: { rows: readonly Row[] }) {
  const [count, setCount] = useState(STEP);
  const columns = columnsOf(rows);
  // The text of an export: one row for each line.
  if (columns.length === 1 && rows.length > 1) {
    return (
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard
      <pre className="said" tabIndex={0} role="group" aria-label={words.answers.text}>
        {rows.map((row) => row[columns[0]!] ?? '').join('\n')}
      </pre>
    );
  }
  const [first] = rows;
  if (rows.length === 1 && columns.length === 1 && first![columns[0]!]!.includes('\n')) {
    return (
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard
      <pre className="said as-table" tabIndex={0} role="group" aria-label={words.answers.text}>
        {first![columns[0]!]}
      </pre>
    );
  }
  if (rows.length === 1) return <Record row={first!} />;
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard */}
      <div className="rows" tabIndex={0} role="group" aria-label={words.answers.table}>
        <table>
          <thead>
            <tr>
              {columns.map((name) => (
                <th key={name} scope="col">
                  {nameOf(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, count).map((row, index) => (
              <tr key={row['id'] ?? index}>
                {columns.map((name) => (
                  <td key={name} title={row[name]}>
                    {row[name]}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > count ? (
        <button type="button" className="btn quiet" onClick={() => setCount(count + STEP)}>
          {words.answers.moreRows(rows.length - count)}
        </button>
      ) : null}
    </>
  );
}

/** One record: a line for each of its properties. */
function Record({ row }: { row: Row }) {
  return (
    <table className="record" aria-label={words.answers.record}>
      <tbody>
        {Object.entries(row).map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{nameOf(name)}</th>
            <td>
              {value}
              <SizeBeside name={name} value={value} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Properties that are bytes; below a thousand the number says it. */
const BYTES = /(?:memory|hdd_space|size|bytes?)$/;

function SizeBeside({ name, value }: { name: string; value: string }) {
  if (!BYTES.test(name) || !/^\d{4,15}$/.test(value)) return null;
  return <span className="faint"> {sizeOf(Number(value))}</span>;
}

/** As the router writes it: the interface answers `free_memory` for `free-memory`. */
function nameOf(property: string): string {
  return property.replaceAll('_', '-');
}

/** In the order of the first row that has them. */
function columnsOf(rows: readonly Row[]): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))];
}

/** For a spreadsheet: tabs between the fields. */
function textOf(rows: readonly Row[]): string {
  const columns = columnsOf(rows);
  return [columns.map(nameOf), ...rows.map((row) => columns.map((name) => row[name] ?? ''))].map((fields) => fields.join('\t')).join('\n');
}
