import { CopyLine } from '../../../parts/copy.tsx';
import { fill } from '../../../parts/fill.tsx';
import { Section } from '../../../parts/section.tsx';
import { words } from './words.ts';

/** How a backup comes back to a router. The control plane does not do it: it replaces everything, and somebody should stand beside it. */
export function Restore() {
  return (
    <Section title={words.restore.title}>
      <div className="prose restore">
        <p>{fill(words.restore.whole, { what: <b>{words.restore.wholeWhat}</b> })}</p>
        <CopyLine text={words.restore.wholeCommand} label={words.restore.copy} />
        <p>{fill(words.restore.parts, { what: <b>{words.restore.partsWhat}</b> })}</p>
        <CopyLine text={words.restore.partsCommand} label={words.restore.copy} />
        <p className="dim">{words.restore.passwords}</p>
      </div>
    </Section>
  );
}
