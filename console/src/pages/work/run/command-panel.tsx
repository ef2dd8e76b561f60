import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Router } from '../../../../../client/browser.ts';
import { countOf } from '../words.ts';
import { Answers } from './answers.tsx';
import { cautionOf } from './caution.ts';
import { CommandInput } from './command-input.tsx';
import { splitCommand, withHistory } from './command-line.ts';
import { useCommands } from './use-commands.ts';

/** Most routers for a command, which has no undo and no canary. More of them are a campaign's. */
const MOST_ROUTERS = 20;

/** What was run in this tab, newest first. Commands may hold passwords, so they are kept in memory only. */
let history: readonly string[] = [];

/** One command, its answer as a table. @param first what stands in the box at the beginning */
export function CommandPanel({ routers, first }: { routers: readonly Router[]; first: string }) {
  const [line, setLine] = useState(first);
  const { asked, isAsking, ask, lookAgain } = useCommands();
  const isTooMany = routers.length > MOST_ROUTERS;
  const isReady = line.trim() !== '' && routers.length > 0 && !isTooMany && !isAsking;
  const { touches } = cautionOf(line);
  function send(): void {
    if (!isReady) return;
    history = withHistory(history, line.trim());
    void ask(
      line.trim(),
      splitCommand(line),
      routers.map(({ id }) => id),
    );
  }
  return (
    <>
      <form
        className="command"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <CommandInput value={line} onChange={setLine} history={history} />
        <button type="submit" className="btn main-act" disabled={!isReady}>
          {isAsking ? 'Running' : routers.length > 1 ? `Run on ${countOf(routers.length, 'router')}` : 'Run'}
        </button>
      </form>
      {isTooMany ? (
        <p className="hint c-not" role="alert">
          A command goes to {MOST_ROUTERS} routers at most.{' '}
          <Link to="/run" state search={(before) => ({ ...before, mode: 'script' })} className="hand">
            Write it as a script
          </Link>
          : it becomes a campaign with canaries and a stop rule.
        </p>
      ) : null}
      {touches.length === 0 ? (
        <p className="hint">As in a terminal: /ip address print, /interface print where type=ether. Up and down bring back earlier ones.</p>
      ) : (
        <p className="hint caution">
          This changes {touches.join(' and ')}, and a command has no undo.{' '}
          <Link to="/run" state search={(before) => ({ ...before, mode: 'script' })} className="hand">
            A script has an undo guard
          </Link>
          .
        </p>
      )}
      {asked ? <Answers asked={asked} onLookAgain={(id, key) => void lookAgain(id, key)} /> : null}
    </>
  );
}
