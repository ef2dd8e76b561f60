import { useEffect, useRef, useState } from 'react';
import { ConnectionError, ProblemError } from '../../../../client/browser.ts';
import type { TerminalWithTicket } from '../../../../client/browser.ts';
import { useFleet } from '../../data/use-fleet.ts';
import type { FromTerminal, ToTerminal } from '../../terminal/messages.ts';

export type Phase =
  | { kind: 'connecting' }
  | { kind: 'open' }
  /** The way to the router is broken; the server restores it. */
  | { kind: 'away' }
  /** The way to the server is broken; this page restores it. */
  | { kind: 'lost' }
  | { kind: 'elsewhere' }
  | { kind: 'ended'; message: string };

/** Pause between attempts to attach again, milliseconds. */
const RETRY_MS = 1000;

/** Keeps one terminal attached: every attachment needs a ticket of its own. */
export function useTerminal(opened: TerminalWithTicket) {
  const { api } = useFleet();
  const [phase, setPhase] = useState<Phase>({ kind: 'connecting' });
  const [lines, setLines] = useState<string>();
  const speaker = useRef<(message: ToTerminal) => void>(undefined);
  const leave = useRef<HTMLButtonElement>(null);
  const ticket = useRef<TerminalWithTicket | undefined>(opened);
  const retry = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
      clearTimeout(retry.current);
    };
  }, []);

  async function attach(): Promise<void> {
    // Somebody who attaches by hand does not wait for the next attempt.
    clearTimeout(retry.current);
    try {
      ticket.current ??= (await api.call('createTerminalTicket', { path: { terminal_id: opened.id } })).data;
      const { attach_path: path, ticket: once } = ticket.current;
      ticket.current = undefined;
      speaker.current?.({ kind: 'attach', path, ticket: once });
    } catch (error) {
      if (error instanceof ConnectionError || (error instanceof ProblemError && error.status >= 500)) attachLater();
      else setPhase({ kind: 'ended', message: error instanceof Error ? error.message : 'it cannot be attached to' });
    }
  }

  function attachLater(): void {
    // The answer came after the page was left.
    if (isGone.current) return;
    clearTimeout(retry.current);
    setPhase({ kind: 'lost' });
    retry.current = setTimeout(() => void attach(), RETRY_MS);
  }

  function onMessage(message: FromTerminal): void {
    switch (message.kind) {
      case 'ready':
        void attach();
        return;
      case 'attached':
        setPhase({ kind: 'open' });
        return;
      case 'away':
        setPhase({ kind: message.away ? 'away' : 'open' });
        return;
      case 'lost':
        attachLater();
        return;
      case 'elsewhere':
        setPhase({ kind: 'elsewhere' });
        return;
      case 'ended':
        setPhase({ kind: 'ended', message: message.message });
        return;
      case 'lines':
        setLines(message.text);
        return;
      case 'leave':
        leave.current?.focus();
        return;
    }
  }

  function paste(): void {
    if (lines !== undefined) speaker.current?.({ kind: 'paste', text: lines });
    setLines(undefined);
  }

  function dropLines(): void {
    setLines(undefined);
    speaker.current?.({ kind: 'focus' });
  }

  return { phase, lines, paste, dropLines, onMessage, speaker, leave, attachHere: () => void attach() };
}
