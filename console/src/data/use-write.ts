import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { ProblemError } from '../../../client/browser.ts';
import type { Input, OperationId, Result } from '../../../client/browser.ts';
import { attemptOf } from './attempt.ts';
import type { Attempt } from './attempt.ts';
import { isLost } from './lost-answer.ts';
import { useFleet } from './use-fleet.ts';

export type WriteState =
  | { kind: 'idle' }
  | { kind: 'sending' }
  /** The server did nothing. `errors`: reasons by field. */
  | { kind: 'refused'; code: string; message: string; errors: Readonly<Record<string, readonly string[]>> }
  /** The answer was lost: nobody here knows whether it was done. Sending the same again, with the same key, does nothing twice. */
  | { kind: 'maybe_done' }
  | { kind: 'done' };

/** What an operation answers; `true` for one that answers nothing (204), such as most that remove something. */
export type Answered<Id extends OperationId> = Result<Id> extends undefined ? true : Result<Id>;

export interface Write<Id extends OperationId> {
  state: WriteState;
  /**
   * @param input a function when something is read for it first; without that nothing is sent
   * @returns the answer, or undefined when it was refused or lost: `state` says which
   */
  send: (input: Input<Id> | (() => Promise<Input<Id>>)) => Promise<Answered<Id> | undefined>;
  /** Sends the last input again with its key, for `maybe_done`. */
  lookAgain: () => Promise<Answered<Id> | undefined>;
  reset: () => void;
}

/**
 * One form's write. It keeps one Idempotency-Key until it has an answer, so that a lost answer can be asked for again: by
 * `lookAgain`, and by sending an equal input.
 * @param stale first parts of the keys of queries that this write changes
 * @param leaves whether the page is left once it is done: what it shows is gone then, and is not read again
 */
export function useWrite<Id extends OperationId>(id: Id, stale: readonly string[] = [], leaves = false): Write<Id> {
  const { api } = useFleet();
  const queries = useQueryClient();
  const [state, setState] = useState<WriteState>({ kind: 'idle' });
  const attempt = useRef<Attempt<Input<Id>>>(undefined);

  async function run(current: Attempt<Input<Id>>): Promise<Answered<Id> | undefined> {
    let isDone = false;
    setState({ kind: 'sending' });
    try {
      const result = await api.call(id, current.input, { idempotencyKey: current.idempotencyKey });
      attempt.current = undefined;
      isDone = true;
      setState({ kind: 'done' });
      return (result ?? true) as Answered<Id>;
    } catch (error) {
      const failed = stateOf(error);
      if (failed.kind === 'refused') attempt.current = undefined;
      setState(failed);
      return undefined;
    } finally {
      // Also without an answer: it may have been done.
      void queries.invalidateQueries({
        predicate: ({ queryKey }) => stale.includes(String(queryKey[0])),
        refetchType: leaves && isDone ? 'none' : 'active',
      });
    }
  }

  function begin(input: Input<Id>): Promise<Answered<Id> | undefined> {
    attempt.current = attemptOf(attempt.current, input);
    return run(attempt.current);
  }

  async function prepare(read: () => Promise<Input<Id>>): Promise<Input<Id> | undefined> {
    setState({ kind: 'sending' });
    try {
      return await read();
    } catch (error) {
      // An earlier attempt may have been done all the same.
      setState(attempt.current ? { kind: 'maybe_done' } : refusedOf(error));
      return undefined;
    }
  }

  return {
    state,
    send: async (input) => {
      const ready = typeof input === 'function' ? await prepare(input) : input;
      return ready === undefined ? undefined : begin(ready);
    },
    lookAgain: async () => (attempt.current ? run(attempt.current) : undefined),
    reset: () => setState({ kind: 'idle' }),
  };
}

function stateOf(error: unknown): WriteState {
  return isLost(error) ? { kind: 'maybe_done' } : refusedOf(error);
}

function refusedOf(error: unknown): WriteState {
  if (error instanceof ProblemError) return { kind: 'refused', code: error.code, message: error.message, errors: error.errors };
  return { kind: 'refused', code: 'no_answer', message: 'The control plane does not answer. Nothing was done.', errors: {} };
}
