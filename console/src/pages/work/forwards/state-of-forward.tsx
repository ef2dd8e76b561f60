import type { TransientForward } from '../../../../../client/browser.ts';
import { useNow } from '../../../parts/use-now.ts';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import { stateOfForward } from './words.ts';

/** Lamp, word and reason of a forward in a list. */
export function StateOfForward({ forward }: { forward: TransientForward }) {
  const { work, word, why } = stateOfForward(forward, useNow(5000));
  return (
    <span className="lamp">
      <WorkLamp work={work} />
      <span className="el">
        <b>{word}</b>
        {why === '' ? null : <span className="dim">, {why}</span>}
      </span>
    </span>
  );
}
