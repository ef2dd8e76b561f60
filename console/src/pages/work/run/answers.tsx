import { useState } from 'react';
import { CopyButton } from '../../../parts/copy.tsx';
import { RouterLink } from '../../../parts/router-link.tsx';
import { Section } from '../../../parts/section.tsx';
import { WorkLamp, WorkState } from '../../../parts/work-lamp.tsx';
import type { Work } from '../../../parts/work.ts';
import { countOf, tookWords } from '../words.ts';
import type { Answer, Asked, Row } from './use-commands.ts';

interface Props {
  asked: Asked;
  onLookAgain: (routerId: string, key: string) => void;
}

/** The answers of all routers asked: one alone in full, several below each other. */
export function Answers({ asked, onLookAgain }: Props) {
  const answers = [...asked.answers];
  return (
    <div role="region" aria-label="Answers" aria-live="polite">
      {answers.length > 1 ? <Sum answers={answers.map(([, answer]) => answer)} /> : null}
      {answers.map(([id, answer]) => (
        <Section
          key={id}
          title={answers.length > 1 ? <RouterLink id={id} /> : 'Answer'}
          small={smallOf(answer)}
          aside={answer.kind === 'rows' && answer.rows.length > 0 ? <CopyButton text={textOf(answer.rows)} label="the rows" /> : undefined}
        >
          <OneAnswer answer={answer} routerId={id} onLookAgain={(key) => onLookAgain(id, key)} />
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
  const words: Partial<Record<Work, string>> = {
    running: 'asked',
    done: 'answered',
    failed: 'refused',
    expired: 'not reached',
    unknown: 'unknown',
  };
  return (
    <p className="sum" role="status">
      {[...counts].map(([work, count]) => (
        <span key={work} className="lamp">
          <WorkLamp work={work} /> {count} {words[work]}
        </span>
      ))}
    </p>
  );
}

function smallOf(answer: Answer): string | undefined {
  if (answer.kind !== 'rows') return undefined;
  const length = tookWords(answer.ms);
  return `${countOf(answer.rows.length, 'row')}${length === '' ? '' : `, ${length}`}`;
}

function OneAnswer({ answer, routerId, onLookAgain }: { answer: Answer; routerId: string; onLookAgain: (key: string) => void }) {
  switch (answer.kind) {
    case 'asking':
      return <p className="empty">Asked, no answer yet.</p>;
    case 'rows':
      return answer.rows.length === 0 ? <p className="empty">Done. The router answered without rows.</p> : <Rows rows={answer.rows} />;
    case 'refused':
      return (
        <p className="outcome">
          <WorkState work="failed" />, the router refused: <span className="mono">{answer.message}</span>
        </p>
      );
    case 'not_sent':
      return (
        <p className="outcome">
          <WorkLamp work="expired" /> <b>Nothing was done.</b> {answer.message}
        </p>
      );
    case 'unknown':
      return <NobodyKnows message={answer.message} routerId={routerId} />;
    case 'lost':
      return (
        <p className="outcome" role="alert">
          <WorkLamp work="unknown" /> <b>It may have been done.</b> The answer was lost on its way. Looking again cannot start it twice.{' '}
          <button type="button" className="btn sm" onClick={() => onLookAgain(answer.key)}>
            Look again
          </button>
        </p>
      );
  }
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
          <h3>Certain</h3>
          <ul>
            <li>The command was handed to the agent once</li>
            <li>{message}</li>
            <li>It is never repeated by itself</li>
          </ul>
        </div>
        <div>
          <h3>Not certain</h3>
          <ul>
            <li>Whether the router carried it out</li>
          </ul>
        </div>
        <div>
          <h3>Look, then decide</h3>
          <p>
            <RouterLink id={routerId} className="hand" />
            <span className="dim">: does it answer? Print the menu that the command was to change before you send it again.</span>
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
      <pre className="said" tabIndex={0} role="group" aria-label="Text">
        {rows.map((row) => row[columns[0]!] ?? '').join('\n')}
      </pre>
    );
  }
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard */}
      <div className="rows" tabIndex={0} role="group" aria-label="Rows, scrolls sideways">
        <table>
          <thead>
            <tr>
              {columns.map((name) => (
                <th key={name} scope="col">
                  {name}
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
          {countOf(rows.length - count, 'more row')}
        </button>
      ) : null}
    </>
  );
}

/** In the order of the first row that has them. */
function columnsOf(rows: readonly Row[]): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))];
}

/** For a spreadsheet: tabs between the fields. */
function textOf(rows: readonly Row[]): string {
  const columns = columnsOf(rows);
  return [columns, ...rows.map((row) => columns.map((name) => row[name] ?? ''))].map((fields) => fields.join('\t')).join('\n');
}
