import type { Terminal } from '../../../../client/browser.ts';
import { useWrite } from '../../data/use-write.ts';
import { Outcome } from '../../parts/form.tsx';

interface End {
  end: (terminal: Pick<Terminal, 'id'>) => void;
  isSending: boolean;
  /** Why it could not be ended, or that nobody knows whether it was. */
  outcome: React.ReactNode;
}

/** Ends terminals, and says what became of it when it was not simply done. */
export function useEnd(): End {
  const write = useWrite('endTerminal', ['terminals', 'own terminal']);
  return {
    end: ({ id }) => void write.send({ path: { terminal_id: id } }),
    isSending: write.state.kind === 'sending',
    outcome: <Outcome state={write.state} onLookAgain={() => void write.lookAgain()} />,
  };
}
