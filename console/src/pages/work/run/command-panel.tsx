import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { Router } from '../../../../../client/browser.ts';
import { fill } from '../../../parts/fill.tsx';
import { Answers } from './answers.tsx';
import { AskFirst } from './ask-first.tsx';
import { cautionOf } from './caution.ts';
import type { Caution } from './caution.ts';
import { CommandInput } from './command-input.tsx';
import { endingOf, splitCommand, withHistory } from './command-line.ts';
import { deedDoes } from './deed-words.ts';
import { useCommands } from './use-commands.ts';
import type { Asked } from './use-commands.ts';
import { words } from './words.ts';

/** Most routers for a command, which has no undo and no canary. More of them are a campaign's. */
const MOST_ROUTERS = 20;

/** What was run in this tab, newest first. Commands may hold passwords, so they are kept in memory only. */
let history: readonly string[] = [];

/** To begin with: they change nothing, and every router knows them. */
const EXAMPLES = ['/system/resource/print', '/interface/print', '/ip/address/print'];

/** One command, its answer as a table. @param first what stands in the box at the beginning */
export function CommandPanel({ routers, first }: { routers: readonly Router[]; first: string }) {
  const [line, setLine] = useState(first);
  const { asked, isAsking, ask, lookAgain } = useCommands();
  const isTooMany = routers.length > MOST_ROUTERS;
  const isReady = line.trim() !== '' && routers.length > 0 && !isTooMany && !isAsking;
  const caution = cautionOf(line);
  const [meant, setMeant] = useState<readonly Router[]>();
  const box = useRef<HTMLInputElement>(null);
  const hasRouters = useRef(routers.length > 0);
  // Not by touch: there the keyboard would cover the page.
  useEffect(() => {
    if (hasRouters.current && matchMedia('(pointer: fine)').matches) box.current?.focus();
  }, []);
  function take(command: string): void {
    setLine(command);
    box.current?.focus();
  }
  function send(to: readonly Router[]): void {
    history = withHistory(history, line.trim());
    void ask(
      line.trim(),
      splitCommand(line),
      to.map(({ id }) => id),
    );
  }
  return (
    <>
      <form
        className="command"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isReady) return;
          if (asksFirst(caution, routers.length)) setMeant(routers);
          else send(routers);
        }}
      >
        <CommandInput value={line} onChange={setLine} history={history} box={box} />
        <button type="submit" className="btn main-act" disabled={!isReady}>
          {isAsking ? words.command.running : routers.length > 1 ? words.command.runOn(routers.length) : words.command.run}
        </button>
      </form>
      {isTooMany ? (
        <p className="hint c-not" role="alert">
          {fill(words.command.tooMany(MOST_ROUTERS), {
            script: (
              <Link to="/run" state search={(before) => ({ ...before, mode: 'script' })} className="hand">
                {words.command.asScript}
              </Link>
            ),
          })}
        </p>
      ) : null}
      {line.trim() === '' ? (
        <p className="hint examples">
          {words.command.examples}
          {EXAMPLES.map((command) => (
            <button key={command} type="button" className="as-text mono" onClick={() => take(command)}>
              {command}
            </button>
          ))}
        </p>
      ) : null}
      <Risk caution={caution} />
      {meant === undefined ? null : (
        <AskFirst line={line.trim()} caution={caution} routers={meant} onClose={() => setMeant(undefined)} onRun={() => send(meant)} />
      )}
      {asked ? (
        <Answers
          asked={asked}
          isEarlier={isOther(asked, routers)}
          ending={endingOf(asked.line)}
          onTake={take}
          onLookAgain={(id, key) => void lookAgain(id, key)}
        />
      ) : null}
    </>
  );
}

function isOther({ answers }: Asked, routers: readonly Router[]): boolean {
  return answers.size !== routers.length || routers.some(({ id }) => !answers.has(id));
}

/** What destroys or takes away is asked about on one router, too; what can lock somebody out is on several. */
function asksFirst({ deeds, touches }: Caution, routers: number): boolean {
  return deeds.length > 0 || (touches.length > 0 && routers > 1);
}

/** How a command is written, or what it can do that has no undo. */
function Risk({ caution: { touches, deeds } }: { caution: Caution }) {
  if (deeds.length > 0) {
    return (
      <>
        {deeds.map((deed) => (
          <p key={deed} className="hint caution">
            {deedDoes(deed)}
          </p>
        ))}
      </>
    );
  }
  if (touches.length === 0) {
    return (
      <p className="hint">
        {words.command.hint} <span className="m-no">{words.command.history}</span>
      </p>
    );
  }
  return (
    <p className="hint caution">
      {words.command.changes(touches)}.{' '}
      <Link to="/run" state search={(before) => ({ ...before, mode: 'script' })} className="hand">
        {words.command.guardOfScript}
      </Link>
      .
    </p>
  );
}
