import { useEffect, useRef, useState } from 'react';
import { ProblemError, randomKey } from '../../../../../client/browser.ts';
import type { ApiClient } from '../../../../../client/browser.ts';
import { isLost } from '../../../data/lost-answer.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import type { TypedCommand } from './command-line.ts';
import { serverNow } from '../../../data/server-clock.ts';

export type Row = Record<string, string>;

/** What became of a command on one router. */
export type Answer =
  | { kind: 'asking' }
  | { kind: 'rows'; rows: readonly Row[]; ms: number }
  /** By the router, which understood it, or by the control plane, which sent nothing. Nothing was done. */
  | { kind: 'refused'; by: 'router' | 'control_plane'; message: string }
  /** It never reached the router. */
  | { kind: 'not_sent'; message: string }
  /** It may have taken effect. */
  | { kind: 'unknown'; message: string }
  /** The control plane's answer was lost; asking again with the same key does nothing twice. */
  | { kind: 'lost'; key: string };

export interface Asked {
  line: string;
  typed: TypedCommand;
  at: number;
  /** By the id of the router, in the order asked. */
  answers: ReadonlyMap<string, Answer>;
}

/** Commands that are on their way at the same time, for many routers. */
const AT_ONCE = 4;

interface Commands {
  asked: Asked | undefined;
  isAsking: boolean;
  ask: (line: string, typed: TypedCommand, routerIds: readonly string[]) => Promise<void>;
  /** Repeats the request whose answer was lost, with its key. */
  lookAgain: (routerId: string, key: string) => Promise<void>;
}

/** Sends one command to routers and gathers their answers as they come. */
export function useCommands(): Commands {
  const { api } = useFleet();
  const [asked, setAsked] = useState<Asked>();
  const isGone = useRef(false);
  // Who leaves the page sees no answer any more: what was not sent yet is not sent.
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);
  const note = (id: string, answer: Answer): void =>
    setAsked((before) => (before ? { ...before, answers: new Map(before.answers).set(id, answer) } : before));
  return {
    asked,
    isAsking: asked !== undefined && [...asked.answers.values()].some(({ kind }) => kind === 'asking'),
    ask: async (line, typed, routerIds) => {
      setAsked({ line, typed, at: serverNow(), answers: new Map(routerIds.map((id) => [id, { kind: 'asking' }])) });
      const waiting = [...routerIds];
      const one = async (): Promise<void> => {
        for (let id = waiting.shift(); id !== undefined && !isGone.current; id = waiting.shift())
          note(id, await run(api, id, typed, randomKey()));
      };
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, routerIds.length) }, one));
    },
    lookAgain: async (routerId, key) => {
      if (!asked) return;
      note(routerId, { kind: 'asking' });
      note(routerId, await run(api, routerId, asked.typed, key));
    },
  };
}

async function run(api: ApiClient, routerId: string, { command, parameters }: TypedCommand, key: string): Promise<Answer> {
  const began = performance.now();
  try {
    const body = { command, ...(parameters === '' ? {} : { parameters }) };
    const { data } = await api.call('runCommand', { path: { router_id: routerId }, body }, { idempotencyKey: key });
    return { kind: 'rows', rows: data, ms: performance.now() - began };
  } catch (error) {
    return answerOf(error, key);
  }
}

function answerOf(error: unknown, key: string): Answer {
  if (error instanceof ProblemError && error.code === 'outcome_unknown') return { kind: 'unknown', message: error.message };
  if (isLost(error)) return { kind: 'lost', key };
  if (!(error instanceof ProblemError)) return { kind: 'not_sent', message: 'The control plane does not answer.' };
  if (error.status === 503 || error.status === 429) return { kind: 'not_sent', message: error.message };
  if (error.code === 'rejected_by_router') return { kind: 'refused', by: 'router', message: error.message };
  const reasons = Object.values(error.errors).flat();
  return { kind: 'refused', by: 'control_plane', message: reasons.length > 0 ? reasons.join('; ') : error.message };
}
